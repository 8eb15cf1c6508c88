"""BMv2's own answers to random frames, kept in `recorded/` so that a machine without BMv2 compares with it too.

Made anew by ``python -m tests.switch.programs.record``; a test with BMv2 tells when a recording is out of date.
"""

from __future__ import annotations

import random
from pathlib import Path

from pymodel.switch.bmv2 import Bmv2Switch
from tests.switch.programs.case import FOLDER, Case
from tests.switch.programs.drivers import Bmv2Driver, Driver
from tests.switch.programs.traffic import PROGRAMS, frames, setup

__all__ = ["SEED", "answers", "path", "recording"]

SEED = 20260401
_FRAMES = 120


def path(program: str) -> Path:
    """The file of a program's recording."""
    return FOLDER / "recorded" / f"{program}.txt"


def answers(program: str, driver: Driver) -> str:
    """The recording that `driver` makes: a line each frame, as in `case.Case`."""
    rng = random.Random(SEED)
    driver.prepare(program, setup(program, rng))
    sent = frames(program, rng, _FRAMES)
    lines = []
    for (port, frame), out in zip(sent, driver.run(sent), strict=True):
        shown = ", ".join(f"{number} {data.hex()}" for number, data in out) or "drop"
        lines.append(f"{port} {frame.hex()} -> {shown}\n")
    return "".join(lines)


def recording(program: str) -> Case:
    """The committed recording as a case."""
    return Case("recorded", program, path(program).read_text(encoding="utf-8"), setup(program, random.Random(SEED)))


def _main() -> None:
    with Bmv2Switch() as switch:
        driver = Bmv2Driver(switch)
        for program in PROGRAMS:
            path(program).parent.mkdir(exist_ok=True)
            path(program).write_text(answers(program, driver), encoding="utf-8")


if __name__ == "__main__":
    _main()
