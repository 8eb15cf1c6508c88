"""The whole API under random calls, two devices joined by a channel that loses frames and has its ports pulled.

Whatever the order: memory comes out equal, every work request completes once (or, on reset and destruction, not at
all), states are legal, inflight is never negative, and a call that is refused says so by VerbsError alone.
"""

from __future__ import annotations

import errno
import random
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pymodel.base.time import MS, US
from pymodel.nic.events import PortChange
from pymodel.paths.ev import SRV6
from pymodel.verbs.application import destroy_qp, modify_qp
from pymodel.verbs.cc_profile import FIXED_WINDOW, CcProfileAttr, FixedWindowConfig
from pymodel.verbs.controller import (
    create_ev_event_cq,
    modify_cc_profile,
    modify_ev_format_profile,
    modify_ev_profile,
    modify_port,
    query_ev_array,
    replace_evs,
    set_ev_states,
)
from pymodel.verbs.endpoint import EpBatch, EpRequest, ep_batch_send
from pymodel.verbs.errors import VerbsError
from pymodel.verbs.ev_profile import UNPOPULATED, Ev, EvProfileAttr, EvState, ReplaceEv
from pymodel.verbs.profiles import EvFormatProfileAttr, ProfileState
from pymodel.verbs.queue_pair import NO_PROFILE, Qp, QpAttr, QpState
from pymodel.verbs.work import WcOpcode, WcStatus
from pymodel.wire.spec import EndpointOp, EvFormatMode, EvSourceMode
from tests.verbs.pair import SIZE, TOPOLOGY, Pair
from tests.verbs.test_application import refused

FORMAT, EXPLICIT, AUTO, WINDOW = 1, 1, 2, 1
NAMES = ("h0-0", "h1-0")
SLOT = SIZE // 32
"""Each write has a piece of memory of its own, so that memory can be compared whatever order they land in."""


@dataclass
class Connection:
    """A pair of QPs and what has been asked of it."""

    qps: tuple[Qp, Qp]
    receives: list[int] = field(default_factory=lambda: [0, 0])
    """Receives posted on each side and not promised to an immediate."""
    alive: bool = True


class Api(RuleBasedStateMachine):
    """Rules are calls; `run` lets time pass."""

    connections = Bundle("connections")

    def __init__(self) -> None:
        super().__init__()
        self.pair = Pair()
        self.made: list[Connection] = []
        self.pending: list[set[tuple[int, int, WcOpcode]]] = [set(), set()]
        """By side: work requests that must still complete, as QPN, wr_id and operation."""
        self.forgotten: list[set[tuple[int, int, WcOpcode]]] = [set(), set()]
        self.expected = bytearray(SIZE), bytearray(SIZE)
        self.landing: list[tuple[int, tuple[int, int, WcOpcode], int, bytes]] = []
        self.batches: list[EpBatch] = []
        self.next_wr = 0
        self.next_slot = [0, 0]

    @initialize(seed=st.integers(0, 2**32 - 1), percent=st.sampled_from([0, 2, 10, 30]))
    def prepare(self, seed: int, percent: int) -> None:
        rng = random.Random(seed)
        self.pair.loss = lambda sender, data: rng.randrange(100) < percent
        for who, side in enumerate(self.pair.sides):
            context = side.context
            side.memory.data[:] = rng.randbytes(SIZE)
            self.expected[who][:] = side.memory.data
            attr = EvFormatProfileAttr(state=ProfileState.OFFLINE, mode=EvFormatMode.SRV6, fields=SRV6.widths)
            modify_ev_format_profile(context, FORMAT, attr)
            modify_ev_format_profile(context, FORMAT, EvFormatProfileAttr(state=ProfileState.ONLINE))
            common = {"state": ProfileState.OFFLINE, "count": 8, "min_active": 2, "event_mask": EvState(3)}
            explicit = EvProfileAttr(mode=EvSourceMode.EXPLICIT, format_id=FORMAT, **common)
            modify_ev_profile(context, EXPLICIT, explicit)
            paths = TOPOLOGY.ev_set(NAMES[who], NAMES[1 - who], 8, 1)
            replace_evs(context, EXPLICIT, [ReplaceEv(UNPOPULATED, Ev.of(record)) for record in paths])
            modify_ev_profile(context, AUTO, EvProfileAttr(mode=EvSourceMode.AUTO, **common))
            for number in (EXPLICIT, AUTO):
                modify_ev_profile(context, number, EvProfileAttr(state=ProfileState.ONLINE))
            window = CcProfileAttr(
                state=ProfileState.OFFLINE, algorithm=FIXED_WINDOW, config=FixedWindowConfig(window=4000)
            )
            modify_cc_profile(context, WINDOW, window)
            modify_cc_profile(context, WINDOW, CcProfileAttr(state=ProfileState.ONLINE))
        self.ev_queue = create_ev_event_cq(self.pair.sides[0].context, 4)

    # Calls

    @rule(
        target=connections,
        psns=st.tuples(*[st.sampled_from([0, 1, 2**23, 2**24 - 3, 2**24 - 1])] * 2),
        profile=st.sampled_from([NO_PROFILE, EXPLICIT, AUTO]),
        window=st.sampled_from([NO_PROFILE, WINDOW]),
        mpr=st.sampled_from([1, 8]),
    )
    @precondition(lambda self: len(self.made) < 4)
    def connect(self, psns: tuple[int, int], profile: int, window: int, mpr: int) -> Connection:
        changes = {"ev_profile_id": profile, "cc_profile_id": window, "mpr": mpr, "mpr_dest": mpr}
        connection = Connection(self.pair.connect(psns=psns, changes=(changes, changes)))
        self.made.append(connection)
        return connection

    def _wr(self) -> int:
        self.next_wr += 1
        return self.next_wr

    @staticmethod
    def _refused(connection: Connection, qp: Qp, full: bool) -> int | None:
        """How work is refused now, if it is."""
        if not connection.alive or qp.state is QpState.RESET:
            return errno.EINVAL
        return errno.ENOMEM if full else None

    @rule(connection=connections, who=st.integers(0, 1))
    def receive(self, connection: Connection, who: int) -> None:
        qp, wr_id = connection.qps[who], self._wr()
        code = self._refused(connection, qp, len(qp.receives) >= qp.init.max_recv_wr)
        if code is not None:
            refused(code, lambda: self.pair.receive(who, qp, wr_id=wr_id))
            return
        self.pair.receive(who, qp, wr_id=wr_id)
        self.pending[who].add((qp.qpn, wr_id, WcOpcode.RECV_RDMA_WITH_IMM))
        connection.receives[who] += 1

    @rule(
        connection=connections,
        who=st.integers(0, 1),
        lengths=st.lists(st.sampled_from([0, 1, 512, 1023, 1024, SLOT]), min_size=1, max_size=5),
    )
    def burst(self, connection: Connection, who: int, lengths: list[int]) -> None:
        for length in lengths:
            self.write(connection, who, length, immediate=False)

    @rule(connection=connections, who=st.integers(0, 1), count=st.integers(1, 5))
    def deliver(self, connection: Connection, who: int, count: int) -> None:
        """Receives, and the immediates that take them."""
        for _ in range(count):
            self.receive(connection, 1 - who)
            self.write(connection, who, 100, immediate=True)

    @rule(connection=connections, who=st.integers(0, 1), length=st.integers(0, SLOT), immediate=st.booleans())
    def write(self, connection: Connection, who: int, length: int, immediate: bool) -> None:
        qp, wr_id = connection.qps[who], self._wr()
        if self.next_slot[who] == SIZE // 2:
            return
        # Each side writes from one half of its memory to the same place of the other's.
        offset = who * SIZE // 2 + self.next_slot[who]
        if immediate:
            if connection.receives[1 - who] < 1:
                return
            connection.receives[1 - who] -= 1
        call = partial(self.pair.write, who, qp, offset, length, wr_id=wr_id, imm=wr_id if immediate else None)
        code = self._refused(connection, qp, len(qp.sends) >= qp.init.max_send_wr)
        if code is not None:
            refused(code, call)
            return
        call()
        self.next_slot[who] += SLOT
        key = qp.qpn, wr_id, WcOpcode.RDMA_WRITE
        self.pending[who].add(key)
        data = bytes(self.pair.sides[who].memory.data[offset : offset + length])
        self.landing.append((who, key, offset, data))

    @rule(microseconds=st.sampled_from([1, 5, 50, 500, 5000]))
    def run(self, microseconds: int) -> None:
        self.pair.run(microseconds * US)

    @rule(who=st.integers(0, 1), op=st.sampled_from(EndpointOp), timeout=st.sampled_from([1, 100_000]))
    def probe(self, who: int, op: EndpointOp, timeout: int) -> None:
        paths = TOPOLOGY.ev_set(NAMES[who], NAMES[1 - who], 4, 2)
        peer = self.pair.sides[1 - who].address
        requests = [EpRequest(number, peer, Ev.of(record)) for number, record in enumerate(paths)]
        self.batches.append(ep_batch_send(self.pair.sides[who].context, op, requests, timeout, self.pair.now_ps))
        self.pair.settle(who)

    # An end ends much: one in four of these does something, so that there is something to end.

    @rule(
        connection=connections,
        who=st.integers(0, 1),
        to=st.sampled_from([QpState.ERROR, QpState.RESET, None, None, None, None, None, None]),
    )
    def end(self, connection: Connection, who: int, to: QpState | None) -> None:
        qp = connection.qps[who]
        if to is None:
            return
        if not connection.alive or (qp.state is QpState.RESET and to is QpState.ERROR):
            with pytest.raises(VerbsError):
                modify_qp(qp, QpAttr(state=to), self.pair.now_ps)
            return
        modify_qp(qp, QpAttr(state=to), self.pair.now_ps)
        if to is QpState.RESET:
            self._forget(who, qp)
        self.pair.settle(who)

    @rule(connection=connections, really=st.sampled_from([True, False, False, False]))
    def destroy(self, connection: Connection, really: bool) -> None:
        if not really:
            return
        for who, qp in enumerate(connection.qps):
            if connection.alive:
                destroy_qp(qp)
                self._forget(who, qp)
                self.pair.settle(who)
            else:
                with pytest.raises(VerbsError):
                    destroy_qp(qp)
        connection.alive = False

    def _forget(self, who: int, qp: Qp) -> None:
        gone = {key for key in self.pending[who] if key[0] == qp.qpn}
        self.pending[who] -= gone
        self.forgotten[who] |= gone

    @rule(who=st.integers(0, 1), place=st.integers(0, 7), state=st.sampled_from([EvState.GOOD, EvState.DENIED]))
    def deny(self, who: int, place: int, state: EvState) -> None:
        context = self.pair.sides[who].context
        entries = query_ev_array(context, EXPLICIT)
        denied = sum(entry.state is EvState.DENIED for entry in entries)
        if state is EvState.GOOD or denied < 4:
            set_ev_states(context, EXPLICIT, [entries[place].ev], state, self.pair.now_ps)
            assert query_ev_array(context, EXPLICIT)[place].state is state

    @rule(who=st.integers(0, 1), port=st.integers(0, 1), up=st.booleans())
    def pull(self, who: int, port: int, up: bool) -> None:
        """The link of a plane goes at both ends, or comes back."""
        if self.pair.up[who, port] is up:
            return
        self.pair.up[0, port] = self.pair.up[1, port] = up
        for each in (0, 1):
            self.pair.give(each, PortChange(port, up))

    @rule(who=st.integers(0, 1), number=st.integers(1, 2))
    def administer(self, who: int, number: int) -> None:
        """A port is disabled and enabled again: what was on its way through it is lost."""
        for enabled in (False, True):
            modify_port(self.pair.sides[who].context, number, enabled=enabled, now_ps=self.pair.now_ps)
            self.pair.settle(who)
            self.pair.run(20 * US)

    # What always holds

    @invariant()
    def completions_come_once(self) -> None:
        for who, side in enumerate(self.pair.sides):
            for done in side.poll():
                key = done.qp_num, done.wr_id, done.opcode
                if key in self.forgotten[who]:
                    self.forgotten[who].remove(key)  # completed before its QP was reset
                    continue
                assert key in self.pending[who], f"{done} twice, or never asked for"
                self.pending[who].remove(key)
                if done.status is WcStatus.SUCCESS and done.opcode is WcOpcode.RDMA_WRITE:
                    self._landed(who, key)

    def _landed(self, who: int, key: tuple[int, int, WcOpcode]) -> None:
        """A write that succeeded is in the other memory, byte for byte."""
        ((_, _, offset, data),) = [each for each in self.landing if each[0] == who and each[1] == key]
        assert self.pair.sides[1 - who].memory.data[offset : offset + len(data)] == data

    @invariant()
    def nothing_else_is_touched(self) -> None:
        """Each half of a memory holds what its own side or the other's writes put there, nothing else."""
        for who, side in enumerate(self.pair.sides):
            half = slice(who * SIZE // 2, (who + 1) * SIZE // 2)
            assert side.memory.data[half] == self.expected[who][half]
            written = (1 - who) * SIZE // 2 + self.next_slot[1 - who]
            rest = slice(written, (2 - who) * SIZE // 2)
            assert side.memory.data[rest] == self.expected[who][rest]

    @invariant()
    def states_are_legal(self) -> None:
        for connection in self.made:
            for qp in connection.qps:
                assert qp.state in (QpState.RESET, QpState.RTS, QpState.ERROR)
                if qp.state is QpState.RTS:
                    assert qp.core.requester.window.inflight >= 0
                    assert len(qp.sends) + len(qp.receives) <= qp.init.max_send_wr + qp.init.max_recv_wr
                else:
                    assert qp.sends == qp.receives == {}

    @invariant()
    def users_are_counted(self) -> None:
        for who, side in enumerate(self.pair.sides):
            for kind, name in (("ev_profiles", "ev_profile_id"), ("cc_profiles", "cc_profile_id")):
                for number, profile in getattr(side.adapter, kind).items():
                    users = [qp.qpn for qp in side.context.qps.values() if getattr(qp.attr, name) == number]
                    assert Counter(profile.users) == Counter(users), (who, kind, number)

    def teardown(self) -> None:
        """With a good channel and every port up, all of it comes to rest."""
        if not hasattr(self, "ev_queue"):
            return
        self.pair.loss = lambda sender, data: False
        for port in range(TOPOLOGY.planes):
            self.pull(0, port, up=True)
        self.pair.run(100 * MS)
        self.completions_come_once()
        self.nothing_else_is_touched()
        for batch in self.batches:
            assert batch.status == (errno.ETIMEDOUT if batch.missing else 0)
            assert len(batch.missing) + len(batch.responses) == 4
        for who, side in enumerate(self.pair.sides):
            for connection in self.made:
                if connection.alive and {qp.state for qp in connection.qps} != {QpState.RTS}:
                    continue
                qpn = connection.qps[who].qpn
                late = {key for key in self.pending[who] if key[0] == qpn and key[2] is WcOpcode.RDMA_WRITE}
                assert not late
                if connection.alive:
                    assert connection.qps[who].core.requester.window.inflight == 0
            assert not [key for key in side.timers if key.endswith("/ack")] or self._half_open()

    def _half_open(self) -> bool:
        """A QP whose peer was reset goes on trying for ever, as it was told to."""
        return any(
            connection.alive and {qp.state for qp in connection.qps} != {QpState.RTS} for connection in self.made
        )


STEPS = {"stateful_step_count": 50, "deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

TestApi = pytest.mark.slow(Api.TestCase)
TestApi.settings = settings(max_examples=40, **STEPS)


@pytest.mark.nightly
def test_the_api_for_long() -> None:
    run_state_machine_as_test(Api, settings=settings(max_examples=2000, **STEPS))
