"""The NIC's benchmark in small: every packet is sent, answered and compared, and memory stays where it was."""

from __future__ import annotations

import tracemalloc

import pytest

from pymodel.base.errors import InputError
from pymodel.bench import nic
from pymodel.bench.nic import BackToBack
from pymodel.wire.parser import parse
from pymodel.wire.spec import Opcode


def ignore(done: int, total: int) -> None:
    assert 0 <= done < total


def test_the_work_is_what_it_says() -> None:
    pair = BackToBack()
    opcodes: dict[int, int] = {}
    give = pair._give

    def count(who: int, event: object) -> None:
        data = getattr(event, "data", None)
        frame = parse(data) if isinstance(data, bytes) and hasattr(event, "port") else None
        if frame is not None:
            opcodes[frame.opcode] = opcodes.get(frame.opcode, 0) + 1  # type: ignore[union-attr]
        give(who, event)  # type: ignore[arg-type]

    pair._give = count  # type: ignore[method-assign, assignment]
    pair.run(640)
    messages = 640 * nic.MTU // nic.MESSAGE
    data = {opcode: opcodes[opcode] for opcode in (Opcode.WRITE_FIRST, Opcode.WRITE_MIDDLE, Opcode.WRITE_LAST)}
    assert data == {Opcode.WRITE_FIRST: messages, Opcode.WRITE_MIDDLE: 640 - 2 * messages, Opcode.WRITE_LAST: messages}
    assert 160 <= opcodes[Opcode.SACK] <= 160 + messages, "one for each 16 KiB, and those that are asked for"
    assert pair.completed == messages
    requester = pair.devices[0].qp(16).requester
    assert sum(slot.sent for slot in requester.evs.slots()) == 640, "nothing sent twice"
    assert requester.evs.retired == []


def test_memory_does_not_grow() -> None:
    pair = BackToBack()
    pair.run(640)
    tracemalloc.start()
    pair.run(640)
    before, _ = tracemalloc.get_traced_memory()
    pair.run(1920)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 64 * 1024


def test_figures() -> None:
    rate, memory = nic.measure(ignore, packets=640, rounds=1).figures
    assert (rate.name, memory.name) == nic.FIGURES
    assert (rate.unit, memory.unit) == ("packets/s", "MiB")
    assert rate.value > 100
    assert 10 < memory.value < 300


def test_bytes_that_differ_are_told() -> None:
    pair = BackToBack()
    pair._data = bytes(nic.MESSAGE - 1) + b"x"
    pair._memory = bytearray(nic.MESSAGE)
    give = pair._give

    def spoil(who: int, event: object) -> None:
        give(who, event)  # type: ignore[arg-type]
        pair._memory[-1] = 0

    pair._give = spoil  # type: ignore[method-assign, assignment]
    with pytest.raises(InputError, match="other bytes than were written"):
        pair.run(64)


def test_a_process_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nic, "_COMMAND", ("-c", "import sys; sys.exit('no')"))
    with pytest.raises(InputError, match=r"nic\.back_to_back: found exit code 1 \(no\)"):
        nic.measure(ignore, packets=64, rounds=1)
