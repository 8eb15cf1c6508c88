"""P4Testgen's tests for the switch program on every target: committed ones everywhere, new ones where P4Testgen is.

What P4Testgen takes for granted is made so or left out by name (`testgen/run.py`, `testgen/empty_queues.p4`).
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest

from pymodel.base.errors import InputError
from pymodel.base.toolpath import find
from pymodel.bench.nightly import report_figure
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from tests.switch.testgen.case import Case, Expected, case_of
from tests.switch.testgen.generate import Coverage, Run, committed, coverage, generate, printed_coverage
from tests.switch.testgen.run import GeneratedBench

CASES = committed()


def faults(bench: GeneratedBench, cases: Iterable[Case]) -> dict[str, str]:
    """What is wrong, by the test's name."""
    found = {case.name: bench.fault(case) for case in cases}
    return {name: fault for name, fault in found.items() if fault is not None}


def faults_everywhere(runs: Iterable[Run]) -> dict[str, dict[str, str]]:
    """What is wrong with newly generated tests on each target that is there."""
    cases = [case for run in runs for case in run.cases]
    found = {}
    for kind in (EmbeddedSwitch, Bmv2Switch) if find("simple_switch_grpc") else (EmbeddedSwitch,):
        with contextlib.ExitStack() as running:
            switch = running.enter_context(kind())
            bench = GeneratedBench(switch)
            found[switch.name] = faults(bench, cases)
            bench.finish()
    return {name: those for name, those in found.items() if those}


def report(runs: list[Run], record_property: Callable[[str, object], None]) -> Coverage:
    """Tell how much was generated and what it covers: at the end of the run, and among the figures of a long one."""
    cases = [case for run in runs for case in run.cases]
    total = coverage(runs)
    covered = f"{total.covered} of {total.statements} statements"
    record_property("print", f"P4Testgen: {len(cases)} newly generated tests cover {covered}")
    report_figure("P4Testgen tests run", len(cases))
    report_figure("P4Testgen statements covered", f"{total.covered} of {total.statements}")
    report_figure("P4Testgen statements that no test reaches", ", ".join(sorted(total.missing)) or "none")
    return total


@pytest.fixture(scope="module")
def bench(switch: EmbeddedSwitch | Bmv2Switch) -> Iterator[GeneratedBench]:
    bench = GeneratedBench(switch)
    yield bench
    bench.finish()


@pytest.fixture(scope="module")
def embedded() -> Iterator[GeneratedBench]:
    with EmbeddedSwitch() as switch:
        yield GeneratedBench(switch)


@pytest.mark.slow
def test_committed_tests_pass(bench: GeneratedBench) -> None:
    assert faults(bench, CASES) == {}


def test_committed_tests_are_many_and_of_every_kind() -> None:
    kinds = Counter("red" if case.red else "out" if case.expected else "drop" for case in CASES)
    assert min(kinds.values()) >= 20
    assert kinds["out"] >= 100
    assert len(CASES) >= 500
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.p4testgen
@pytest.mark.slow
def test_newly_generated_tests_pass(record_property: Callable[[str, object], None]) -> None:
    runs = [generate(2, 60), generate(2, 10, packets_only=True), generate(2, 60, strategy="RANDOM_BACKTRACK")]
    total = report(runs, record_property)
    assert total.covered >= 0.85 * total.statements
    assert faults_everywhere(runs) == {}


@pytest.mark.p4testgen
@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_many_generated_tests_pass(record_property: Callable[[str, object], None]) -> None:
    runs = [
        generate(seed, count, packets_only=packets_only, strategy=strategy)
        for seed in (3, 4)
        for strategy, count, packets_only in (
            ("GREEDY_STATEMENT_SEARCH", 600, False),
            ("GREEDY_STATEMENT_SEARCH", 200, True),
            ("RANDOM_BACKTRACK", 400, False),
        )
    ]
    total = report(runs, record_property)
    assert total.covered >= 0.98 * total.statements
    assert faults_everywhere(runs) == {}


# --- that the runner fails where it must (P29) ---


def one(*, out: bool) -> Case:
    return next(case for case in CASES if (case.expected is not None) is out and not case.red)


def test_a_frame_that_nobody_expects_is_a_fault(embedded: GeneratedBench) -> None:
    assert "1 frames came out, 0 expected" in str(embedded.fault(replace(one(out=True), expected=None)))


def test_a_frame_that_does_not_come_is_a_fault(embedded: GeneratedBench) -> None:
    expected = Expected(0, bytes(60), bytes(60))
    assert "0 frames came out, 1 expected; drops {'drop_" in str(
        embedded.fault(replace(one(out=False), expected=expected))
    )


def test_bits_matter_where_the_mask_says_so(embedded: GeneratedBench) -> None:
    case = one(out=True)
    good = case.expected
    assert good is not None
    place = good.mask.index(0xFF)
    wrong = bytearray(good.frame)
    wrong[place] ^= 1
    mask = bytearray(good.mask)
    assert "expected port" in str(embedded.fault(replace(case, expected=replace(good, frame=bytes(wrong)))))
    mask[place], wrong[place] = 0, 0
    assert embedded.fault(replace(case, expected=replace(good, frame=bytes(wrong), mask=bytes(mask)))) is None
    for frame in (good.frame + b"\0", good.frame[:-1]):
        longer = replace(good, frame=frame, mask=bytes(len(frame)))
        assert "expected port" in str(embedded.fault(replace(case, expected=longer)))
    assert "expected port" in str(embedded.fault(replace(case, expected=replace(good, port=good.port ^ 1))))


@pytest.mark.parametrize(
    "text",
    [
        "expect 1 00$\n",
        "packet 1 00\npacket 1 00\n",
        "packet 1 00\nexpect 1 00\n",
        'packet 1 00\nadd "a" setdefault\n',
        "packet 1 00\nwait 1\n",
    ],
)
def test_a_line_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="P4Testgen's test odd"):
        case_of("odd", text)


def test_stf_is_read() -> None:
    case = case_of(
        "small",
        'add "In.t" 1 "dst":0b101***** "port":0x1FF "In.go"("src":0x0A,"dst":0xFF)\n'
        'add "In.u" "dscp":0x3F "drop"()\n'
        "packet 510 0AFF\nexpect 3 *AF*$\nmeter red\n",
    )
    assert [(entry.table, entry.match, entry.action, entry.params) for entry in case.entries] == [
        ("In.t", {"dst": (0b10100000, 3), "port": 511}, "In.go", {"src": 10, "dst": 255}),
        ("In.u", {"dscp": 63}, "drop", {}),
    ]
    assert (case.port, case.frame, case.red) == (510, b"\x0a\xff", True)
    assert case.expected == Expected(3, b"\x0a\xf0", b"\x0f\xf0")


def test_printed_coverage_is_read() -> None:
    printed = (
        "= Test 1: Nodes covered: 0.25 (1/4) =\nNot covered program nodes:\n\tx/p4/include/a.p4\\1: x;\n"
        "= Test 2: Nodes covered: 0.5 (2/4) =\nNot covered program nodes:\n\tx/p4/include/a.p4\\2: y;\n"
        "\tx/p4/include/b.p4\\3: z;\nwarning: something\n"
    )
    total = printed_coverage(printed)
    assert total == Coverage(2, 4, frozenset({"a.p4\\2: y;", "b.p4\\3: z;"}))
    other = Run((), Coverage(3, 4, frozenset({"b.p4\\3: z;"})))
    assert coverage([Run((), total), other]) == other.coverage
    with pytest.raises(InputError, match="numbers that add up"):
        printed_coverage(printed.replace("(2/4)", "(3/4)"))
