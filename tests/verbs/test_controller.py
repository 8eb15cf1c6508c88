"""The controller: profiles and their states, EVs and theirs, ports, events of EVs, and what each call refuses."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from pymodel.base.time import MS
from pymodel.nic.congestion import FixedWindow, NoCongestionControl
from pymodel.nic.events import PortChange
from pymodel.paths.ev import SRV6, EvField
from pymodel.verbs.adapter import Limits
from pymodel.verbs.application import create_context, destroy_qp, get_async_event, modify_qp
from pymodel.verbs.cc_profile import FIXED_WINDOW, NO_CC, NSCC, CcProfileAttr, FixedWindowConfig, NsccConfig
from pymodel.verbs.context import Context
from pymodel.verbs.controller import (
    OptCap,
    create_ev_event_cq,
    modify_cc_profile,
    modify_ev_format_profile,
    modify_ev_profile,
    modify_port,
    poll_ev_event,
    query_cc_profile,
    query_device,
    query_ev_array,
    query_ev_format_profile,
    query_ev_profile,
    query_ev_states,
    query_port,
    replace_evs,
    set_ev_states,
)
from pymodel.verbs.ev_profile import UNPOPULATED, Ev, EvEntry, EvProfileAttr, EvState, ReplaceEv
from pymodel.verbs.events import AsyncEventType, EvEvent
from pymodel.verbs.profiles import EvFormatProfileAttr, ProfileState
from pymodel.verbs.queue_pair import QpState
from pymodel.verbs.work import WcStatus
from pymodel.wire.spec import EvFormatMode, EvSourceMode
from tests.verbs.pair import INIT, TOPOLOGY, Pair
from tests.verbs.test_application import ERROR, RESET, refused

S = ProfileState
FORMAT, PROFILE = 13, 1
PATHS = TOPOLOGY.ev_set("h0-0", "h1-0", 4, 1)
EVS = [Ev.of(record) for record in PATHS]
FIELDS = (
    EvField(32, TOPOLOGY.block),
    EvField(16, TOPOLOGY.path(TOPOLOGY.host("h0-0"), TOPOLOGY.host("h1-0"), 0)[0]),
    EvField.drawn(16, 0x4000, 0x0003),
)
"""Paths of plane 0 by one of four T1s."""


@pytest.fixture
def pair() -> Pair:
    return Pair()


@pytest.fixture
def context(pair: Pair) -> Context:
    return pair.sides[0].context


def make_format(context: Context, number: int = FORMAT, to: ProfileState = S.ONLINE) -> None:
    attr = EvFormatProfileAttr(state=S.OFFLINE, mode=EvFormatMode.SRV6, fields=SRV6.widths)
    modify_ev_format_profile(context, number, attr)
    if to is S.ONLINE:
        modify_ev_format_profile(context, number, EvFormatProfileAttr(state=S.ONLINE))


EXPLICIT = EvProfileAttr(
    state=S.OFFLINE, mode=EvSourceMode.EXPLICIT, format_id=FORMAT, count=4, min_active=1, event_mask=EvState(3)
)
GENERATED = replace(EXPLICIT, mode=EvSourceMode.GENERATED, fields=FIELDS)
AUTO = replace(EXPLICIT, mode=EvSourceMode.AUTO, format_id=None)


def make_explicit(context: Context, number: int = PROFILE, to: ProfileState = S.ONLINE, **changes: object) -> None:
    """The EVs of `PATHS`, each once."""
    if query_ev_format_profile(context, FORMAT).state is S.INIT:
        make_format(context)
    modify_ev_profile(context, number, replace(EXPLICIT, **changes))
    replace_evs(context, number, [ReplaceEv(UNPOPULATED, ev) for ev in EVS])
    if to is S.ONLINE:
        modify_ev_profile(context, number, EvProfileAttr(state=S.ONLINE))


# The life of profiles


def format_profile(context: Context) -> Callable[[ProfileState | None, bool], None]:
    def move(state: ProfileState | None, attributes: bool) -> None:
        attr = EvFormatProfileAttr(state=state)
        if attributes:
            attr = replace(attr, mode=EvFormatMode.SRV6, fields=SRV6.widths)
        modify_ev_format_profile(context, FORMAT, attr)

    return move


def ev_profile(context: Context) -> Callable[[ProfileState | None, bool], None]:
    make_format(context)

    def move(state: ProfileState | None, attributes: bool) -> None:
        attr = replace(GENERATED, state=state) if attributes else EvProfileAttr(state=state)
        modify_ev_profile(context, PROFILE, attr)

    return move


def cc_profile(context: Context) -> Callable[[ProfileState | None, bool], None]:
    def move(state: ProfileState | None, attributes: bool) -> None:
        attr = CcProfileAttr(state=state)
        if attributes:
            attr = replace(attr, algorithm=FIXED_WINDOW, config=FixedWindowConfig(window=1 << 16))
        modify_cc_profile(context, PROFILE, attr)

    return move


KINDS = {"format": format_profile, "EV": ev_profile, "CC": cc_profile}
QUERIES = {
    "format": lambda context: query_ev_format_profile(context, FORMAT),
    "EV": lambda context: query_ev_profile(context, PROFILE),
    "CC": lambda context: query_cc_profile(context, PROFILE),
}
WAYS = {S.INIT: (), S.OFFLINE: (S.OFFLINE,), S.ONLINE: (S.OFFLINE, S.ONLINE)}
LEGAL = {S.INIT: {S.OFFLINE}, S.OFFLINE: {S.ONLINE, S.INIT}, S.ONLINE: {S.OFFLINE}}


@pytest.mark.parametrize("to", S, ids=lambda state: f"to_{state.name}")
@pytest.mark.parametrize("start", S, ids=lambda state: f"from_{state.name}")
@pytest.mark.parametrize("kind", KINDS)
def test_each_step_of_a_profiles_life(context: Context, kind: str, start: ProfileState, to: ProfileState) -> None:
    move = KINDS[kind](context)
    for state in WAYS[start]:
        move(state, state is S.OFFLINE)
    before = QUERIES[kind](context)
    assert before.state is start
    if to in LEGAL[start]:
        move(to, start is S.INIT)
        assert QUERIES[kind](context).state is to
    else:
        refused(errno.EINVAL, lambda: move(to, False), f"a move from {start.value} to {to.value}")
        assert QUERIES[kind](context) == before


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_change_in_offline_alone_and_are_gone_in_init(context: Context, kind: str) -> None:
    move = KINDS[kind](context)
    empty = QUERIES[kind](context)
    refused(errno.EINVAL, lambda: move(None, True), "attributes of a profile in INIT")
    refused(errno.EINVAL, lambda: move(S.OFFLINE, False), "a move to OFFLINE without")
    move(S.OFFLINE, True)
    move(None, True)
    refused(errno.EINVAL, lambda: move(S.INIT, True), "attributes together with a move to INIT")
    move(S.ONLINE, True)
    refused(errno.EINVAL, lambda: move(None, True), "a change while ONLINE")
    refused(errno.EINVAL, lambda: move(S.OFFLINE, True), "a change while ONLINE")
    move(S.OFFLINE, False)
    move(S.INIT, False)
    assert QUERIES[kind](context) == empty


def test_a_call_may_depend_on_the_state(context: Context) -> None:
    attr = EvFormatProfileAttr(cur_state=S.OFFLINE, state=S.OFFLINE, mode=EvFormatMode.SRV6)
    refused(errno.EINVAL, lambda: modify_ev_format_profile(context, FORMAT, attr), "the state OFFLINE that the call")
    modify_ev_format_profile(context, FORMAT, replace(attr, cur_state=S.INIT))


@pytest.mark.parametrize(
    ("attr", "code", "words"),
    [
        ({"fields": (32, 16)}, errno.EINVAL, "OFFLINE without a mode"),
        ({"mode": EvFormatMode.STEV}, errno.EINVAL, "EV format mode STEV, expected SRV6"),
        ({"mode": EvFormatMode.SRV6, "fields": (33,)}, errno.EINVAL, "33"),
        ({"mode": EvFormatMode.SRV6, "fields": (0,)}, errno.EINVAL, "0"),
        ({"mode": EvFormatMode.SRV6, "fields": (32,) * 9}, errno.E2BIG, "at most 256 bits"),
        ({"mode": EvFormatMode.SRV6, "fields": (30,) * 5}, errno.E2BIG, "at bit 128"),
    ],
)
def test_a_format_that_cannot_be_is_refused(context: Context, attr: dict[str, object], code: int, words: str) -> None:
    given = EvFormatProfileAttr(state=S.OFFLINE, **attr)
    refused(code, lambda: modify_ev_format_profile(context, FORMAT, given), words)
    assert query_ev_format_profile(context, FORMAT) == EvFormatProfileAttr(state=S.INIT)


def test_a_format_needs_fields_to_go_online(context: Context) -> None:
    modify_ev_format_profile(context, FORMAT, EvFormatProfileAttr(state=S.OFFLINE, mode=EvFormatMode.SRV6))
    online = EvFormatProfileAttr(state=S.ONLINE)
    refused(errno.EINVAL, lambda: modify_ev_format_profile(context, FORMAT, online), "without fields")
    modify_ev_format_profile(context, FORMAT, replace(online, fields=SRV6.widths))


def test_a_format_stays_online_while_an_ev_profile_that_has_it_is(context: Context) -> None:
    make_explicit(context)
    offline = EvFormatProfileAttr(state=S.OFFLINE)
    refused(errno.EBUSY, lambda: modify_ev_format_profile(context, FORMAT, offline), "EV profile 1 using it")
    modify_ev_profile(context, PROFILE, EvProfileAttr(state=S.OFFLINE))
    modify_ev_format_profile(context, FORMAT, offline)
    online = EvProfileAttr(state=S.ONLINE)
    refused(errno.EINVAL, lambda: modify_ev_profile(context, PROFILE, online), "EV format profile 13 being ONLINE")


# EV profiles


@pytest.mark.parametrize("base", [EXPLICIT, GENERATED, AUTO], ids=["explicit", "generated", "auto"])
@pytest.mark.parametrize("name", ["mode", "format_id", "count", "fields", "min_active", "event_mask"])
def test_what_an_ev_profile_needs(context: Context, base: EvProfileAttr, name: str) -> None:
    make_format(context)
    attr = replace(base, **{name: None})
    offline = {"mode": True, "count": True, "format_id": base is not AUTO, "fields": base is GENERATED}
    if name == "count":  # without it there is nothing to compare with
        attr = replace(attr, min_active=None)
    if offline.get(name):
        refused(errno.EINVAL, lambda: modify_ev_profile(context, PROFILE, attr), "a move to OFFLINE without")
        return
    modify_ev_profile(context, PROFILE, attr)
    if base is EXPLICIT:
        replace_evs(context, PROFILE, [ReplaceEv(UNPOPULATED, ev) for ev in EVS])
    online = EvProfileAttr(state=S.ONLINE)
    if name in ("min_active", "event_mask"):
        refused(errno.EINVAL, lambda: modify_ev_profile(context, PROFILE, online), "a move to ONLINE without")
        online = replace(online, **{name: getattr(base, name)})
    modify_ev_profile(context, PROFILE, online)
    assert query_ev_profile(context, PROFILE) == replace(
        base, state=S.ONLINE, **({"fields": None, "format_id": base.format_id} if base is not GENERATED else {})
    )


WIDE = tuple(EvField.drawn(16, 0, 0xFFFF) for _ in range(3))


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"count": 0}, errno.EINVAL, "a multiple of the 2 ports"),
        ({"count": 3}, errno.EINVAL, "a multiple of the 2 ports"),
        ({"count": 4098}, errno.E2BIG, "at most 4096"),
        ({"min_active": 5}, errno.EINVAL, "5 EVs to keep active, expected 0 to 4"),
        ({"min_active": -1}, errno.EINVAL, "-1 EVs"),
        ({"event_mask": EvState.DENIED}, errno.EINVAL, "event mask DENIED"),
        ({"format_id": 0}, errno.EINVAL, "a number from 1"),
        ({"format_id": 99}, errno.EINVAL, "EV format profile 99 not configured"),
        ({"fields": (EvField(16),) * 8}, errno.E2BIG, "8 fields, expected at most the 7 of the format"),
        ({"fields": WIDE}, errno.EINVAL, "masks of 48 bits, expected at most the 32 bits of an EV"),
        ({"fields": (EvField(16), EvField(32))}, errno.EINVAL, "field 1 of 32 bits"),
        ({"count": 6}, errno.EINVAL, "6 EVs, expected 1 to 4"),
        ({"mode": EvSourceMode.AUTO}, errno.EINVAL, "a format or fields of an AUTO profile"),
    ],
)
def test_an_ev_profile_that_cannot_be_is_refused(
    context: Context, changes: dict[str, object], code: int, words: str
) -> None:
    make_format(context)
    refused(code, lambda: modify_ev_profile(context, PROFILE, replace(GENERATED, **changes)), words)
    assert query_ev_profile(context, PROFILE) == EvProfileAttr(state=S.INIT)


def test_generated_evs_leave_by_the_port_of_their_first_usid(context: Context) -> None:
    make_format(context)
    modify_ev_profile(context, PROFILE, GENERATED)
    entries = query_ev_array(context, PROFILE)
    assert all(entry.state is EvState.GOOD for entry in entries)
    assert {entry.ev.port for entry in entries} == {1}
    middle = sorted(int.from_bytes(entry.ev.value[6:8], "big") for entry in entries)
    assert middle == [0x4000, 0x4001, 0x4002, 0x4003]
    strange = (EvField(32, 1), EvField.drawn(16, 0, 0x00FF))
    modify_ev_profile(context, PROFILE, EvProfileAttr(fields=strange))
    assert [entry.ev.port for entry in query_ev_array(context, PROFILE)] == [1, 2, 1, 2]


def test_generated_evs_follow_their_format(context: Context) -> None:
    make_format(context)
    modify_ev_profile(context, PROFILE, GENERATED)
    for state in (S.OFFLINE, None, S.ONLINE):
        fields = (*SRV6.widths, 16) if state is None else None
        modify_ev_format_profile(context, FORMAT, EvFormatProfileAttr(state=state, fields=fields))
    online = EvProfileAttr(state=S.ONLINE)
    refused(errno.EINVAL, lambda: modify_ev_profile(context, PROFILE, online), "the format has changed")
    modify_ev_profile(context, PROFILE, EvProfileAttr(fields=FIELDS))
    modify_ev_profile(context, PROFILE, online)


def test_explicit_evs_begin_unpopulated_and_are_replaced_one_by_one(context: Context) -> None:
    make_format(context)
    modify_ev_profile(context, PROFILE, EXPLICIT)
    assert query_ev_array(context, PROFILE) == [EvEntry(UNPOPULATED, EvState.UNKNOWN)] * 4
    online = EvProfileAttr(state=S.ONLINE)
    replace_evs(context, PROFILE, [ReplaceEv(UNPOPULATED, ev) for ev in EVS[:3]])
    refused(errno.EINVAL, lambda: modify_ev_profile(context, PROFILE, online), "without its EVs")
    replace_evs(context, PROFILE, [ReplaceEv(UNPOPULATED, EVS[0], EvState.DENIED)])
    replace_evs(context, PROFILE, [ReplaceEv(EVS[0], EVS[3], all_copies=True)])
    good = EvState.GOOD
    assert query_ev_array(context, PROFILE) == [EvEntry(EVS[place], good) for place in (3, 1, 2, 3)]
    modify_ev_profile(context, PROFILE, online)
    assert query_ev_states(context, PROFILE, [EVS[3], EVS[1]]) == [good, good]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (ReplaceEv(EVS[0], EVS[1]), errno.ENOENT, "expected an EV of the profile"),
        (ReplaceEv(UNPOPULATED, replace(EVS[0], port=0)), errno.EINVAL, "port 0"),
        (ReplaceEv(UNPOPULATED, replace(EVS[0], port=3)), errno.EINVAL, "a port from 1 to 2"),
        (ReplaceEv(UNPOPULATED, EVS[0], EvState.ASSUMED_BAD), errno.EINVAL, "state ASSUMED_BAD of a new EV"),
    ],
)
def test_a_replacement_that_cannot_be_is_refused(context: Context, change: ReplaceEv, code: int, words: str) -> None:
    make_format(context)
    modify_ev_profile(context, PROFILE, EXPLICIT)
    refused(code, lambda: replace_evs(context, PROFILE, [ReplaceEv(UNPOPULATED, EVS[2]), change]), words)
    # What came before the one refused stays.
    assert [entry.ev for entry in query_ev_array(context, PROFILE)] == [EVS[2], *[UNPOPULATED] * 3]


def test_evs_are_replaced_in_offline_explicit_profiles_alone(context: Context) -> None:
    change = [ReplaceEv(EVS[0], EVS[1])]
    refused(errno.EINVAL, lambda: replace_evs(context, PROFILE, change), "whose mode is EXPLICIT")
    make_explicit(context)
    refused(errno.EINVAL, lambda: replace_evs(context, PROFILE, change), "while ONLINE")
    modify_ev_profile(context, 2, GENERATED)
    refused(errno.EINVAL, lambda: replace_evs(context, 2, change), "whose mode is EXPLICIT")


@pytest.mark.parametrize(
    ("number", "evs", "state", "code", "words"),
    [
        (2, [], EvState.DENIED, None, ""),
        (2, EVS[:1], EvState.DENIED, errno.EINVAL, "an EV's state in INIT"),
        (PROFILE, EVS[:1], EvState.ASSUMED_BAD, errno.EINVAL, "GOOD or DENIED"),
        (PROFILE, EVS[:1], EvState.UNKNOWN, errno.EINVAL, "GOOD or DENIED"),
        (PROFILE, [replace(EVS[0], port=2)], EvState.DENIED, errno.ENOENT, "an EV of the profile"),
        (PROFILE, [UNPOPULATED], EvState.DENIED, errno.ENOENT, "an EV of the profile"),
        (0, [], EvState.DENIED, errno.EINVAL, "a number from 1"),
    ],
)
def test_states_that_cannot_be_set(
    context: Context, number: int, evs: list[Ev], state: EvState, code: int | None, words: str
) -> None:
    make_explicit(context)
    if code is None:
        set_ev_states(context, number, evs, state, 0)
    else:
        refused(code, lambda: set_ev_states(context, number, evs, state, 0), words)


def test_an_entry_without_an_ev_has_no_state_to_set(context: Context) -> None:
    make_format(context)
    modify_ev_profile(context, PROFILE, EXPLICIT)
    refused(errno.EINVAL, lambda: set_ev_states(context, PROFILE, [UNPOPULATED], EvState.DENIED, 0), "without an EV")
    assert query_ev_states(context, PROFILE, [UNPOPULATED]) == [EvState.UNKNOWN]
    refused(errno.ENOENT, lambda: query_ev_states(context, PROFILE, EVS[:1]))


def test_an_ev_is_32_bytes() -> None:
    refused(errno.EINVAL, lambda: Ev(bytes(16), 1), "16 bytes, expected 32 bytes")
    refused(errno.EINVAL, lambda: Ev.srv6(1 << 128, 1), "128 bits")
    assert Ev.srv6(1, 2, segment=3).value == bytes(15) + b"\1" + bytes(15) + b"\3"


def test_evs_and_profiles_run_out(pair: Pair) -> None:
    adapter = pair.sides[0].adapter
    adapter.limits = Limits(evs=6, ev_profiles=2, cc_profiles=1, format_profiles=1)
    context = pair.sides[0].context
    make_explicit(context)
    assert query_device(context).ev_free_count == 2
    refused(errno.E2BIG, lambda: modify_ev_profile(context, 2, EXPLICIT), "4 EVs, expected at most 2")
    modify_ev_profile(context, 2, replace(EXPLICIT, count=2))
    refused(errno.EINVAL, lambda: modify_ev_profile(context, 3, replace(EXPLICIT, count=2)), "at most 2")
    refused(errno.EINVAL, lambda: make_format(context, 14), "at most 1")
    modify_cc_profile(context, 1, CcProfileAttr(state=S.OFFLINE, algorithm=NO_CC))
    refused(errno.EINVAL, lambda: modify_cc_profile(context, 2, CcProfileAttr(state=S.OFFLINE, algorithm=NO_CC)))
    modify_ev_profile(context, 2, EvProfileAttr(state=S.INIT))
    assert query_device(context).ev_free_count == 2


def test_a_nic_that_cannot_find_paths_has_no_auto_profiles(pair: Pair) -> None:
    side = pair.sides[0]
    side.adapter.find_paths = None
    assert EvSourceMode.AUTO not in query_device(side.context).ev_modes
    refused(errno.EINVAL, lambda: modify_ev_profile(side.context, PROFILE, AUTO), "a mode of the device")
    refused(errno.ENOTSUP, lambda: modify_qp(side.qp(), INIT, 0), "cannot find paths by itself")


# Profiles and QPs


def test_a_qp_takes_the_evs_of_its_profile_and_holds_it(pair: Pair, context: Context) -> None:
    make_explicit(context)
    set_ev_states(context, PROFILE, EVS[:1], EvState.DENIED, 0)
    here, _ = pair.connect(changes=({"ev_profile_id": PROFILE}, {}))
    table = here.core.requester.evs
    assert [(slot.record.address, slot.port) for slot in table.slots()] == [(p.address, p.port) for p in PATHS]
    pair.write(0, here, 0, 20000)
    pair.run()
    assert [done.status for done in pair.sides[0].poll()] == [WcStatus.SUCCESS]
    assert [slot.sent > 0 for slot in table.slots()] == [False, True, True, True]
    offline = EvProfileAttr(state=S.OFFLINE)
    refused(errno.EBUSY, lambda: modify_ev_profile(context, PROFILE, offline), f"QP {here.qpn} using it")
    # What the controller changes while the QP runs takes effect at once.
    set_ev_states(context, PROFILE, EVS[:1], EvState.GOOD, 0)
    set_ev_states(context, PROFILE, EVS[1:], EvState.DENIED, 0)
    assert query_ev_states(context, PROFILE, EVS) == [EvState.GOOD, *[EvState.DENIED] * 3]
    before = [slot.sent for slot in table.slots()]
    pair.write(0, here, 0, 20000)
    pair.run()
    assert [slot.sent - was > 0 for slot, was in zip(table.slots(), before, strict=True)] == [True, False, False, False]
    for leave in (lambda: modify_qp(here, RESET, 0), lambda: destroy_qp(here)):
        leave()
        modify_ev_profile(context, PROFILE, offline)
        modify_ev_profile(context, PROFILE, EvProfileAttr(state=S.ONLINE))
        if leave is not None and here.qpn in context.qps:
            modify_qp(here, replace(INIT, ev_profile_id=PROFILE), 0)
            refused(errno.EBUSY, lambda: modify_ev_profile(context, PROFILE, offline))


def test_a_qp_in_init_may_change_its_profile(pair: Pair, context: Context) -> None:
    make_explicit(context)
    make_explicit(context, 2)
    qp = pair.sides[0].qp()
    for number in (PROFILE, 2):
        modify_qp(qp, replace(INIT, ev_profile_id=number), 0)
    modify_ev_profile(context, PROFILE, EvProfileAttr(state=S.OFFLINE))
    refused(errno.EBUSY, lambda: modify_ev_profile(context, 2, EvProfileAttr(state=S.OFFLINE)))


def test_an_auto_profile_says_how_many_evs_the_nic_finds(pair: Pair, context: Context) -> None:
    modify_ev_profile(context, PROFILE, replace(AUTO, count=6))
    assert query_ev_array(context, PROFILE) == []
    modify_ev_profile(context, PROFILE, EvProfileAttr(state=S.ONLINE))
    here, _ = pair.connect(changes=({"ev_profile_id": PROFILE}, {}))
    assert len(here.core.requester.evs.slots()) == 6
    pair.write(0, here, 0, 5000)
    pair.run()
    assert [done.status for done in pair.sides[0].poll()] == [WcStatus.SUCCESS]


CC_ROWS = [
    ({}, errno.EINVAL, "without an algorithm"),
    ({"algorithm": "dcqcn"}, errno.EINVAL, "algorithm 'dcqcn', expected one of none, fixed-window, uet-1.0-nscc"),
    ({"algorithm": NO_CC, "config": NsccConfig()}, errno.EINVAL, "expected no configuration"),
    ({"algorithm": NSCC, "config": FixedWindowConfig(window=1)}, errno.EINVAL, "expected NsccConfig"),
]


@pytest.mark.parametrize(("attr", "code", "words"), CC_ROWS)
def test_a_cc_profile_that_cannot_be_is_refused(
    context: Context, attr: dict[str, object], code: int, words: str
) -> None:
    refused(code, lambda: modify_cc_profile(context, PROFILE, CcProfileAttr(state=S.OFFLINE, **attr)), words)


@pytest.mark.parametrize(
    ("config", "name", "value"),
    [
        (FixedWindowConfig, "window", 0),
        (FixedWindowConfig, "window", 1 << 32),
        *[(NsccConfig, name, 0) for name in ("adjust_bytes_threshold", "base_rtt", "max_cwnd", "target_delay")],
        *[(NsccConfig, name, 1 << 32) for name in ("adjust_period_threshold", "qa_threshold")],
        *[(NsccConfig, name, -0.5) for name in ("eta", "fi", "fi_scale", "gamma", "max_md_jump")],
        *[(NsccConfig, name, 1.5) for name in ("gamma", "max_md_jump")],
        (NsccConfig, "eta", float("nan")),
        (NsccConfig, "qa_gate", 256),
    ],
)
def test_each_parameter_of_congestion_control_has_its_range(config: type, name: str, value: float) -> None:
    refused(errno.EINVAL, lambda: config(**{name: value}), name)


def online_cc(context: Context, algorithm: str, config: FixedWindowConfig | NsccConfig | None) -> None:
    modify_cc_profile(context, PROFILE, CcProfileAttr(state=S.OFFLINE, algorithm=algorithm))
    if config is not None:
        attr = CcProfileAttr(state=S.ONLINE)
        refused(errno.EINVAL, lambda: modify_cc_profile(context, PROFILE, attr), "without a configuration")
    modify_cc_profile(context, PROFILE, CcProfileAttr(state=S.ONLINE, config=config))


def test_qps_to_one_destination_share_the_window_of_their_profile(pair: Pair, context: Context) -> None:
    online_cc(context, FIXED_WINDOW, FixedWindowConfig(window=3000))
    made = [pair.connect(changes=({"cc_profile_id": PROFILE}, {}))[0] for _ in range(2)]
    first, second = (qp.core.requester.congestion for qp in made)
    assert first is second
    assert isinstance(first, FixedWindow)
    assert first.cwnd == 3000
    refused(errno.EBUSY, lambda: modify_cc_profile(context, PROFILE, CcProfileAttr(state=S.OFFLINE)))
    for qp in made:
        modify_qp(qp, ERROR, 0)
        destroy_qp(qp)
    modify_cc_profile(context, PROFILE, CcProfileAttr(state=S.OFFLINE))


def test_no_congestion_control_is_a_profile_too(pair: Pair, context: Context) -> None:
    online_cc(context, NO_CC, None)
    here, _ = pair.connect(changes=({"cc_profile_id": PROFILE}, {}))
    assert isinstance(here.core.requester.congestion, NoCongestionControl)


def test_nscc_is_kept_but_not_given_to_a_qp(pair: Pair, context: Context) -> None:
    config = NsccConfig(base_rtt=8000)
    online_cc(context, NSCC, config)
    assert query_cc_profile(context, PROFILE) == CcProfileAttr(state=S.ONLINE, algorithm=NSCC, config=config)
    attr = replace(INIT, cc_profile_id=PROFILE)
    qp = pair.sides[0].qp()
    refused(errno.ENOTSUP, lambda: modify_qp(qp, attr, 0), "algorithm uet-1.0-nscc, which this NIC does not run")
    assert qp.state is QpState.RESET
    modify_cc_profile(context, PROFILE, CcProfileAttr(state=S.OFFLINE))


# Events of EVs


def lossy_ev(pair: Pair, mask: EvState) -> None:
    """A profile with that mask, and a QP that loses what it sends on one EV until the channel is good again."""
    context = pair.sides[0].context
    make_explicit(context, event_mask=mask, min_active=1)
    here, _ = pair.connect(changes=({"ev_profile_id": PROFILE}, {}))
    numbers = count()
    pair.loss = lambda sender, data: sender == 0 and next(numbers) == 0
    pair.write(0, here, 0, 30000)
    pair.run(1 * MS // 2)


@pytest.mark.parametrize("mask", [EvState(0), EvState.ASSUMED_BAD, EvState.GOOD, EvState(3)], ids=str)
def test_the_event_mask_says_what_is_told(pair: Pair, context: Context, mask: EvState) -> None:
    queue = create_ev_event_cq(context, 16)
    lossy_ev(pair, mask)
    told = poll_ev_event(queue, 16)
    if not mask & EvState.ASSUMED_BAD:
        assert told == []
        return
    (event,) = told
    assert event == EvEvent(PROFILE, event.ev, EvState.ASSUMED_BAD, 0)
    assert event.ev in EVS
    states = dict(zip(EVS, query_ev_states(context, PROFILE, EVS), strict=True))
    assert [ev for ev, state in states.items() if state is EvState.ASSUMED_BAD] == [event.ev]


def test_evs_that_the_nic_found_are_told_too(pair: Pair, context: Context) -> None:
    queue = create_ev_event_cq(context, 16)
    modify_ev_profile(context, PROFILE, AUTO)
    modify_ev_profile(context, PROFILE, EvProfileAttr(state=S.ONLINE))
    here, _ = pair.connect(changes=({"ev_profile_id": PROFILE}, {}))
    numbers = count()
    pair.loss = lambda sender, data: sender == 0 and next(numbers) == 0
    pair.write(0, here, 0, 30000)
    pair.run()
    (event,) = poll_ev_event(queue, 16)
    assert event.ev in [Ev.of(slot.record) for slot in here.core.requester.evs.retired]


def test_an_ev_that_comes_back_is_told(pair: Pair, context: Context) -> None:
    queue = create_ev_event_cq(context, 16)
    lossy_ev(pair, EvState(3))
    (qp,) = context.qps.values()
    pair.loss = lambda sender, data: sender == 0 and len(data) > 200  # data, not probes
    pair.write(0, qp, 0, 100)
    pair.run(5 * MS)
    told = poll_ev_event(queue, 16)
    assert told[0].state is EvState.ASSUMED_BAD
    assert EvEvent(PROFILE, told[0].ev, EvState.GOOD, 0) in told


def test_dropped_events_are_counted_in_the_next_one(pair: Pair, context: Context) -> None:
    queue = create_ev_event_cq(context, 2)
    events = [EvEvent(PROFILE, EVS[0], state) for state in (EvState.GOOD, EvState.ASSUMED_BAD)]
    for number in range(5):
        assert queue.push(events[number % 2]) is (number < 2)
    assert [event.drop_count for event in poll_ev_event(queue, 1)] == [0]
    queue.push(events[0])
    queue.push(events[0])
    assert [event.drop_count for event in poll_ev_event(queue, 8)] == [0, 3]
    queue.push(events[0])
    assert [event.drop_count for event in poll_ev_event(queue, 8)] == [1]
    refused(errno.EINVAL, lambda: poll_ev_event(queue, -1))
    refused(errno.EINVAL, lambda: create_ev_event_cq(context, 0))


# Ports, device, privilege


def test_a_disabled_port_is_down_whatever_its_link_does(pair: Pair, context: Context) -> None:
    here, _ = pair.connect()
    modify_port(context, 2, enabled=False, now_ps=pair.now_ps)
    assert (query_port(context, 1), query_port(context, 2)) == (True, False)
    assert get_async_event(context).event_type is AsyncEventType.PORT_ERR
    for up in (False, True):
        pair.give(0, PortChange(1, up))
    refused(errno.EAGAIN, lambda: get_async_event(context))
    pair.settle(0)
    pair.write(0, here, 0, 30000)
    pair.run()
    assert [done.status for done in pair.sides[0].poll()] == [WcStatus.SUCCESS]
    sent = {slot.port for slot in here.core.requester.evs.slots() if slot.sent}
    assert sent == {0}
    pair.give(0, PortChange(1, False))
    modify_port(context, 2, enabled=True, now_ps=pair.now_ps)
    refused(errno.EAGAIN, lambda: get_async_event(context))
    pair.give(0, PortChange(1, True))
    assert get_async_event(context).event_type is AsyncEventType.PORT_ACTIVE
    for number in (0, 3):
        refused(errno.EINVAL, lambda number=number: query_port(context, number), "a port from 1 to 2")
        refused(errno.EINVAL, lambda number=number: modify_port(context, number, enabled=True, now_ps=0))


def test_what_the_device_has_for_its_controller(context: Context) -> None:
    found = query_device(context)
    assert found.phy_port_mask == 0b110
    assert found.ev_count_align == 2
    assert found.ev_max_width == 32
    assert found.ev_fmt_modes == {EvFormatMode.SRV6}
    assert found.ev_modes == set(EvSourceMode)
    assert found.cc_algorithms == (FIXED_WINDOW, NSCC)
    assert OptCap.EV_EVENT in found.opt_attr
    assert OptCap.EV_PROFILE_MODIFY_ONLINE not in found.opt_attr


def test_a_process_without_privilege_controls_nothing(pair: Pair) -> None:
    plain = create_context(pair.sides[0].adapter)
    for call in (
        lambda: query_device(plain),
        lambda: query_port(plain, 1),
        lambda: modify_port(plain, 1, enabled=False, now_ps=0),
        lambda: modify_ev_format_profile(plain, 1, EvFormatProfileAttr()),
        lambda: query_ev_format_profile(plain, 1),
        lambda: modify_ev_profile(plain, 1, EvProfileAttr()),
        lambda: query_ev_profile(plain, 1),
        lambda: replace_evs(plain, 1, []),
        lambda: set_ev_states(plain, 1, [], EvState.GOOD, 0),
        lambda: query_ev_states(plain, 1, []),
        lambda: query_ev_array(plain, 1),
        lambda: modify_cc_profile(plain, 1, CcProfileAttr()),
        lambda: query_cc_profile(plain, 1),
        lambda: create_ev_event_cq(plain, 1),
    ):
        refused(errno.EPERM, call, "CAP_NET_ADMIN")
