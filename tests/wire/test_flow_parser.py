"""The parser with a memory finds what the plain one finds, in every frame, however good or bad the ones before."""

from __future__ import annotations

import pickle
from random import Random

import pytest

from pymodel.wire import Frame, ParseError, parse
from pymodel.wire.flow_parser import FlowParser
from pymodel.wire.headers import PackedHeader
from pymodel.wire.icrc import icrc
from pymodel.wire.spec import DscpMap, EvSplit, Opcode, WireOptions
from tests.wire.samples import sample, samples

INNER = 14 + 40
SLOTS = [name for name in Frame.__slots__ if name != "_options"]


def found(result: Frame | ParseError) -> object:
    return result if isinstance(result, ParseError) else [getattr(result, name) for name in SLOTS]


def mutated(random: Random, data: bytes, good_icrc: bool) -> bytes:
    changed = bytearray(data)
    for _ in range(random.randrange(3)):
        at = random.choice((random.randrange(len(changed)), random.randrange(min(len(changed) - 1, 100), len(changed))))
        changed[at] = random.choice((0, 1, 0x10, 0xFF, random.randrange(256)))
    if random.randrange(8) == 0:
        changed += bytes(random.randrange(1, 5))
    if random.randrange(8) == 0:
        del changed[random.randrange(len(changed)) :]
    if good_icrc and len(changed) > INNER + 64:
        changed[-4:] = icrc(changed[INNER:-4]).to_bytes(4, "little")
    return bytes(changed)


@pytest.mark.parametrize(
    "options",
    [WireOptions(), WireOptions(ev_split=EvSplit.SOURCE_PORT_HIGH, dscp=DscpMap(trimmed=0x04, trimmable=12))],
    ids=["defaults", "others"],
)
def test_equals_parse(options: WireOptions) -> None:
    random, parser = Random(5), FlowParser(options)
    good = [data for _, _, data in samples()]
    kept = bad = 0
    for number in range(20_000):
        data = mutated(random, random.choice(good), good_icrc=number % 2 == 0)
        result = parser.parse(data)
        assert found(result) == found(parse(data, options)), data.hex()
        kept, bad = kept + isinstance(result, Frame), bad + isinstance(result, ParseError)
    assert kept > 4000
    assert bad > 4000


def test_a_flow_is_parsed_once_and_kept_apart_from_others() -> None:
    parser = FlowParser()
    for opcode in Opcode:
        data = sample(opcode)
        for _ in range(3):
            frame = parser.parse(data)
            assert found(frame) == found(parse(data))
            assert isinstance(frame, Frame)
            assert [header.pack() for header in frame.headers()] == [h.pack() for h in headers(data)]
    assert pickle.loads(pickle.dumps(parser)).options == parser.options


def headers(data: bytes) -> list[PackedHeader]:
    frame = parse(data)
    assert isinstance(frame, Frame)
    return frame.headers()


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pymodel.wire.flow_parser._FLOWS_MAX", 4)
    parser = FlowParser()
    for size in range(0, 400, 4):
        data = sample(Opcode.WRITE_ONLY, payload=bytes(size))
        for _ in range(2):
            assert found(parser.parse(data)) == found(parse(data))
        assert len(parser._flows) <= 4
