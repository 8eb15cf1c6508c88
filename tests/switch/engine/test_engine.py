"""The engine as a whole: time, what it tells, what it counts, and programs that would never end."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pymodel.base.errors import InputError
from pymodel.base.time import US, S
from pymodel.switch.engine import DROP_PORT, Engine, Replica
from tests.switch.programs.case import compiled

Json = Any


def engine(program: str, **options: Any) -> Engine:
    return Engine(compiled(program).json_path.read_bytes(), **options)


def send(switch: Engine, text: str, now_ps: int = 0) -> list[str]:
    switch.inject(0, bytes.fromhex(text), now_ps)
    return [f"{port} {data.hex()}" for _, port, data in switch.drain(now_ps)]


def test_timestamps_count_microseconds_of_virtual_time() -> None:
    switch = engine("metadata")
    switch.inject(3, bytes([0, 0]), 7_999_999_999_999)
    ((when, port, data),) = switch.drain(S * 10)
    assert (when, port) == (7_999_999_999_999, 1)
    # 32 + 19 + 13 + 19 + 5 + 8 bits before the two timestamps.
    words = int.from_bytes(data[:36], "big") >> 288 - 96 - 96
    assert (words >> 48 & 2**48 - 1, words & 2**48 - 1) == (7_999_999, 7_999_999)


def test_next_event_and_drain_by_time() -> None:
    switch = engine("metadata")
    switch.set_queue(1, 0, 1_000_000, "pps", 10)
    for _ in range(3):
        switch.inject(0, bytes([0, 2, 0, 0]), 0)
    assert switch.next_event_ps() == 0
    assert len(switch.drain(0)) == 1
    assert switch.next_event_ps() == US
    assert switch.drain(US - 1) == []
    assert [when for when, _, _ in switch.drain(2 * US)] == [US, 2 * US]
    assert switch.next_event_ps() is None


def test_frames_leave_in_the_order_of_their_times() -> None:
    """A slow link's frame is sent later than one that entered afterwards and left by another port."""
    switch = engine("multicast")
    switch.set_multicast_group(1, [Replica(1, 1), Replica(2, 2)])
    switch.set_queue(1, 0, 8_000, "bit/s", 10)
    for _ in range(2):
        switch.inject(0, bytes([0, 0, 1]), 0)
    out = switch.drain(S)
    assert [(when, port) for when, port, _ in out] == [(0, 2), (0, 2), (11 * S // 1000, 1), (22 * S // 1000, 1)]


def test_digests_carry_the_values_of_their_moment() -> None:
    switch = engine("told")
    told: list[tuple[str, tuple[int, ...]]] = []
    switch.digest_listener = lambda name, values: told.append((name, values))
    switch.inject(5, bytes([1, 0x42, 0, 0]), 0)
    switch.inject(6, bytes([0, 0x43, 0, 0]), 0)
    assert told == [("report_t", (0x42, 5))]


def test_log_messages() -> None:
    switch = engine("told")
    lines: list[str] = []
    switch.log_listener = lines.append
    switch.inject(9, bytes([2, 7, 0, 0]), 0)
    assert lines == ["parsed 7 on 9", "two"]


def test_a_failed_assertion_is_logged_with_its_source_and_counted() -> None:
    switch = engine("told")
    lines: list[str] = []
    switch.log_listener = lines.append
    assert send(switch, "00ee0000") == []
    assert lines[-1] == "failed: assert(hdr.i.value != 0xEE)"
    assert switch.drops == {"failed assertion": 1}


def test_random_numbers_follow_the_seed_and_their_bounds() -> None:
    def draws(seed: int) -> list[str]:
        switch = engine("told", seed=seed)
        return [send(switch, "03000000")[0] for _ in range(200)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    assert {int(line[-4:], 16) for line in draws(3)} == set(range(10, 20))


@pytest.mark.parametrize("size", [1, 64, 1500, 9_216, 65_535, 1_000_000])
def test_frames_of_any_size(size: int) -> None:
    switch = engine("counters")
    data = (bytes([9, 0, 0]) + bytes(size))[:size]
    switch.inject(0, data, 0)
    assert switch.drain(0) == [(0, 1 if size >= 3 else 0, data)]


def test_an_empty_frame_is_none() -> None:
    switch = engine("counters")
    switch.inject(0, b"", 5)
    assert switch.drain(5) == []
    assert switch.drops == {"empty frame": 1}


@pytest.mark.parametrize(
    ("program", "frame"),
    [
        ("again", "01 ff 0000"),  # resubmits 255 times: within the limit
        ("again", "03 ff 0000"),  # recirculates as often
    ],
)
def test_many_rounds_are_no_loop(program: str, frame: str) -> None:
    switch = engine(program)
    assert len(send(switch, frame)) == 1
    assert switch.drops == {}


def _always(op: str) -> Callable[[Json], None]:
    """Let a program's condition for going round always hold."""

    def change(root: Json) -> None:
        for pipeline in root["pipelines"]:
            for each in pipeline["conditionals"]:
                if op in str(each["source_info"]["source_fragment"]):
                    each["false_next"] = each["true_next"]

    return change


@pytest.mark.parametrize("op", ["hdr.i.op == 1", "hdr.i.op == 3"])
def test_rounds_without_end_are_cut_off_and_counted(op: str) -> None:
    """BMv2 would send such a packet round for ever."""
    root = json.loads(compiled("again").json_path.read_bytes())
    _always(op)(root)
    switch = Engine(root)
    assert send(switch, "09000000") == []
    assert switch.drops == {"work limit": 1}
    assert send(switch, "09") != []


def test_clones_of_clones_without_end_are_cut_off_and_counted() -> None:
    root = json.loads(compiled("clone").json_path.read_bytes())
    for each in root["pipelines"][1]["conditionals"]:
        if (
            "instance_type" in each["source_info"]["source_fragment"]
            or "== 6" in each["source_info"]["source_fragment"]
        ):
            each["false_next"] = each["true_next"]
    switch = Engine(root)
    switch.set_clone_session(6, [Replica(1, 1), Replica(1, 2)])
    assert len(send(switch, "060000")) == 4095
    assert switch.drops["work limit"] > 0
    switch.drops.clear()
    switch.set_clone_session(6, None)
    assert len(send(switch, "060000")) == 1


def test_every_packet_is_accounted_for() -> None:
    """In plus copies made = out plus drops."""
    switch = engine("multicast")
    switch.set_multicast_group(1, [Replica(number, number) for number in range(1, 5)])
    for op in range(4):
        for group in range(3):
            switch.inject(0, bytes([op, 0, group]), 0)
    out = switch.drain(0)
    # Op 1 drops in ingress whatever the group, op 2 without a group; op 3 drops the copy with rid 2.
    assert switch.drops == {"ingress": 4, "unknown multicast group": 3, "egress": 1}
    assert len(out) == 2 + 3 * 4 - 1


def test_the_drop_port_is_a_setting() -> None:
    switch = engine("counters", drop_port=1)
    assert send(switch, "990000") == []
    assert switch.drops == {"ingress": 1}
    assert DROP_PORT == 511


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda e: e.set_multicast_group(0, []), "multicast group: found 0"),
        (lambda e: e.set_multicast_group(65_536, []), "65536"),
        (lambda e: e.set_clone_session(32_768, []), "clone session: found 32768"),
        (lambda e: e.set_clone_session(-1, []), "-1"),
    ],
)
def test_wrong_groups_and_sessions(change: Callable[[Engine], object], found: str) -> None:
    with pytest.raises(InputError, match=found):
        change(engine("clone"))


def test_equal_replicas_are_one() -> None:
    switch = engine("multicast")
    switch.set_multicast_group(1, [Replica(1, 2), Replica(1, 2), Replica(0, 1)])
    assert len(send(switch, "000001")) == 2
