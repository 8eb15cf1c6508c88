"""p4runtime-shell's client class, made fit for several switches in one process that outlives them.

p4runtime-shell (0.0.6) keeps one global connection for its prompt; its class `P4RuntimeClient` below that one is used
here, one object for each switch. Four of its habits are replaced: it ends the process when a handshake fails, it logs a
switch that stops as critical, it waits without end for a switch that hangs, and it follows a proxy of the environment
even to loopback.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any

import grpc
from grpc.experimental import ChannelOptions
from p4runtime_sh.p4runtime import P4RuntimeClient  # type: ignore[import-untyped]

from pymodel.base.errors import InputError
from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2, p4runtime_pb2_grpc

__all__ = ["Connection"]

_HANDSHAKE_S = 10
"""A switch that has not answered its first message by then is not there."""

_GOODBYE_S = 2
"""How long a switch may take to end a stream that the client has ended."""

_CHANNEL_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    # Ports come back to life with another switch behind them: no connection may be shared or remembered.
    ("grpc.use_local_subchannel_pool", 1),
    # A read's answers are taken by the thread that asks.
    (ChannelOptions.SingleThreadedUnaryStream, 1),
]

_STREAMS = ("arbitration", "packet", "digest", "idle_timeout_notification", "error")


class Connection(P4RuntimeClient):  # type: ignore[misc]
    """A P4Runtime client that is connected and primary, or whose construction raised InputError.

    Without an election id it opens no stream: it takes no part in the choice of the primary, and can only read.
    """

    def __init__(self, address: str, device_id: int, election_id: tuple[int, int] | None) -> None:
        # The base class' __init__ opens the channel without options, so its fields are set here instead.
        self.device_id = device_id
        self.election_id = election_id
        self.role_name = None
        self.address = address
        self.channel = grpc.insecure_channel(address, options=_CHANNEL_OPTIONS)
        self.stub = p4runtime_pb2_grpc.P4RuntimeStub(self.channel)
        if election_id is None:
            return
        try:
            self.set_up_stream()
        except InputError:
            self.tear_down()
            raise

    def set_up_stream(self) -> None:
        """Open the stream, claim the election id and wait to be primary."""
        self.stream_out_q: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.stream_in_q: dict[str, queue.SimpleQueue[Any]] = {name: queue.SimpleQueue() for name in _STREAMS}
        self.stream = self.stub.StreamChannel(self._requests())
        self.stream_recv_thread = threading.Thread(target=self._receive, name="p4runtime-client", daemon=True)
        self.stream_recv_thread.start()
        self.handshake()

    def handshake(self) -> None:
        """Claim the election id; InputError when nobody answers or another controller stays primary."""
        request = p4runtime_pb2.StreamMessageRequest()
        request.arbitration.device_id = self.device_id
        assert self.election_id is not None, "a reader has no stream"
        request.arbitration.election_id.high, request.arbitration.election_id.low = self.election_id
        self.stream_out_q.put(request)
        answer = self.get_stream_packet("arbitration", timeout=_HANDSHAKE_S)
        where = f"P4Runtime at {self.address}"
        if answer is None:
            raise InputError(where, self._why() or "no answer", "a switch that accepts a controller")
        if answer.arbitration.status.code != code_pb2.OK:
            raise InputError(where, "another controller with a higher election id", "to be the primary controller")

    def tear_down(self) -> None:
        """End the stream, if there is one, and close the channel, also when the switch is gone or hangs."""
        if self.election_id is not None:
            self.stream_out_q.put(None)
            self.stream_recv_thread.join(_GOODBYE_S)
            self.stream.cancel()
            self.stream_recv_thread.join()
        self.channel.close()

    def _requests(self) -> Iterator[Any]:
        while (request := self.stream_out_q.get()) is not None:
            yield request

    def _receive(self) -> None:
        try:
            for message in self.stream:
                which = message.WhichOneof("update")
                if which in self.stream_in_q:
                    self.stream_in_q[which].put(message)
        except grpc.RpcError:
            # Whoever waits gets None below and asks the stream why.
            pass
        finally:
            for waiting in self.stream_in_q.values():
                waiting.put(None)

    def _why(self) -> str | None:
        """Return why the stream ended, in words, or None while it lives."""
        # Not the thread: it wakes whoever waits just before it ends.
        if self.stream.is_active():
            return None
        details = self.stream.details()
        return f"{self.stream.code().name} ({details})" if details else str(self.stream.code().name)
