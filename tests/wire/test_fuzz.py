"""Any bytes give a frame or a `ParseError`: hypothesis, and 100,000 random and mutated frames."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.wire import Frame, ParseError, parse
from pymodel.wire.spec import Opcode
from tests.wire.samples import sample, samples

FRAMES = 100_000
JUMBO = 9_216


def touch(parsed: Frame | ParseError) -> None:
    """Read everything that a receiver might read."""
    if isinstance(parsed, ParseError):
        assert parsed.offset >= 0
        assert str(parsed)
        return
    headers = parsed.headers()
    assert sum(header.SIZE for header in headers) <= len(parsed.data)
    assert parsed.payload_start <= parsed.payload_end <= parsed.end <= len(parsed.data)
    assert len(parsed.payload) == parsed.payload_end - parsed.payload_start
    assert 0 <= parsed.ev < 1 << 32
    if parsed.is_write and not parsed.trimmed:
        assert parsed.write_fields().dma_length >= 0


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    touch(parse(data))
    touch(parse(data, check_icrc=False))


@given(st.sampled_from(samples()), st.data())
def test_any_change_of_a_good_frame(row: tuple[str, Opcode, bytes], data: st.DataObject) -> None:
    frame = bytearray(row[2])
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(12, len(frame) - 1))] = data.draw(st.integers(0, 255))
    touch(parse(bytes(frame[: data.draw(st.integers(0, len(frame)))])))
    touch(parse(bytes(frame), check_icrc=False))


def mutations(random: Random, count: int) -> Iterator[bytes]:
    """Frames from nothing but noise, and good ones with bytes changed, cut off, put in or repeated."""
    good = [data for _, _, data in samples()] + [sample(Opcode.WRITE_FIRST, payload=bytes(8192))]
    for number in range(count):
        kind = number % 4
        if kind == 0:
            size = random.randrange(JUMBO) if number % 64 == 0 else random.randrange(200)
            yield random.randbytes(size)
            continue
        data = bytearray(random.choice(good))
        for _ in range(random.randrange(1, 5)):
            data[random.randrange(min(len(data), 160))] = random.randrange(256)
        if kind == 2:
            del data[random.randrange(len(data)) :]
        elif kind == 3:
            at = random.randrange(len(data))
            data[at:at] = random.randbytes(random.randrange(64))
        yield bytes(data)


def test_100000_random_and_mutated_frames() -> None:
    random = Random(0x4D5243)
    refused: dict[str, int] = {}
    for data in mutations(random, FRAMES):
        # Half without the ICRC check, or nearly no changed frame would get past it.
        parsed = parse(data, check_icrc=bool(random.getrandbits(1)))
        touch(parsed)
        name = parsed.cause.name if isinstance(parsed, ParseError) else "frame"
        refused[name] = refused.get(name, 0) + 1
    assert sum(refused.values()) == FRAMES
    assert {"frame", "TOO_SHORT", "ETHERTYPE", "IP_LENGTH", "ICRC", "OPCODE", "SRH"} <= set(refused)


@pytest.mark.parametrize("row", samples(), ids=lambda row: row[0])
def test_no_single_bit_error_behind_the_inner_header_is_taken_for_a_good_frame(row: tuple[str, Opcode, bytes]) -> None:
    data = row[2]
    frame = parse(data)
    assert isinstance(frame, Frame)
    start = data.rindex(frame.bth.pack())
    for at in range(start, len(data)):
        if at == start + 4:
            continue  # reserved_variant is masked
        for bit in range(8):
            damaged = bytearray(data)
            damaged[at] ^= 1 << bit
            assert isinstance(parse(bytes(damaged)), ParseError), (at, bit)
