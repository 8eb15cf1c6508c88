"""Two adapters joined by a channel that may lose frames: what the tests of this folder run on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pymodel.base.time import US, EventQueue
from pymodel.nic.config import DeviceConfig, QpSettings
from pymodel.nic.device import Device
from pymodel.nic.events import Action, CancelTimer, Event, FrameIn, FrameOut, SetTimer, TimerFired, WriteMemory
from pymodel.paths.topology import Topology
from pymodel.verbs.adapter import Adapter
from pymodel.verbs.application import (
    create_context,
    create_cq,
    create_qp,
    modify_qp,
    poll_cq,
    post_recv,
    post_send,
)
from pymodel.verbs.attach import adapter_for
from pymodel.verbs.completion import CompletionQueue
from pymodel.verbs.memory import reg_mr
from pymodel.verbs.queue_pair import NO_HINT, NO_PROFILE, Qp, QpAttr, QpCap, QpInitAttr, QpState
from pymodel.verbs.work import RecvRequest, SendRequest, Sge, WorkCompletion, WrOpcode

BASE, SIZE = 0x7F00_0000_1000, 1 << 16
DELAY = 4 * US
TOPOLOGY = Topology(planes=2, t0=2, t1=2, hosts_per_t0=2)

Loss = Callable[[int, bytes], bool]
"""Called for every frame with its sender, 0 or 1; true when it is lost."""


class Memory:
    """`SIZE` bytes from `BASE`."""

    def __init__(self) -> None:
        self.data = bytearray(SIZE)

    def read(self, address: int, length: int) -> bytes:
        start = address - BASE
        assert 0 <= start <= SIZE - length
        return bytes(self.data[start : start + length])

    def write(self, address: int, data: bytes) -> None:
        start = address - BASE
        assert 0 <= start <= SIZE - len(data)
        self.data[start : start + len(data)] = data


class Side:
    """One host: adapter, privileged context, memory registered whole, a deep completion queue."""

    def __init__(self, name: str, settings: QpSettings) -> None:
        self.memory = Memory()
        self.address = TOPOLOGY.inner_address(TOPOLOGY.host(name))
        self._open(adapter_for(TOPOLOGY, name, self.memory, settings=settings))

    def remake(self, config: DeviceConfig) -> None:
        """Begin anew with another device in the place of this one."""
        self._open(Adapter(Device(config), self.memory, find_paths=self.adapter.find_paths))

    def _open(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self.context = create_context(self.adapter, privileged=True)
        self.region = reg_mr(self.context, BASE, SIZE)
        self.cq = create_cq(self.context, 1024)
        self.timers: dict[str, int] = {}

    def qp(self, cq: CompletionQueue | None = None, **init: object) -> Qp:
        queue = self.cq if cq is None else cq
        return create_qp(self.context, QpInitAttr(send_cq=queue, recv_cq=queue, **init))

    def poll(self, count: int = 1024) -> list[WorkCompletion]:
        return poll_cq(self.cq, count)


INIT = QpAttr(state=QpState.INIT, hint=NO_HINT, ev_profile_id=NO_PROFILE, cc_profile_id=NO_PROFILE)
RTR = QpAttr(
    state=QpState.RTR,
    peer_address=TOPOLOGY.inner_address(TOPOLOGY.host("h1-0")),
    dest_qp_num=16,
    rq_psn=0,
    path_mtu=1024,
    max_wimm_dest=8,
    mpr_dest=8,
    cap=QpCap(0),
)
RTS = QpAttr(state=QpState.RTS, sq_psn=0, max_wimm=8, mpr=8, linear_cnt=7, exp_cnt=25, timeout=4)


class Pair:
    """Two sides, `h0-0` and `h1-0`, and virtual time."""

    def __init__(self, loss: Loss = lambda sender, data: False, settings: QpSettings | None = None) -> None:
        given = settings or QpSettings()
        self.sides = Side("h0-0", given), Side("h1-0", given)
        self.loss = loss
        self.now_ps = 0
        self.up = {(who, port): True for who in (0, 1) for port in range(TOPOLOGY.planes)}
        self._queue: EventQueue[tuple[int, Event]] = EventQueue()

    def connect(
        self,
        *,
        psns: tuple[int, int] = (0, 0),
        changes: Sequence[dict[str, object]] = ({}, {}),
        qps: tuple[Qp, Qp] | None = None,
    ) -> tuple[Qp, Qp]:
        """Make a QP on each side (unless given, in RESET) and take both to RTS; `changes` go into their attributes."""
        made = qps or (self.sides[0].qp(), self.sides[1].qp())
        for who, qp in enumerate(made):
            there = self.sides[1 - who].address, made[1 - who].qpn, psns[1 - who]
            changed = dict(zip(("peer_address", "dest_qp_num", "rq_psn"), there, strict=True)) | {"sq_psn": psns[who]}
            for step in (INIT, RTR, RTS):
                values = {**changed, **changes[who]}
                known = {name: value for name, value in values.items() if getattr(step, name) is not None}
                modify_qp(qp, replace(step, **known), self.now_ps)
        return made

    def write(
        self, who: int, qp: Qp, offset: int, length: int, *, wr_id: int = 1, imm: int | None = None, **changes: object
    ) -> None:
        """Post a write of the own memory at `offset` to the same place of the other side's."""
        wr = SendRequest(
            wr_id=wr_id,
            opcode=WrOpcode.RDMA_WRITE if imm is None else WrOpcode.RDMA_WRITE_WITH_IMM,
            sg_list=(Sge(BASE + offset, length, self.sides[who].region.lkey),),
            remote_address=BASE + offset,
            rkey=self.sides[1 - who].region.rkey,
            imm_data=imm,
        )
        post_send(qp, replace(wr, **changes), self.now_ps)
        self.settle(who)

    def receive(self, who: int, qp: Qp, wr_id: int = 1) -> None:
        post_recv(qp, RecvRequest(wr_id=wr_id), self.now_ps)
        self.settle(who)

    def settle(self, who: int) -> None:
        """Carry out what calls on that side have left."""
        for action in self.sides[who].adapter.drain():
            self._carry_out(who, action)

    def give(self, who: int, event: Event) -> None:
        for action in self.sides[who].adapter.handle(event, self.now_ps):
            self._carry_out(who, action)

    def _carry_out(self, who: int, action: Action) -> None:
        side = self.sides[who]
        match action:
            case FrameOut(port, data):
                if self.up[0, port] and self.up[1, port] and not self.loss(who, data):
                    self._queue.push(self.now_ps + DELAY, (1 - who, FrameIn(port, data)))
            case SetTimer(key, at_ps, generation):
                side.timers[key] = generation
                self._queue.push(max(at_ps, self.now_ps), (who, TimerFired(key, generation)))
            case CancelTimer(key):
                assert side.timers.pop(key, None) is not None, f"{key} cancelled, but it is not set"
            case WriteMemory(address, data):
                side.memory.write(address, data)

    def step(self) -> bool:
        """Run the next event; False at rest."""
        if not len(self._queue):
            return False
        at_ps, (who, event) = self._queue.pop()
        if isinstance(event, TimerFired):
            if self.sides[who].timers.get(event.key) != event.generation:
                return True
            del self.sides[who].timers[event.key]
        self.now_ps = at_ps
        self.give(who, event)
        return True

    def run(self, for_ps: int = 10**12) -> None:
        """Run until nothing is left to happen, or the time is over."""
        end = self.now_ps + for_ps
        while (following := self._queue.next_ps()) is not None and following <= end:
            self.step()
        if following is not None:
            self.now_ps = end
