"""The small P4 programs: hand-made cases and BMv2's recorded answers on the engine, and on BMv2 where it is present.

The cases are data (`tests/switch/programs`); this is what runs them.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator

import pytest

from pymodel.switch.bmv2 import Bmv2Switch
from tests.switch.programs import record, traffic
from tests.switch.programs.case import Case, program_names
from tests.switch.programs.drivers import Bmv2Driver, Driver, EngineDriver

MODULES = ("copies", "parsing", "state", "tables", "values")
CASES: list[Case] = [
    case for name in MODULES for case in importlib.import_module(f"tests.switch.programs.cases.{name}").CASES
]
LIVE_FRAMES = 300


def check(case: Case, driver: Driver) -> None:
    driver.prepare(case.program, case.setup)
    steps = list(case.steps)
    answers = driver.run([(step.port, step.frame) for step in steps])
    for step, answer in zip(steps, answers, strict=True):
        assert answer == sorted(step.out), f"{case.name}: frame {step.frame.hex()} on port {step.port}"
    if case.counters:
        assert driver.counters() == case.counters


@pytest.fixture(scope="module")
def engine() -> EngineDriver:
    return EngineDriver()


@pytest.fixture(scope="module")
def bmv2() -> Iterator[Bmv2Driver]:
    with Bmv2Switch() as switch:
        yield Bmv2Driver(switch)


def test_every_program_has_cases() -> None:
    assert set(program_names()) == {case.program for case in CASES} | {"metadata"}
    assert len(program_names()) >= 12


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.program}: {case.name}")
def test_case(case: Case, engine: EngineDriver) -> None:
    check(case, engine)


@pytest.mark.bmv2
@pytest.mark.parametrize(
    "case", [case for case in CASES if not case.engine_only], ids=lambda case: f"{case.program}: {case.name}"
)
def test_case_on_bmv2(case: Case, bmv2: Bmv2Driver) -> None:
    check(case, bmv2)


@pytest.mark.parametrize("program", traffic.PROGRAMS)
def test_engine_answers_as_bmv2_was_recorded(program: str, engine: EngineDriver) -> None:
    check(record.recording(program), engine)


@pytest.mark.bmv2
@pytest.mark.parametrize("program", traffic.PROGRAMS)
def test_recording_is_what_bmv2_answers(program: str, bmv2: Bmv2Driver) -> None:
    assert record.answers(program, bmv2) == record.path(program).read_text(encoding="utf-8")


@pytest.mark.bmv2
@pytest.mark.slow
@pytest.mark.parametrize("program", traffic.PROGRAMS)
def test_random_frames_on_both(program: str, engine: EngineDriver, bmv2: Bmv2Driver) -> None:
    """Other seeds than the recordings': new entries and frames, and all counters at the end."""
    rng = random.Random(f"both {program}")
    setup = traffic.setup(program, rng)
    sent = traffic.frames(program, rng, LIVE_FRAMES)
    answers = []
    for driver in (engine, bmv2):
        driver.prepare(program, setup)
        answers.append((driver.run(sent), driver.counters()))
    (from_engine, engine_counters), (from_bmv2, bmv2_counters) = answers
    for frame, mine, theirs in zip(sent, from_engine, from_bmv2, strict=True):
        assert mine == theirs, f"port {frame[0]}, frame {frame[1].hex()}"
    assert engine_counters == bmv2_counters
