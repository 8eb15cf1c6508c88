"""BMv2's answers to 20,000 random frames through `p4/mrc_switch.p4`, kept in `answers.txt.gz` (text; zcat shows it).

A machine without BMv2 compares the embedded switch with them, byte for byte and counter for counter. They are made
anew, in about a minute, by ``python -m tests.switch.recorded.record``; `read` refuses those of another program.

A line for each frame, ``NUMBER PORT HEX``, ``NUMBER controller REASON POINTER INGRESS-PORT HEX`` or ``NUMBER drop``,
then a line for each counter, or table entry with a counter, that the table's frames changed.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymodel.base.errors import InputError
from pymodel.base.toolpath import version
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.program import mrc_switch
from pymodel.switch.target import Count
from tests.switch.bench import Bench
from tests.switch.recorded.generate import FRAMES_PER_TABLE, TABLES, Workload, inputs_hash, workload

__all__ = ["COMMAND", "PATH", "Record", "Recorder", "difference", "program_hash", "read"]

PATH = Path(__file__).parent / "answers.txt.gz"
COMMAND = "python -m tests.switch.recorded.record"
_SOURCE_MAC = slice(6, 12)
_BEHIND = 4  # bytes at the end of a source MAC that hold the frame's number


@dataclass(frozen=True, slots=True)
class Record:
    """The recorded answers: what they stand for, and the lines of each table."""

    program: str
    inputs: str
    bmv2: str
    tables: tuple[tuple[str, ...], ...]


class Recorder(Bench):
    """A switch that gives its answers as lines."""

    def answers(self, work: Workload) -> list[str]:
        """Program the table of `work`, send its frames one by one, and tell what came of each and what was counted."""
        self.program(())  # direct counters begin anew with their entries
        self.program(work.entries)
        answers: list[list[str]] = []
        for port, frame in work.frames:
            self.switch.inject(port, frame, 0)
            answers.append([f"{out} {data.hex()}" for _, out, data in self.switch.drain(0)])
        came = self.forward([])  # the packet-ins, and what was counted
        assert came.out == []
        first = work.number * FRAMES_PER_TABLE
        for reason, pointer, port, frame in came.punts:
            number = int.from_bytes(frame[_SOURCE_MAC][-_BEHIND:], "big")
            answers[number - first].append(f"controller {reason} {pointer} {port} {frame.hex()}")
        lines = [f"{first + place} {', '.join(sorted(answer)) or 'drop'}" for place, answer in enumerate(answers)]
        return lines + [f"count {name} {_shown(count)}" for name, count in sorted(came.counts.items())] + self._hits()

    def _hits(self) -> list[str]:
        """What the direct counters hold, by table and prefix; those of constant entries are told as they rise."""
        client = self.switch.control.client
        hits = []
        for table in client.info.tables:
            if table.direct_counter and not table.is_const:
                for entry, count in client.read_direct_counters(table.name):
                    if count.packets:
                        address, length = entry.match.get("dst", (0, 0))  # type: ignore[misc]
                        hits.append(f"count {table.name} {address:032x}/{length} {_shown(count)}")
        return sorted(hits)


def _shown(count: Count) -> str:
    return f"{count.packets} {count.bytes}"


def difference(work: Workload, recorded: Sequence[str], found: Sequence[str]) -> str | None:
    """The first line in which two sets of answers to `work` differ, told with the frame that it is about."""
    if tuple(recorded) == tuple(found):
        return None
    kept, came = dict(map(_keyed, recorded)), dict(map(_keyed, found))
    for key in dict.fromkeys([*kept, *came]):
        if kept.get(key) != came.get(key):
            told = f"table {work.number}, {key}: BMv2 {kept.get(key, 'nothing')}, found {came.get(key, 'nothing')}"
            if key.isdecimal():
                port, frame = work.frames[int(key) % FRAMES_PER_TABLE]
                told += f"; the frame, on port {port}, is {frame.hex()}"
            return told
    return f"table {work.number}: the same lines in another order, or twice"


def _keyed(line: str) -> tuple[str, str]:
    if line.startswith("count "):
        name, packets, octets = line.rsplit(" ", 2)
        return name, f"{packets} packets, {octets} bytes"
    number, answer = line.split(" ", 1)
    return number, answer


# --- the file ---


def program_hash() -> str:
    """SHA-256 of the compiled program, without the places in its sources, which a comment would move."""
    compiled = json.loads(mrc_switch().json_path.read_bytes())
    return hashlib.sha256(json.dumps(_without_places(compiled), sort_keys=True).encode()).hexdigest()


def _without_places(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _without_places(value) for key, value in part.items() if key != "source_info"}
    return [_without_places(value) for value in part] if isinstance(part, list) else part


def read() -> Record:
    """The committed record; InputError when it is of another program, or of other frames."""
    record = _parsed(gzip.decompress(PATH.read_bytes()).decode())
    for what, kept, present in (
        ("another compiled program", record.program, program_hash()),
        ("other tables and frames", record.inputs, inputs_hash()),
    ):
        if kept != present:
            raise InputError(PATH.name, f"BMv2's answers to {what}", f"`{COMMAND}`, with BMv2, to be run again")
    return record


def _parsed(text: str) -> Record:
    heading, *tables = text.split("table\n")
    fields = dict(line.split(" ", 1) for line in heading.splitlines())
    return Record(fields["program"], fields["inputs"], fields["bmv2"], tuple(tuple(one.splitlines()) for one in tables))


def _text(recorder: Recorder) -> Iterator[str]:
    yield f"program {program_hash()}\ninputs {inputs_hash()}\nbmv2 {version('simple_switch_grpc')}\n"
    for number in range(TABLES):
        yield "table\n" + "".join(f"{line}\n" for line in recorder.answers(workload(number)))


def _main() -> None:
    with Bmv2Switch() as switch:
        recorder = Recorder(switch)
        text = "".join(_text(recorder))
        recorder.finish()
    PATH.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{PATH.name}: {TABLES * FRAMES_PER_TABLE} frames, {PATH.stat().st_size} bytes")


if __name__ == "__main__":
    _main()
