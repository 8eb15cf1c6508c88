"""The pcapng file as scapy reads it back: interfaces, nanoseconds, bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from scapy.utils import RawPcapNgReader

from pymodel.wire.capture import CaptureWriter

FRAMES = [
    (0, "t0-0 -> t1-0", b"\0" * 60),
    (999, "t0-0 -> t1-0", b"\1" * 61),
    (1_000, "t1-0 -> t0-1", b"\2" * 62),
    (1_234_567_890_123_456_789_000, "t0-0 -> t1-0", b"\3" * 9216),
    (1_000, "host 0 port 0", b""),
]


def test_frames_links_and_times_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "links.pcapng"
    with CaptureWriter(path) as capture:
        for at_ps, link, data in FRAMES:
            capture.write(at_ps, link, data)
    found = []
    with RawPcapNgReader(str(path)) as reader:
        for data, meta in reader:
            stamp = (meta.tshigh << 32 | meta.tslow) * 1_000
            found.append((stamp, meta.ifname.decode(), data))
            assert (meta.linktype, meta.tsresol, meta.wirelen) == (1, 1_000_000_000, len(data))
    assert found == [(at_ps // 1_000 * 1_000, link, data) for at_ps, link, data in FRAMES]


def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    CaptureWriter(tmp_path / "empty.pcapng").close()
    with RawPcapNgReader(str(tmp_path / "empty.pcapng")) as reader:
        assert list(reader) == []


@pytest.mark.parametrize("size", range(5))
def test_blocks_are_padded_to_four_bytes(tmp_path: Path, size: int) -> None:
    path = tmp_path / "one.pcapng"
    with CaptureWriter(path) as capture:
        capture.write(0, "x" * size, bytes(size))
    assert path.stat().st_size % 4 == 0
    with RawPcapNgReader(str(path)) as reader:
        assert [data for data, _ in reader] == [bytes(size)]
