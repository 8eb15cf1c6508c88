"""The recorded transfers: what happens in each, and `python -m tests.nic.regression`, which records them again.

Each is kept as two files of `logs/`, the requester's and the responder's. They say what the model did when they were
recorded; a change of behaviour shows as a difference of lines, and is recorded when it is meant.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pymodel.base.time import MS, US
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.events import PortChange, PostReceive, PostWrite
from pymodel.nic.log import Recorder
from pymodel.wire.frame import Frame
from tests.nic.harness import BASE, DELAY, HERE_QPN, THERE_QPN, LoseNth, Pair, Weather, straight
from tests.nic.trim import mark, trim

LOGS = Path(__file__).parent / "logs"
ENDS = "requester", "responder"
MTU = 256
WRAPS = (1 << 24) - 3
SETTINGS = QpSettings(mtu=MTU, ack_timeout=4, base_rtt_ps=10 * US)


def data(size: int) -> bytes:
    return bytes(i * 7 % 251 for i in range(size))


def one_write(pair: Pair) -> None:
    pair.write(data(10 * MTU - 3))


def immediates(pair: Pair) -> None:
    for wr_id in range(3):
        pair.give(1, PostReceive(THERE_QPN, 100 + wr_id))
    for wr_id, (size, immediate) in enumerate([(MTU, None), (2 * MTU, 0xAAAA), (0, 0xBBBB), (5, None), (1, 0xCCCC)]):
        pair.write(data(size), offset=4 * MTU * wr_id, wr_id=wr_id, immediate=immediate)


def bad_key(pair: Pair) -> None:
    pair.write(data(3 * MTU), wr_id=1)
    pair.give(0, PostWrite(HERE_QPN, 2, data(2 * MTU), BASE, pair.region.r_key ^ 1))
    pair.write(data(MTU), wr_id=3)


def beyond_the_region(pair: Pair) -> None:
    pair.write(data(2 * MTU), offset=len(pair.memory) - MTU)


def port_change(pair: Pair) -> None:
    one_write(pair)
    for _ in range(3):
        pair.step()
    pair.give(0, PortChange(0, up=False))
    pair.write(data(3 * MTU), wr_id=2)
    for _ in range(12):
        pair.step()
    pair.give(0, PortChange(0, up=True))


def many_writes(pair: Pair) -> None:
    for wr_id in range(6):
        pair.write(data((wr_id * 300) % 1000), offset=1000 * wr_id, wr_id=wr_id)


class Each:
    """Does something to every n-th data packet of the requester: `change` makes the bytes that arrive."""

    def __init__(self, period: int, change: Callable[[bytes, Frame], Iterable[tuple[int, bytes]]]) -> None:
        self._period, self._change, self._seen = period, change, 0

    def __call__(self, sender: int, frame: Frame, data: bytes) -> Iterable[tuple[int, bytes]]:
        if sender == 0 and frame.is_write:
            self._seen += 1
            if self._seen % self._period == 0:
                return self._change(data, frame)
        return [(DELAY, data)]


class Overtaken:
    """The first data packet arrives after 200 others."""

    def __init__(self) -> None:
        self._seen = 0

    def __call__(self, sender: int, frame: Frame, data: bytes) -> list[tuple[int, bytes]]:
        self._seen += 1
        return [(DELAY + (60 * US if self._seen == 1 else 0), data)]


@dataclass(frozen=True, slots=True)
class Transfer:
    """One recording: the channel, the work, and what the pair is set to."""

    name: str
    fault: Callable[[], Any]
    work: Callable[[Pair], None] = one_write
    settings: QpSettings = SETTINGS
    arguments: dict[str, Any] = field(default_factory=dict)


TRANSFERS = [
    Transfer("clean", lambda: straight),
    Transfer("losses", lambda: LoseNth(data=(0, 4, 10, 11), answers=(1,))),
    Transfer("tail-loss", lambda: LoseNth(data=(8, 9))),
    Transfer("trims", lambda: Each(3, lambda data, frame: [(DELAY, trim(data, frame))])),
    Transfer("trims-last-hop", lambda: Each(4, lambda data, frame: [(DELAY, trim(data, frame, last_hop=True))])),
    Transfer("marks", lambda: Each(2, lambda data, frame: [(DELAY, mark(data))])),
    Transfer("duplicates", lambda: Each(2, lambda data, frame: [(DELAY, data), (2 * DELAY, data)])),
    Transfer("immediates", lambda: LoseNth(data=(0, 3)), immediates),
    Transfer("no-receive", lambda: straight, lambda pair: pair.write(data(5), immediate=7)),
    Transfer("bad-key", lambda: straight, bad_key),
    Transfer("beyond-the-region", lambda: straight, beyond_the_region),
    Transfer("wrap", lambda: Weather(2, loss=0.25, duplicate=0.1, jitter=3 * US), arguments={"send_psn": WRAPS}),
    Transfer("port-change", lambda: straight, port_change),
    Transfer(
        "back-off",
        lambda: LoseNth(data=range(60)),
        lambda pair: pair.write(data(5)),
        QpSettings(mtu=MTU, ack_timeout=4, linear_retries=2, backoff_retries=4),
    ),
    Transfer(
        "back-off-and-back",
        lambda: LoseNth(data=range(6)),
        lambda pair: pair.write(data(5)),
        QpSettings(mtu=MTU, ack_timeout=4, linear_retries=2, backoff_retries=25),
    ),
    Transfer(
        "out-of-window",
        Overtaken,
        lambda pair: pair.write(data(135 * 64 * 4)),
        QpSettings(mtu=MTU, ack_timeout=8, mpr_units=2, responder_mpr_units=1, base_rtt_ps=10 * US),
        {"congestion": lambda: FixedWindow(1 << 20)},
    ),
    Transfer("many-writes", lambda: Weather(3, loss=0.05, duplicate=0.05, jitter=5 * US), many_writes),
    Transfer("no-timestamps", lambda: straight, settings=QpSettings(mtu=MTU, timestamps=False)),
]


def play(transfer: Transfer) -> tuple[Pair, list[list[str]]]:
    """Run `transfer` and return the pair at its end, and the log of each end."""
    arguments = {"congestion": lambda: FixedWindow(24 * 340), "send_psn": 0, "evs": 8, "memory": 1 << 16}
    pair = Pair(transfer.fault(), settings=transfer.settings, **(arguments | transfer.arguments))
    files = io.StringIO(), io.StringIO()
    pair.here, pair.there = (Recorder(device, file) for device, file in zip(pair.devices, files, strict=True))
    transfer.work(pair)
    pair.run(limit_ps=100 * MS)
    return pair, [file.getvalue().splitlines() for file in files]


def path(transfer: Transfer, end: str) -> Path:
    return LOGS / f"{transfer.name}.{end}.jsonl"


def record() -> None:
    LOGS.mkdir(exist_ok=True)
    for old in LOGS.glob("*.jsonl"):
        old.unlink()
    for transfer in TRANSFERS:
        for end, lines in zip(ENDS, play(transfer)[1], strict=True):
            path(transfer, end).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
