"""Data that is computed where it is looked at, and a write of it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.nic.events import FrameOut, PostWrite
from pymodel.nic.pattern import Pattern
from tests.nic.harness import Pair
from tests.nic.peer import BASE, OWN_QPN, device, frames, sack


@given(st.integers(0, 200_000), st.integers(0, 200_000), st.integers(0, 200_000))
def test_slices_are_those_of_bytes(length, start, stop):
    whole = bytes(Pattern(length, 3)[:])
    assert len(Pattern(length, 3)) == len(whole) == length
    assert Pattern(length, 3)[start:stop] == whole[start:stop]


def test_what_stands_where_depends_on_seed_and_place():
    first, second = Pattern(1 << 20, 1)[:], Pattern(1 << 20, 2)[:]
    assert first != second
    assert first[: 1 << 19] != first[1 << 19 :]
    draw = random.Random(1)
    for _ in range(100):
        at = draw.randrange(1 << 20)
        assert Pattern(1 << 32, 1)[at : at + 9] == first[at : at + 9]


def test_what_makes_no_pattern_is_refused():
    with pytest.raises(InputError):
        Pattern(-1)
    with pytest.raises(InputError):
        Pattern(5)[::2]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview], ids=lambda kind: kind.__name__)
def test_a_write_of_whatever_is_sliced(kind):
    data = Pattern(10_001, 7)
    pair = Pair()
    pair.write(kind(data[:]))
    pair.run()
    assert bytes(pair.memory[:10_001]) == data[:]
    other = Pair()
    other.write(data)
    other.run()
    assert other.memory == pair.memory


@pytest.mark.parametrize("mtu", [256, 1024, 8192])
def test_the_longest_write_is_cut_right_at_both_ends(mtu):
    """2^32 - 1 bytes: the first packets, and those that a window over the last ones would hold."""
    length = (1 << 32) - 1
    nic = device(mtu=mtu, mpr_units=1, send_psn=0, ack_timeout=20)
    work = PostWrite(OWN_QPN, 1, Pattern(length), BASE, 5)
    sent = frames(nic.handle(work, 0))
    assert [(f.reth.va - BASE, f.reth.dma_length, len(f.payload)) for f in sent[:2]] == [
        (0, length, mtu),
        (mtu, length, mtu),
    ]
    message = nic.qp(OWN_QPN).requester.work.open[0]
    assert message.packets == -(-length // mtu)
    message.sent = message.acknowledged = message.packets - 2  # all but two packets later
    actions = nic.handle(sack(len(sent) - 1), 1000)
    last = [f for f in frames([a for a in actions if isinstance(a, FrameOut)]) if f.is_write]
    assert [(f.reth.va - BASE + len(f.payload)) for f in last] == [length - length % mtu, length]
    assert len(last[-1].payload) == length % mtu


def test_r09_one_byte_more_is_refused():
    with pytest.raises(InputError, match="at most 4294967295 bytes"):
        device().handle(PostWrite(OWN_QPN, 1, Pattern(1 << 32), BASE, 5), 0)
