"""Which of several controllers may write: P4Runtime's client arbitration (P4Runtime 1.4, section 5).

Each controller keeps one stream open and claims an election id on it. The highest is primary; everybody hears of a
change. As on BMv2 there are no roles, and an election id that is already taken ends the stream that asks for it.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any

from pymodel.switch.p4runtime.codec import Refused, invalid
from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2

__all__ = ["Arbitration", "Stream"]

ElectionId = tuple[int, int]

_MAX_STREAMS = 16


class Stream:
    """One controller's stream: what is to be sent on it (None ends it) and the election id it claims."""

    def __init__(self) -> None:
        self.outbox: SimpleQueue[Any] = SimpleQueue()
        self.election_id: ElectionId | None = None
        self.refusal: Refused | None = None


class Arbitration:
    """The streams of one device, thread-safe."""

    def __init__(self, device_id: int) -> None:
        self._device_id = device_id
        self._lock = threading.Lock()
        self._streams: list[Stream] = []

    def claim(self, stream: Stream, update: Any) -> None:
        """Enter `stream` with the election id of a MasterArbitrationUpdate, or change it; Refused ends the stream."""
        if update.device_id != self._device_id:
            code = code_pb2.FAILED_PRECONDITION if stream in self._streams else code_pb2.NOT_FOUND
            raise Refused(code, f"there is no device {update.device_id} here")
        claimed = (update.election_id.high, update.election_id.low)
        with self._lock:
            if stream in self._streams and stream.election_id == claimed:
                return
            if stream not in self._streams and len(self._streams) >= _MAX_STREAMS:
                raise Refused(code_pb2.RESOURCE_EXHAUSTED, f"{_MAX_STREAMS} controllers are connected already")
            if any(other.election_id == claimed for other in self._streams):
                raise invalid("another controller has this election id")
            before = self._primary()
            stream.election_id = claimed
            if stream not in self._streams:
                self._streams.append(stream)
            primary = self._primary()
            for told in self._streams if primary is stream or primary is not before else [stream]:
                self._tell(told)

    def leave(self, stream: Stream) -> None:
        """Forget `stream`; the next highest becomes primary and everybody hears of it."""
        with self._lock:
            if stream not in self._streams:
                return
            before = self._primary()
            self._streams.remove(stream)
            if before is stream:
                for told in self._streams:
                    self._tell(told)

    def is_primary(self, stream: Stream) -> bool:
        """Whether what arrives on `stream` counts."""
        with self._lock:
            return self._primary() is stream

    def may_write(self, request: Any) -> bool:
        """Whether a request's election id is the primary's. Without any stream, one without an election id may too."""
        with self._lock:
            primary = self._primary()
            if primary is None:
                return not request.HasField("election_id")
            return primary.election_id == (request.election_id.high, request.election_id.low)

    def send_to_primary(self, message: Any) -> None:
        """Send `message` to the primary controller, if there is one."""
        with self._lock:
            primary = self._primary()
            if primary:
                primary.outbox.put(message)

    def end_all(self) -> None:
        """End every stream."""
        with self._lock:
            for stream in self._streams:
                stream.outbox.put(None)

    def _primary(self) -> Stream | None:
        return max(self._streams, key=lambda stream: stream.election_id or (0, 0), default=None)

    def _tell(self, stream: Stream) -> None:
        primary = self._primary()
        message = p4runtime_pb2.StreamMessageResponse()
        message.arbitration.device_id = self._device_id
        if primary and primary.election_id:
            message.arbitration.election_id.high, message.arbitration.election_id.low = primary.election_id
        if primary is stream:
            message.arbitration.status.code = code_pb2.OK
            message.arbitration.status.message = "is primary"
        else:
            message.arbitration.status.code = code_pb2.ALREADY_EXISTS
            message.arbitration.status.message = "is backup"
        stream.outbox.put(message)
