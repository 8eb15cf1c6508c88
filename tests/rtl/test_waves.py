"""`make rtl WAVES=1 TEST=...` leaves waves that an independent reader understands."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from vcd.reader import TokenKind, tokenize

from cocotb_tests.test_mrc_skid_buffer import MODULE, WIDTH
from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Design, build, waves_wanted
from pymodel.rtl.simulate import WAVES_FOLDER, simulate


def commands(*arguments: str) -> str:
    command = ["make", "--no-print-directory", "-n", "rtl", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_make_rtl_selects_a_bench_and_asks_for_waves() -> None:
    assert "WAVES=1 .venv/bin/python -m pytest -m rtl cocotb_tests/test_mrc_fifo.py -x" in commands(
        "WAVES=1", "TEST=mrc_fifo", "ARGS=-x"
    )
    assert "WAVES= .venv/bin/python -m pytest -m rtl cocotb_tests tests/rtl" in commands()


@pytest.mark.parametrize(("value", "wanted"), [("1", True), ("yes", True), ("", False), ("0", False), ("off", False)])
def test_what_counts_as_asking(value: str, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVES", value)
    assert waves_wanted() == wanted


def changes(path: Path) -> dict[str, list[tuple[int, int | None]]]:
    """Per signal, by its path: time and value of every change; None for a value with unknown bits."""
    found: dict[str, list[tuple[int, int | None]]] = {}
    names: dict[str, list[str]] = {}
    scopes: list[str] = []
    now = 0
    with path.open("rb") as file:
        for token in tokenize(file):
            match token.kind:
                case TokenKind.SCOPE:
                    scopes.append(token.scope.ident)
                case TokenKind.UPSCOPE:
                    scopes.pop()
                case TokenKind.VAR:
                    names.setdefault(token.var.id_code, []).append(".".join([*scopes, token.var.reference]))
                case TokenKind.CHANGE_TIME:
                    now = token.time_change
                case TokenKind.CHANGE_SCALAR:
                    value = int(token.scalar_change.value) if token.scalar_change.value in "01" else None
                    for name in names[token.scalar_change.id_code]:
                        found.setdefault(name, []).append((now, value))
                case TokenKind.CHANGE_VECTOR:
                    read = token.vector_change.value
                    for name in names[token.vector_change.id_code]:
                        found.setdefault(name, []).append((now, read if isinstance(read, int) else None))
    return found


@pytest.mark.rtl
@pytest.mark.slow
def test_waves_are_written_when_asked_for_C07(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: N802
    """WAVES=1 reaches build and run alike; the VCD has the clock as the bench drives it, and what is inside."""
    monkeypatch.setenv("WAVES", "1")
    monkeypatch.setattr("pymodel.rtl.simulate.WAVES_FOLDER", tmp_path / "waves")
    monkeypatch.setattr("pymodel.rtl.simulate.ROOT", tmp_path)
    design = Design("mrc_skid_buffer", ("rtl_models/common/mrc_skid_buffer.sv",), {"WIDTH": WIDTH})
    simulate(build(design), MODULE, tmp_path, {})
    kept = tmp_path / "waves" / f"mrc_skid_buffer-{WIDTH}.vcd"
    assert kept.read_bytes() == (tmp_path / "dump.vcd").read_bytes()
    signals = {name.split(".")[-1].split("[")[0]: found for name, found in changes(kept).items()}
    assert {"valid_o", "data_o", "skid_q", "skid_valid_q"} <= signals.keys()
    clock = signals["clk_i"]
    assert len(clock) > 2000
    assert sum(later - earlier == 2000 for (earlier, _), (later, _) in pairwise(clock)) > 2000  # 4 ns, in ps
    assert len({value for _, value in signals["data_o"]}) > 400


def test_waves_are_left_where_the_documentation_says() -> None:
    assert WAVES_FOLDER == ROOT / "build" / "waves"
    assert "build/waves" in (ROOT / "docs" / "rtl.md").read_text(encoding="utf-8")
