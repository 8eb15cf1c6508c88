"""A P4Runtime server in front of a forwarding plane, on a loopback port of the system's choice.

It answers as BMv2's server (PI) does wherever a client can tell, so that p4runtime-shell and the control plane of
`pymodel.switch.control` treat both alike. Whatever a message holds, the answer is a status code.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, NoReturn, Self

import grpc

from pymodel.base.errors import InputError
from pymodel.switch.p4runtime.arbitration import Arbitration, Stream
from pymodel.switch.p4runtime.codec import Refused, invalid
from pymodel.switch.p4runtime.dataplane import Dataplane
from pymodel.switch.p4runtime.info import ProgramInfo
from pymodel.switch.p4runtime.packetio import packet_in, packet_out_frame
from pymodel.switch.p4runtime.pipeline import Pipeline
from pymodel.switch.p4runtime.protos import any_pb2, code_pb2, p4runtime_pb2, p4runtime_pb2_grpc, status_pb2

__all__ = ["API_VERSION", "P4RuntimeServer"]

API_VERSION = "1.4.1"
"""Version of the P4Runtime API that the generated code has."""

_WORKERS = 20
"""Threads, made when needed: one for each open stream (at most 16) and some for the calls between."""

_GRACE_S = 1.0
"""How long a call may take to end when the server stops; streams are ended at once."""

_READ_CHUNK = 500
"""Entities in one ReadResponse, far below the 4 MB that a gRPC client takes by default."""

_ERROR_SPACE = "ALL-mrc-p4runtime"

_STATUS = {status.value[0]: status for status in grpc.StatusCode}


class P4RuntimeServer:
    """Serves `dataplane` as device `device_id`. Entering the context starts it, leaving it ends every connection.

    `lock` guards the dataplane: the server holds it while it touches the dataplane, and so does whoever moves frames.
    """

    def __init__(self, dataplane: Dataplane, lock: AbstractContextManager[Any], device_id: int = 1) -> None:
        self._service = _Service(dataplane, lock, device_id)
        self._workers: ThreadPoolExecutor | None = None
        self._server: Any = None
        self.address = ""

    def __enter__(self) -> Self:
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="p4runtime")
        # Without SO_REUSEPORT no second server, of this process or another, can take the same port unseen.
        options = [("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", -1)]
        self._server = grpc.server(self._workers, options=options)
        p4runtime_pb2_grpc.add_P4RuntimeServicer_to_server(self._service, self._server)
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._service.end()
        # Without a grace period the library cancels calls that have just ended, and clients write of it on the console.
        self._server.stop(_GRACE_S).wait()
        self._service.join()
        assert self._workers is not None
        self._workers.shutdown(wait=True)

    @property
    def info(self) -> ProgramInfo | None:
        """The running program, or None before a client has pushed one."""
        return self._service.info

    def packet_in(self, frame: bytes) -> None:
        """Hand a frame that left by the CPU port to the primary controller."""
        self._service.packet_in(frame)


class _Service(p4runtime_pb2_grpc.P4RuntimeServicer):  # type: ignore[misc]
    """The calls of p4.v1.P4Runtime. gRPC gives the methods their names."""

    def __init__(self, dataplane: Dataplane, lock: AbstractContextManager[Any], device_id: int) -> None:
        self._dataplane = dataplane
        self._lock = lock
        self._device_id = device_id
        self._arbitration = Arbitration(device_id)
        self._pipeline: Pipeline | None = None
        self._prepared: Any = None
        self._config: Any = None
        self._saved: tuple[Any, ProgramInfo, Any] | None = None
        self._readers: list[threading.Thread] = []

    @property
    def info(self) -> ProgramInfo | None:
        return self._pipeline.info if self._pipeline else None

    def end(self) -> None:
        self._arbitration.end_all()

    def join(self) -> None:
        for reader in self._readers:
            reader.join()

    def packet_in(self, frame: bytes) -> None:
        if self._pipeline:
            message = packet_in(self._pipeline.info.packet_in, frame)
            if message is not None:
                self._arbitration.send_to_primary(p4runtime_pb2.StreamMessageResponse(packet=message))

    # --- calls ---

    def Capabilities(self, request: Any, context: Any) -> Any:  # noqa: N802
        return p4runtime_pb2.CapabilitiesResponse(p4runtime_api_version=API_VERSION)

    def Write(self, request: Any, context: Any) -> Any:  # noqa: N802
        try:
            self._check_writer(request)
            if request.atomicity != p4runtime_pb2.WriteRequest.CONTINUE_ON_ERROR:
                raise Refused(code_pb2.UNIMPLEMENTED, "a batch is neither rolled back nor atomic")
            with self._lock:
                pipeline = self._running()
                refusals = [_refusal(pipeline, update) for update in request.updates]
        except Refused as refusal:
            _abort(context, refusal)
        if any(refusals):
            # P4Runtime 12.3: one p4.v1.Error for each update, those that went well included.
            status = status_pb2.Status(code=code_pb2.UNKNOWN, message="some updates of the batch were refused")
            status.details.extend(map(_error_detail, refusals))
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            context.abort(grpc.StatusCode.UNKNOWN, status.message)
        return p4runtime_pb2.WriteResponse()

    def Read(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        try:
            self._check_device(request.device_id)
            answer = _Answer()
            with self._lock:
                pipeline = self._running()
                for wanted in request.entities:
                    pipeline.read(wanted, answer.add)
        except Refused as refusal:
            _abort(context, refusal)
        yield from answer.responses

    def SetForwardingPipelineConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        try:
            self._check_writer(request)
            with self._lock:
                self._configure(request.action, request.config)
        except Refused as refusal:
            _abort(context, refusal)
        return p4runtime_pb2.SetForwardingPipelineConfigResponse()

    def GetForwardingPipelineConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        try:
            self._check_device(request.device_id)
            with self._lock:
                self._running()
                response = p4runtime_pb2.GetForwardingPipelineConfigResponse()
                kinds = p4runtime_pb2.GetForwardingPipelineConfigRequest
                if request.response_type not in kinds.ResponseType.values():
                    raise invalid(f"response type {request.response_type} does not exist")
                if self._config.HasField("cookie"):
                    response.config.cookie.CopyFrom(self._config.cookie)
                if request.response_type in (kinds.ALL, kinds.P4INFO_AND_COOKIE):
                    response.config.p4info.CopyFrom(self._config.p4info)
                if request.response_type in (kinds.ALL, kinds.DEVICE_CONFIG_AND_COOKIE):
                    response.config.p4_device_config = self._config.p4_device_config
        except Refused as refusal:
            _abort(context, refusal)
        return response

    def StreamChannel(self, request_iterator: Iterable[Any], context: Any) -> Iterator[Any]:  # noqa: N802
        stream = Stream()
        reader = threading.Thread(target=self._follow, args=(stream, request_iterator), name="p4runtime-stream")
        self._readers = [thread for thread in self._readers if thread.is_alive()] + [reader]
        reader.start()
        while (message := stream.outbox.get()) is not None:
            yield message
        if stream.refusal:
            _abort(context, stream.refusal)

    # --- what they need ---

    def _follow(self, stream: Stream, requests: Iterable[Any]) -> None:
        """Take in what one controller sends until its stream ends."""
        try:
            for request in requests:
                which = request.WhichOneof("update")
                if which == "arbitration":
                    self._arbitration.claim(stream, request.arbitration)
                elif which == "packet" and self._arbitration.is_primary(stream):
                    self._packet_out(stream, request.packet)
        except Refused as refusal:
            stream.refusal = refusal
        except Exception:
            pass
        finally:
            self._arbitration.leave(stream)
            stream.outbox.put(None)

    def _packet_out(self, stream: Stream, message: Any) -> None:
        with self._lock:
            if self._pipeline is None:
                return
            try:
                frame = packet_out_frame(self._pipeline.info.packet_out, message)
            except Refused as refusal:
                response = p4runtime_pb2.StreamMessageResponse()
                response.error.canonical_code = refusal.code
                response.error.message = refusal.message
                response.error.space = _ERROR_SPACE
                response.error.packet_out.packet_out.CopyFrom(message)
                stream.outbox.put(response)
                return
            self._dataplane.packet_out(frame)

    def _check_device(self, device_id: int) -> None:
        if device_id != self._device_id:
            raise Refused(code_pb2.NOT_FOUND, f"there is no device {device_id} here")

    def _check_writer(self, request: Any) -> None:
        self._check_device(request.device_id)
        if not self._arbitration.may_write(request):
            raise Refused(code_pb2.PERMISSION_DENIED, "not primary")

    def _running(self) -> Pipeline:
        if self._pipeline is None:
            raise Refused(code_pb2.FAILED_PRECONDITION, "no forwarding pipeline is set")
        return self._pipeline

    def _configure(self, action: int, config: Any) -> None:
        actions = p4runtime_pb2.SetForwardingPipelineConfigRequest
        if action == actions.COMMIT:
            if self._saved is None:
                raise Refused(code_pb2.FAILED_PRECONDITION, "no pipeline was saved")
            self._commit(*self._saved, keep=[])
            return
        if action not in (
            actions.VERIFY,
            actions.VERIFY_AND_SAVE,
            actions.VERIFY_AND_COMMIT,
            actions.RECONCILE_AND_COMMIT,
        ):
            raise invalid(f"action {action} does not exist")
        try:
            info = ProgramInfo.of(config.p4info)
            prepared = self._dataplane.prepare(info, config.p4_device_config)
        except InputError as error:
            raise invalid(str(error)) from error
        if action == actions.VERIFY_AND_SAVE:
            self._saved = (prepared, info, config)
        elif action == actions.VERIFY_AND_COMMIT:
            self._commit(prepared, info, config, keep=[])
        elif action == actions.RECONCILE_AND_COMMIT:
            self._commit(prepared, info, config, keep=self._state())

    def _commit(self, prepared: Any, info: ProgramInfo, config: Any, keep: list[Any]) -> None:
        """Run `prepared` with the entities `keep`; if it refuses one of them, the old pipeline runs on."""
        before = self._prepared
        self._dataplane.commit(prepared)
        pipeline = Pipeline(info, self._dataplane)
        for entity in keep:
            try:
                pipeline.write(p4runtime_pb2.Update(type=p4runtime_pb2.Update.INSERT, entity=entity))
            except Refused as refusal:
                self._dataplane.commit(before)
                raise invalid(f"the new pipeline does not take the old entries: {refusal.message}") from refusal
        self._pipeline, self._prepared, self._config, self._saved = pipeline, prepared, config, None

    def _state(self) -> list[Any]:
        """Return what a client inserted into the running pipeline, in an order in which it can be inserted again."""
        if self._pipeline is None:
            return []
        replication = p4runtime_pb2.PacketReplicationEngineEntry
        # Members and groups first: table entries name them.
        wanted = [
            p4runtime_pb2.Entity(action_profile_member=p4runtime_pb2.ActionProfileMember()),
            p4runtime_pb2.Entity(action_profile_group=p4runtime_pb2.ActionProfileGroup()),
            p4runtime_pb2.Entity(table_entry=p4runtime_pb2.TableEntry()),
            p4runtime_pb2.Entity(packet_replication_engine_entry=replication(multicast_group_entry={})),
            p4runtime_pb2.Entity(packet_replication_engine_entry=replication(clone_session_entry={})),
        ]
        answer = _Answer()
        for want in wanted:
            self._pipeline.read(want, answer.add)
        found = [entity for response in answer.responses for entity in response.entities]
        return [entity for entity in found if not entity.table_entry.is_const]


class _Answer:
    """The answer to a read: as many ReadResponse messages as its entities take, at least one."""

    def __init__(self) -> None:
        self.responses = [p4runtime_pb2.ReadResponse()]

    def add(self) -> Any:
        """Return one more entity, empty."""
        if len(self.responses[-1].entities) == _READ_CHUNK:
            self.responses.append(p4runtime_pb2.ReadResponse())
        return self.responses[-1].entities.add()


def _refusal(pipeline: Pipeline, update: Any) -> Refused | None:
    try:
        pipeline.write(update)
    except Refused as refusal:
        return refusal
    return None


def _error_detail(refusal: Refused | None) -> Any:
    error = p4runtime_pb2.Error(space=_ERROR_SPACE)
    if refusal:
        error.canonical_code = refusal.code
        error.message = refusal.message
    detail = any_pb2.Any()
    detail.Pack(error)
    return detail


def _abort(context: Any, refusal: Refused) -> NoReturn:
    context.abort(_STATUS[refusal.code], refusal.message)
    raise AssertionError("abort returned")
