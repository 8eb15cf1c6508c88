"""Switch targets for tests: one of each kind a worker, running `p4/mrc_switch.p4`, reprogrammed from test to test."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from pymodel.switch.program import mrc_switch
from tests.switch.targets import KINDS, RunningTarget, start


@pytest.fixture(scope="session")
def running() -> Iterator[dict[str, RunningTarget]]:
    """The targets of this worker, started when first asked for."""
    with contextlib.ExitStack() as stack:
        yield _Started(stack)


class _Started(dict[str, RunningTarget]):
    def __init__(self, stack: contextlib.ExitStack) -> None:
        super().__init__()
        self._stack = stack

    def __missing__(self, kind: str) -> RunningTarget:
        self[kind] = target = self._stack.enter_context(start(kind))
        target.load(mrc_switch())
        return target


@pytest.fixture(params=[pytest.param(kind, marks=[pytest.mark.bmv2] if kind == "bmv2" else []) for kind in KINDS])
def target(request: pytest.FixtureRequest, running: dict[str, RunningTarget]) -> RunningTarget:
    """Each target in turn, with whatever entries the test before left."""
    return running[request.param]
