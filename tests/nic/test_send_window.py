"""The requester's window: limits, what SACKs do to it, and a restatement over unbounded integers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.nic.send_window import PacketState, SendWindow, mpr_from_psns, mpr_to_psns

MOD = 1 << 24
SIZE = 100


@pytest.mark.parametrize(("units", "psns"), [(1, 128), (2, 256), (8, 1024), (255, 32640)])
def test_s01_mpr_counts_in_units_of_128(units, psns):
    assert mpr_to_psns(units) == psns
    assert mpr_from_psns(psns) == units


@pytest.mark.parametrize("units", [0, 256, -1])
def test_s01_mpr_beyond_its_field_is_refused(units):
    with pytest.raises(InputError):
        mpr_to_psns(units)


@pytest.mark.parametrize("psns", [0, 127, 129, 32641, 32768])
def test_s01_windows_that_no_mpr_says_are_refused(psns):
    with pytest.raises(InputError):
        mpr_from_psns(psns)


def sent(first_psn, count, mpr=128):
    window = SendWindow(first_psn, mpr)
    for _ in range(count):
        send_new(window)
    return window


def send_new(window):
    window.send_new(None, 0, SIZE, [None])


def missing(window):
    return [index for index in range(window.next_index) if window.unacknowledged(window.psn(index)) is not None]


ACKNOWLEDGEMENTS = [
    # name, cack relative to the first PSN, base offset, bitmap, packets acknowledged for the first time
    ("nothing", -1, 1, 0, []),
    ("cumulative", 4, 1, 0, [0, 1, 2, 3, 4]),
    ("one bit", -1, 1, 0b100, [2]),
    ("both", 1, 1, 0b10, [0, 1, 3]),
    ("base far from cack", 0, 5, 0b11, [0, 5, 6]),
    ("base below cack", 3, -2, 0b1011111, [0, 1, 2, 3, 4, 5, 7]),
    ("the highest sent", 8, 1, 0b1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ("cack never sent", 10, 1, 0, None),
    ("a bit never sent", 8, 1, 0b10, None),
    ("half the space away", 1 << 23, 1, 0, []),
]


@pytest.mark.parametrize("first_psn", [0, MOD - 1, MOD - 5, 12345])
@pytest.mark.parametrize(
    ("cack", "offset", "bitmap", "expected"),
    [row[1:] for row in ACKNOWLEDGEMENTS],
    ids=[r[0] for r in ACKNOWLEDGEMENTS],
)
def test_s06_acknowledgements(first_psn, cack, offset, bitmap, expected):
    window = sent(first_psn, 10)
    newly = window.acknowledge((first_psn + cack) % MOD, offset, bitmap)
    assert (newly if newly is None else [packet.index for packet in newly]) == expected
    gone = expected or []
    assert missing(window) == [index for index in range(10) if index not in gone]
    assert window.inflight == SIZE * (10 - len(gone))


def test_s08_a_packet_acknowledged_while_it_waits_to_be_sent_again():
    window = sent(0, 4)
    window.lose(window.unacknowledged(1))
    assert window.inflight == 3 * SIZE
    assert [packet.index for packet in window.acknowledge(MOD - 1, 1, 0b10)] == [1]
    assert window.inflight == 3 * SIZE, "it had left when it was declared lost"
    assert window.next_lost() is None
    assert window.acknowledge(MOD - 1, 1, 0b10) == []


def test_lost_packets_come_back_oldest_first_and_within_the_limit():
    window = sent(MOD - 2, 6)
    for index in (4, 1, 3):
        window.lose(window.unacknowledged(window.psn(index)))
    window.mpr = 4
    order = []
    while (packet := window.next_lost()) is not None:
        order.append(packet.index)
        window.send_again(packet, None)
    assert order == [1, 3], "packet 4 lies beyond cack + MPR"
    window.acknowledge(window.psn(0), 1, 0)
    assert window.next_lost().index == 4


def test_a_refused_packet_narrows_the_limit_until_cack_moves():
    window = sent(0, 10)
    packet = window.unacknowledged(6)
    window.lose(packet)
    window.refused(packet)
    assert window.limit == 6
    window.acknowledge(0, 1, 0)
    assert window.limit == 1 + 128
    window.refused(window.unacknowledged(1))
    assert window.limit == 2, "the oldest packet may always go"


def test_packets_are_overtaken_by_new_ones_only():
    window = sent(0, 10)
    window.acknowledge(MOD - 1, 1, 0b11_1110)  # 1 to 5
    assert [packet.index for packet in window.overtaken(5)] == [0]
    assert window.overtaken(6) == []
    packet = window.unacknowledged(0)
    window.lose(packet)
    window.send_again(packet, None)  # again, behind packet 9
    window.acknowledge(MOD - 1, 1, 0b11_1111_1110)  # 1 to 9
    assert window.overtaken(1) == []
    for _ in range(5):
        send_new(window)
    window.acknowledge(MOD - 1, 1, 0b0111_1111_1111_1110)  # 1 to 14
    assert [packet.index for packet in window.overtaken(5)] == [0]


class Restated:
    """The same over plain sets and unwrapped numbers."""

    def __init__(self):
        self.sent = 0
        self.acked = set()
        self.lost = set()

    def sack(self, cack, base, bits):
        told = set(range(cack + 1)) | {base + bit for bit in bits}
        if any(index >= self.sent for index in told):
            return None
        newly = {index for index in told if index >= 0} - self.acked
        self.acked |= newly
        self.lost -= newly
        return sorted(newly)


STEP = st.one_of(
    st.tuples(st.just("send"), st.integers(1, 20)),
    st.tuples(st.just("lose"), st.integers(0, 150)),
    st.tuples(st.just("again"), st.just(0)),
    st.tuples(st.just("sack"), st.integers(-5, 40), st.integers(-3, 70), st.sets(st.integers(0, 63), max_size=12)),
)


@given(st.one_of(st.sampled_from([0, MOD - 3, MOD - 64]), st.integers(0, MOD - 1)), st.lists(STEP, max_size=40))
def test_s06_equals_the_rules_restated(first_psn, steps):
    window, restated = SendWindow(first_psn, 128), Restated()
    for step in steps:
        match step:
            case ("send", count):
                for _ in range(count):
                    if window.next_index < window.limit:
                        send_new(window)
                        restated.sent += 1
            case ("lose", index):
                packet = window.unacknowledged(window.psn(window.unack_index + index))
                if packet is not None and packet.state is PacketState.IN_FLIGHT:
                    window.lose(packet)
                    restated.lost.add(packet.index)
            case ("again", _):
                packet = window.next_lost()
                assert (packet and packet.index) == (min(restated.lost) if restated.lost else None)
                if packet is not None:
                    window.send_again(packet, None)
                    restated.lost.remove(packet.index)
            case ("sack", ahead, offset, bits):
                cack = window.unack_index - 1 + ahead
                newly = window.acknowledge(window.psn(cack), offset, sum(1 << bit for bit in bits))
                expected = restated.sack(cack, cack + offset, bits)
                assert (newly if newly is None else [packet.index for packet in newly]) == expected
        outstanding = set(range(restated.sent)) - restated.acked
        assert set(missing(window)) == outstanding
        assert window.inflight == SIZE * len(outstanding - restated.lost)
        assert window.unack_index == min(outstanding, default=restated.sent)
