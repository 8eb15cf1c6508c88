"""`mrc nic` as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pymodel.base.errors import InputError
from pymodel.cli import app
from pymodel.nic.events import PostWrite
from pymodel.nic.log import Recorder
from tests.nic.harness import BASE, HERE_QPN, Pair


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The log of a NIC that sends one packet."""
    path = tmp_path / "nic.jsonl"
    pair = Pair()
    with path.open("w", encoding="utf-8") as file:
        Recorder(pair.here, file).handle(PostWrite(HERE_QPN, 1, b"12345678", BASE, pair.region.r_key), 1000)
    return path


def replay(path: Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["nic", "replay", str(path)], catch_exceptions=False)
    return result.exit_code, result.output


def test_a_replay_that_agrees(log: Path) -> None:
    actions = len(log.read_text(encoding="utf-8").splitlines()) - 2
    assert actions >= 1
    assert replay(log) == (0, f"{log}: 1 events, {actions} actions as logged\n")


def test_a_replay_that_differs_names_the_line_and_exits_with_1(log: Path) -> None:
    lines = log.read_text(encoding="utf-8").splitlines()
    number = next(i for i, line in enumerate(lines) if '"FrameOut"' in line)
    lines[number] = json.dumps(json.loads(lines[number]) | {"port": 7})
    log.write_text("\n".join(lines), encoding="utf-8")
    code, output = replay(log)
    assert code == 1
    assert f"different: {log}: line {number + 1}: FrameOut(port=7, " in output


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "found No such file or directory, expected a file that can be read"),
        (b"\xff\xff", "found bytes that are no UTF-8, expected JSON Lines"),
        (b"{}\n", "line 1: found schema None, expected mrc.nic-log/1"),
        (b"", "line 1: found schema None"),
    ],
    ids=["no file", "no text", "no log", "empty"],
)
def test_what_is_no_log_is_one_sentence(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "x.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        replay(path)
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)
