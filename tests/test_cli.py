"""The command line as a person meets it: tables, files, exit codes, one sentence for each mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scapy.utils import PcapNgReader

from pymodel.base.toolpath import ROOT, TOOLS

SCENARIO = ROOT / "scenarios" / "first-light.yaml"


def mrc(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pymodel.cli", *map(str, arguments)]
    env = {**os.environ, "COLUMNS": "120", "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=120)


def one_sentence(result: subprocess.CompletedProcess[str]) -> str:
    """The sentence of a run that was refused; nothing on standard output, no traceback."""
    assert result.returncode == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_a_run_prints_a_table_and_says_where_the_result_is(tmp_path: Path) -> None:
    out, capture = tmp_path / "out", tmp_path / "frames.pcapng"
    result = mrc("run", SCENARIO, "--seed", "2", "--out", out, "--pcap", capture, "--no-progress")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    for word in ("across", "beside", "1,048,576", "equal", "ok: every byte landed", f"result: {out}/result.json"):
        assert word in result.stdout
    assert json.loads((out / "result.json").read_text(encoding="utf-8"))["seed"] == 2
    assert [path.name for path in out.iterdir()] == ["result.json"]
    # Another program reads the capture: every frame of every link, in order of time.
    with PcapNgReader(str(capture)) as packets:
        times = [float(packet.time) for packet in packets]
    assert len(times) > 1000
    assert times == sorted(times)


def test_a_failed_run_exits_with_1_and_shows_what_is_wrong(tmp_path: Path) -> None:
    text = (
        SCENARIO.read_text(encoding="utf-8").replace("loss_ppm: 10000", "loss_ppm: 1000000") + "time_limit_us: 2000\n"
    )
    scenario = tmp_path / "dead.yaml"
    scenario.write_text(text, encoding="utf-8")
    result = mrc("run", scenario, "--out", tmp_path / "out", "--no-progress")
    assert result.returncode == 1
    assert "DIFFERENT" in result.stdout
    assert "NOT ok" in result.stdout
    assert "stopped at the time limit of 2000 us" in result.stdout
    data = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert data["ok"] is False
    assert [write["completion_ps"] for write in data["writes"]] == [None, None]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("planes: 2", "planes: 9", "topology.planes: found 9, expected a number of at most 8"),
        ("hosts_per_t0: 2", "hosts_per_t0: 0", "topology.hosts_per_t0: found 0, expected a number of at least 1"),
        ("seed: 1", "sead: 1", "sead: found an unknown key"),
        ("evs: 32", "evs: 33", "found 33 EVs, expected a multiple of the 2 planes"),
        ("source: h0-0", "source: h9-0", "found 'h9-0', expected a name from h0-0 to h1-1"),
        ("mtu: 4096", "mtu: 8193", "nic.mtu: found 8193, expected a number of at most 8192"),
        ("destination: h1-0", "destination: h0-0", "found h0-0 as both ends"),
        ("t1: 2", "t1: 300", "found 300"),
    ],
)
def test_a_wrong_scenario_is_one_sentence_and_leaves_nothing(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    text = SCENARIO.read_text(encoding="utf-8")
    assert old in text
    scenario = tmp_path / "wrong.yaml"
    scenario.write_text(text.replace(old, new, 1), encoding="utf-8")
    out = tmp_path / "out"
    assert sentence in one_sentence(mrc("run", scenario, "--out", out, "--pcap", tmp_path / "x.pcapng"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["wrong.yaml"]


def test_a_missing_bmv2_is_one_sentence(tmp_path: Path) -> None:
    result = mrc("run", SCENARIO, "--switch", "bmv2", "--out", tmp_path / "out", PATH="/nonexistent")
    assert one_sentence(result).startswith("mrc: simple_switch_grpc: found no such tool")
    assert not (tmp_path / "out").exists()


def test_an_output_folder_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "out"
    blocked.write_text("", encoding="utf-8")
    assert "expected a folder" in one_sentence(mrc("run", SCENARIO, "--out", blocked, "--no-progress"))


def test_doctor_names_every_tool_and_what_a_missing_one_leaves_out() -> None:
    result = mrc("doctor", PATH="/nonexistent", COLUMNS="300")
    assert result.returncode == 0
    for tool in TOOLS.values():
        assert tool.name in result.stdout
    for name in ("simple_switch_grpc", "p4c-bm2-ss", "tshark", "g++"):
        assert (
            f"{name} is missing. It leaves out: {TOOLS[name].leaves_out}. Get it: {TOOLS[name].how}." in result.stdout
        )


def test_help_is_there_for_every_command() -> None:
    for words in ([], ["run"], ["doctor"], ["switch"], ["switch", "shell"], ["bench"]):
        result = mrc(*words, "--help")
        assert result.returncode == 0, words
        assert "Usage" in result.stdout
