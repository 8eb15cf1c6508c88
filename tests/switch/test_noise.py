"""Random bytes into a T0 of a fabric: nothing raises, nothing leaves, every frame is counted in and dropped once."""

from __future__ import annotations

import random
from collections import Counter
from socket import IPPROTO_IPV6, IPPROTO_ROUTING, IPPROTO_UDP

import pytest

from pymodel.paths.tables import switch_entries
from pymodel.paths.topology import Topology
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from tests.switch.bench import Bench
from tests.switch.rows.admission import LONGEST, NODE

FRAMES, FRAMES_ON_BMV2, BURST = 100_000, 10_000, 1_000
TOPOLOGY = Topology()
PORTS = TOPOLOGY.port_count(TOPOLOGY.switch("p0-t0-0"))


def noise(rng: random.Random) -> tuple[int, bytes]:
    """Port and bytes: noise from the first byte on, or from behind a header that a parser takes."""
    heads = (
        b"",
        rng.randbytes(12) + b"\x86\xdd",
        rng.randbytes(12)
        + b"\x86\xdd\x60"
        + rng.randbytes(5)
        + bytes([rng.choice((IPPROTO_UDP, IPPROTO_IPV6, IPPROTO_ROUTING))]),
        rng.randbytes(12) + b"\x86\xdd\x60" + rng.randbytes(3) + b"\0\0\x2b" + rng.randbytes(33) + b"\x29\x02\x04",
    )
    return rng.randrange(PORTS), rng.choice(heads) + rng.randbytes(rng.randint(1, 160))


@pytest.mark.slow
def test_noise_goes_nowhere(switch: EmbeddedSwitch | Bmv2Switch) -> None:
    bench = Bench(switch)
    bench.program(tuple(switch_entries(TOPOLOGY, TOPOLOGY.switch("p0-t0-0"))))
    frames = FRAMES_ON_BMV2 if isinstance(switch, Bmv2Switch) else FRAMES
    rng = random.Random(8)
    causes: Counter[str] = Counter()
    for _ in range(frames // BURST):
        came = bench.forward([noise(rng) for _ in range(BURST)])
        counts = came.totals()
        assert (came.out, came.punts) == ([], [])
        assert counts.pop("port_in") == BURST
        assert counts.total() == BURST
        causes += counts
    # The noise gets as far as noise can: no address in it is a route's.
    assert {"drop_parser_error", "drop_not_ipv6", "drop_truncated", "drop_martian", "drop_no_route"} == causes.keys()


def test_every_cut_of_a_frame_goes_nowhere(switch: EmbeddedSwitch | Bmv2Switch) -> None:
    """P15, at every byte: a frame that ends too early leaves no switch, wherever it ends."""
    bench = Bench(switch)
    bench.program(NODE)
    whole = LONGEST.at(1)
    came = bench.forward([(1, whole[:end]) for end in range(1, len(whole) + 1)])
    assert len(came.out) == 1
    # Behind the inner header (the last 64 bytes but 40) nothing is parsed, and the length alone tells.
    behind = 64 - 40
    assert came.totals() == {
        "port_in": len(whole),
        "port_out": 1,
        "drop_parser_error": len(whole) - behind - 1,
        "drop_truncated": behind,
    }
