"""mrc_icrc against `pymodel.wire.icrc`, which divides with zlib, and against packets captured by others.

Packets follow each other without a gap, so that each length meets every other's end.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Design, build, read_file_list
from pymodel.rtl.simulate import record, simulate
from pymodel.wire.headers import Bth, Ipv4, Ipv6, Udp
from pymodel.wire.icrc import icrc
from pymodel.wire.spec import ICRC_BYTES, IP_VERSION_6

MODULE = "cocotb_tests.test_mrc_icrc"
BEAT_BYTES = 64
LATENCY = 3
# scapy's test/contrib/roce.uts, and mrc-facts.md A.3: packet and ICRC
OUTSIDE = [
    "45010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf1710"
    "4630818be28935d90e9a95505401be885e50000078f353f3",
    "62a001230038114020010db800000001000000000000000120010db8000000020000000000000002c45612b700380000"
    "ca00ffff000001239000abcd000000071234000100007f000000100000c0ffee000000080001020304050607f045c3fc",
]
FRONT_4, FRONT_6 = Ipv4.SIZE + Udp.SIZE + Bth.SIZE, Ipv6.SIZE + Udp.SIZE + Bth.SIZE
# Bytes of a packet that count as ones, whole or in part (mrc-facts.md 1.13), from the IP header on
MASKED_4, MASKED_6 = {1, 8, 10, 11, 26, 27, 32}, {0, 1, 2, 3, 7, 46, 47, 52}


def vectors(packet: bytes, rng: random.Random) -> list[int]:
    """The drive vectors that carry a packet with its ICRC; what stands behind it is junk."""
    ipv6 = packet[0] >> 4 == IP_VERSION_6
    result = []
    for at in range(0, len(packet), BEAT_BYTES):
        piece = packet[at : at + BEAT_BYTES]
        rest = BEAT_BYTES - len(piece)
        data = int.from_bytes(piece + rng.randbytes(rest), "big")
        keep = (1 << BEAT_BYTES) - (1 << rest)
        zeros = -len(packet) % BEAT_BYTES
        result.append(data | keep << 512 | zeros << 576 | ipv6 << 582 | (at == 0) << 583 | 1 << 584)
    return result


def packet(rng: random.Random, front: int, length: int) -> bytes:
    """A packet of `length` bytes, ICRC included, that begins with `front` bytes of IP, UDP and BTH."""
    data = bytearray(rng.randbytes(length - ICRC_BYTES))
    data[0] = data[0] & 0x0F | (IP_VERSION_6 if front == FRONT_6 else 4) << 4
    return bytes(data) + icrc(data).to_bytes(ICRC_BYTES, "little")


async def check(dut: Any, packets: list[tuple[bytes, bool]], seed: int, idle: float = 0.0) -> None:
    """Send `packets`, with an idle clock ahead of a beat with probability `idle`, and compare each in its clock."""
    rng = random.Random(seed)
    timeline: list[tuple[int, int | None]] = []  # what is driven, and the packet that ends
    for number, (data, _) in enumerate(packets):
        for vector in vectors(data, rng):
            while rng.random() < idle:
                timeline.append((rng.getrandbits(584), None))
            timeline.append((vector, None))
        timeline[-1] = (timeline[-1][0], number)
    timeline += [(rng.getrandbits(584), None)] * LATENCY

    Clock(dut.clk, 4, unit="ns").start(start_high=False)
    edge, drive, good = RisingEdge(dut.clk), dut.drive, dut.good
    for clock, (vector, _) in enumerate(timeline):
        drive.value = vector
        await edge
        # What is driven here is taken at this edge, and the result of LATENCY clocks before shows ahead of it.
        ended = timeline[clock - LATENCY][1] if clock >= LATENCY else None
        if ended is not None:
            data, expected = packets[ended]
            assert bool(good.value) == expected, f"packet {ended} of {len(data)} bytes"


@cocotb.test()
async def packets_of_others_R02(dut: Any) -> None:  # noqa: N802 - the id of the reported bug
    """Captured packets are good, and no longer with any one bit changed that the ICRC covers."""
    rng = random.Random(2)
    packets = []
    for text in OUTSIDE:
        whole = bytes.fromhex(text)
        packets.append((whole, True))
        masked = MASKED_6 if whole[0] >> 4 == IP_VERSION_6 else MASKED_4
        for at in range(1, len(whole)):
            wrong = bytearray(whole)
            wrong[at] ^= 1 << rng.randrange(8)
            if at not in masked:
                packets.append((bytes(wrong), False))
    await check(dut, packets, 2)


@cocotb.test()
async def every_length(dut: Any) -> None:
    """Every length over three beats' edges and random ones to 9,000 bytes: good, with a wrong bit, and with masked
    fields changed; back to back and with idle clocks."""
    rng = random.Random(3)
    packets: list[tuple[bytes, bool]] = []
    for front in (FRONT_4, FRONT_6):
        masked = sorted(MASKED_4 if front == FRONT_4 else MASKED_6 - {0})
        shortest = front + ICRC_BYTES
        lengths = [*range(shortest, shortest + 194), *(rng.randint(shortest, 9000) for _ in range(150)), 9000]
        for length in lengths:
            good = packet(rng, front, length)
            wrong, other = bytearray(good), bytearray(good)
            wrong[rng.randrange(front, length)] ^= 1 << rng.randrange(8)
            for at in masked:
                other[at] ^= rng.getrandbits(8)
            packets += [(good, True), (bytes(wrong), False), (bytes(other), True)]
    rng.shuffle(packets)
    await check(dut, packets, 3)
    await check(dut, packets[:600], 4, idle=0.4)
    record(packets=len(packets))


# ---------------------------------------------------------------------- in pytest

SOURCES = (
    *(name for name in read_file_list(ROOT / "rtl_models" / "rx" / "mrc_rx_port.f") if name.endswith("_pkg.sv")),
    "rtl_models/rx/mrc_icrc.sv",
    "cocotb_tests/hdl/mrc_icrc_bench.sv",
)


@pytest.mark.rtl
@pytest.mark.slow
def test_good_and_wrong_packets_of_every_length(tmp_path: Path) -> None:
    figures = simulate(build(Design("mrc_icrc_bench", SOURCES)), MODULE, tmp_path, {})
    assert figures["packets"] > 2000
