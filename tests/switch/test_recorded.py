"""BMv2's recorded answers to random frames through `p4/mrc_switch.p4`: the embedded switch gives the same.

What a machine with BMv2 adds is that the record is still BMv2's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from pymodel.base.errors import InputError
from pymodel.paths.tables import FIRST_SID, SECOND_SID
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.p4runtime.info import ProgramInfo
from pymodel.switch.program import mrc_switch
from pymodel.wire.spec import CPU_PORT, PuntReason
from tests.switch.recorded import record as recorded
from tests.switch.recorded.generate import FRAMES_PER_TABLE, TABLES, workload
from tests.switch.recorded.record import COMMAND, Record, Recorder, difference

LIVE = range(0, TABLES, TABLES // 5)
"""Tables that are run on BMv2 again."""

IMPOSSIBLE = {"drop_punt_limit"}
"""Counters that no meter or queue of these tables can touch."""


@pytest.fixture(scope="module")
def record() -> Record:
    return recorded.read()


@pytest.fixture(scope="module")
def embedded() -> Iterator[Recorder]:
    with EmbeddedSwitch() as switch:
        recorder = Recorder(switch)
        yield recorder
        recorder.finish()


def test_20_000_frames_are_recorded(record: Record) -> None:
    answers = [line for table in record.tables for line in table if not line.startswith("count ")]
    assert [int(line.split(" ", 1)[0]) for line in answers] == list(range(20_000))
    assert recorded.PATH.stat().st_size < 1_000_000


def test_recorded_frames_reach_every_cause_and_behaviour(record: Record) -> None:
    """Guards the generator: what it never produces is compared by nobody."""
    total: Counter[str] = Counter()
    for table in record.tables:
        for line in table:
            if line.startswith("count "):
                _, name, *rest = line.split(" ")
                total[name] += int(rest[-2])
    for work in map(workload, range(TABLES)):
        hit = {line.rsplit(" ", 2)[0] for line in record.tables[work.number]}
        for entry in work.entries:
            if entry.table in (FIRST_SID, SECOND_SID):
                address, length = entry.match["dst"]  # type: ignore[misc]
                total[entry.action] += f"count {entry.table} {address:032x}/{length}" in hit
    info = ProgramInfo.read(mrc_switch().p4info_path)
    names = {counter.name for counter in info.counters if counter.size == 1} - IMPOSSIBLE
    names |= {
        f"port_out[{CPU_PORT}]",
        f"port_in[{CPU_PORT}]",
        *(f"punted[{reason}]" for reason in PuntReason if reason),
    }
    names |= {f"{kind}[{port}]" for kind in ("trimmed", "ecn_marked") for port in range(6)}
    names |= {
        f"{place}.{name}"
        for place in ("first", "second")
        for name in ("PSP", "USP", "USD", "USD_uniform", "DT6", "DT6_uniform")
    }
    names |= {
        use.action.name
        for table in info.tables
        if table.name in (FIRST_SID, SECOND_SID)
        for use in table.actions
        if use.in_entries
    }
    assert {name: total[name] for name in names if total[name] < 8} == {}
    assert sum(total[f"port_out[{port}]"] for port in range(6)) > 5_000


@pytest.mark.parametrize("fifth", range(5))
def test_embedded_switch_answers_as_bmv2_did(record: Record, embedded: Recorder, fifth: int) -> None:
    for number in range(fifth, TABLES, 5):
        work = workload(number)
        assert difference(work, record.tables[number], embedded.answers(work)) is None


@pytest.mark.bmv2
@pytest.mark.slow
def test_bmv2_answers_as_it_did(record: Record) -> None:
    with Bmv2Switch() as switch:
        recorder = Recorder(switch)
        for number in LIVE:
            work = workload(number)
            assert difference(work, record.tables[number], recorder.answers(work)) is None
        recorder.finish()


def test_a_difference_is_told_with_its_frame(record: Record) -> None:
    work, lines = workload(1), record.tables[1]
    place = next(place for place, line in enumerate(lines) if "drop" not in line and "controller" not in line)
    number, port, frame = lines[place].split()
    changed = f"{frame[:-1]}{int(frame[-1], 16) ^ 1:x}"
    told = difference(work, lines, [*lines[:place], f"{number} {port} {changed}", *lines[place + 1 :]])
    assert told is not None
    for part in (f"table 1, {number}", f"BMv2 {port} {frame}", f"found {port} {changed}"):
        assert part in told
    assert work.frames[int(number) - FRAMES_PER_TABLE][1].hex() in told
    assert "packets" in str(difference(work, lines, [*lines[:-1], lines[-1] + "9"]))
    assert "found nothing" in str(difference(work, lines, lines[:-1]))
    assert "twice" in str(difference(work, lines, [*lines, lines[-1]]))


@pytest.mark.parametrize("hashed", ["program_hash", "inputs_hash"])
def test_stale_record_names_the_command(monkeypatch: pytest.MonkeyPatch, hashed: str) -> None:
    monkeypatch.setattr(recorded, hashed, lambda: "other")
    with pytest.raises(InputError, match=COMMAND.replace(".", r"\.")):
        recorded.read()
