"""`mrc switch` and `mrc probe`: a switch run, loaded, shown and left in order; a trace printed."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pymodel.base.toolpath import ROOT
from pymodel.paths.tables import PUNT_LIMITER, switch_entries
from pymodel.paths.topology import Topology
from pymodel.report.fabric import write_tables
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.p4runtime.client import Client
from pymodel.switch.p4runtime.dataplane import MeterRates
from pymodel.switch.target import CompiledProgram, TableEntry
from tests.cli.conftest import SCENARIO, Mrc
from tests.switch.packets import Routed

CONTROL_PLANE = ROOT / "tests" / "switch" / "control_plane" / "compiled" / "control_plane.json"


def test_help_is_there_for_every_command(mrc: Mrc) -> None:
    for words in (
        ["topo"],
        ["topo", "build"],
        ["topo", "show"],
        ["topo", "diff"],
        ["switch", "run"],
        ["switch", "load"],
        ["switch", "show"],
        ["probe"],
        ["probe", "trace"],
    ):
        outcome = mrc(*words, "--help")
        assert outcome.code == 0, words
        assert f"Usage: mrc {' '.join(words)}" in outcome.out


# --- show -------------------------------------------------------------------------------------------------------------


def rows_of(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_show_prints_tables_queues_counters_and_meters(mrc: Mrc, switch: EmbeddedSwitch | Bmv2Switch) -> None:
    switch.control.client.set_meter(PUNT_LIMITER, 2, MeterRates(5, 6, 7000, 8))
    frame = Routed("fc00:0:1:4001:2:8000::").at(0)
    for _ in range(3):
        switch.inject(0, frame, 0)
    assert len(switch.drain(0)) == 3
    outcome = mrc("switch", "show", "--connect", switch.address)
    assert (outcome.code, outcome.err) == (0, "")
    assert max(map(len, outcome.out.splitlines())) <= 80
    rows, size = rows_of(outcome.out), str(3 * len(frame))
    assert ["fc00:0:1::/48", "uN", "psp=0", "usp=0", "usd=0", "uniform=0", "3", size] in rows
    assert ["MrcIngress.first.flavours.flavour", "6,", "constant;", "default:", "NoAction"] in rows
    assert ["5", "USD", "uniform=1", "0", "0"] in rows
    assert ["fc00:0:4001::/48", "forward", "port=3", "3", size] in rows
    assert ["fc00:0:4000::/48", "forward", "port=2", "0", "0"] in rows
    assert ["3", "rewrite", "src=02:00:00:00:00:03", "dst=02:10:00:00:10:00"] in rows
    # The queues of a port toward a host and of one toward a T1.
    assert ["0", "150,000", "300,000", "off", "144", "DSCP", "16"] in rows
    assert ["3", "150,000", "300,000", "30,000", "to", "120,000", "144", "DSCP", "12"] in rows
    assert ["port_in[0]", "3", size] in rows
    # It counts packets alone: no bytes are shown, whatever the switch says.
    assert ["port_out[3]", "3"] in rows
    assert ["2", "5", "6", "7,000", "8"] in rows
    assert not any(row and row[0].startswith("drop_") for row in rows)
    # The controller is still the one that it was.
    switch.control.client.set_meter(PUNT_LIMITER, 2, None)


def test_show_of_another_program_has_its_kinds_of_keys(mrc: Mrc, running: EmbeddedSwitch | Bmv2Switch) -> None:
    running.load(CompiledProgram("other", CONTROL_PLANE, CONTROL_PLANE.with_suffix(".p4info.txtpb")))
    match = {"hdr.word.kind": 7, "hdr.word.address": (0xFC00 << 112, 0xFFFF << 112), "hdr.word.odd": (1, 9)}
    running.write([TableEntry("acl", "drop", match, priority=5)])
    outcome = mrc("switch", "show", "--connect", running.address)
    assert outcome.code == 0
    assert "counters: all zero" in outcome.out
    assert ["fc00::&ffff::", "1..9", "any", "7", "drop", "5"] in rows_of(outcome.out)


@pytest.mark.parametrize("command", [("show",), ("load", SCENARIO), ("shell",)], ids=lambda words: words[0])
def test_nobody_at_the_address_is_one_sentence(mrc: Mrc, tmp_path: Path, command: tuple[str | Path, ...]) -> None:
    if command[0] == "load":
        (tmp_path / "none.json").write_text("[]", encoding="utf-8")
        command = ("load", tmp_path / "none.json")
    outcome = mrc("switch", *command, "--connect", "127.0.0.1:1")
    assert outcome.sentence().startswith("mrc: P4Runtime at 127.0.0.1:1: found UNAVAILABLE")


# --- load -------------------------------------------------------------------------------------------------------------


def test_load_makes_a_switch_another_one(
    mrc: Mrc, switch: EmbeddedSwitch | Bmv2Switch, fabric: Topology, tmp_path: Path
) -> None:
    list(write_tables(fabric, tmp_path))
    outcome = mrc("switch", "load", tmp_path / "p1-t1-1.json", "--connect", switch.address)
    assert (outcome.code, outcome.err) == (0, "")
    there = list(switch_entries(fabric, fabric.switch("p1-t1-1")))
    assert outcome.out == f"{len(there)} entries loaded and read back\n"
    assert len(switch.control.client.read_tables()) == len(there)
    switch.control.check(there)


def test_load_of_a_wrong_file_changes_nothing(mrc: Mrc, switch: EmbeddedSwitch | Bmv2Switch, tmp_path: Path) -> None:
    before = switch.control.client.read_tables()
    path = tmp_path / "wrong.json"
    rx = "MrcIngress.admission.rx_port"
    for content, sentence in (
        ("{", "found no table entries"),
        ("{}", "found dict, expected a JSON list"),
        ('[{"switch": "s"}]', f"{path}: entry 0: table: found None, expected a name"),
        (
            json.dumps([{"switch": "s", "table": rx, "action": "port_down", "match": {"port": "0x200"}}]),
            f"table {rx}, key port: found 0x200, expected a value of 9 bits",
        ),
    ):
        path.write_text(content, encoding="utf-8")
        assert sentence in mrc("switch", "load", path, "--connect", switch.address).sentence()
    assert switch.control.client.read_tables() == before


# --- run --------------------------------------------------------------------------------------------------------------


@contextmanager
def served(folder: Path, *arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """`mrc switch run` as a process of its own, its files in `folder`, and what it says when it is there."""
    command = [sys.executable, "-m", "pymodel.cli", "switch", "run", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            said = [process.stdout.readline()]
            if "(bmv2)" in said[0]:
                said.append(process.stdout.readline())
            yield process, said
        finally:
            process.kill()


def address_in(line: str) -> str:
    found = re.search(r"P4Runtime at (127\.0\.0\.1:\d+), device id 1", line)
    assert found, line
    return found[1]


def test_run_serves_a_program_until_ctrl_c(tmp_path: Path) -> None:
    with served(tmp_path, "--program", CONTROL_PLANE) as (process, said):
        assert said[0].startswith("control_plane on embedded (embedded): ")
        with Client(address_in(said[0]), election_id=None) as reader:
            assert reader.info.tables.get("port_exact") is not None
            assert len(reader.read_table("fixed")) == 2
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30) == ("", "")
        assert process.returncode == 0


@pytest.mark.bmv2
def test_run_serves_a_switch_of_a_scenario_until_sigterm(tmp_path: Path) -> None:
    with served(tmp_path, "--switch", "bmv2", "--scenario", SCENARIO, "--name", "p1-t0-1") as (process, said):
        assert said[0].startswith("mrc_switch on p1-t0-1 (bmv2): ")
        with Client(address_in(said[0]), election_id=None) as reader:
            assert len(reader.read_tables()) == 37
            # What is handed over is limited before the first packet comes.
            assert all(reader.read_meters(PUNT_LIMITER)[1:5])
        _connect(said[1])
        process.terminate()
        assert process.communicate(timeout=30) == ("", "")
        assert process.returncode == 0
    assert Path(said[1].partition("log in ")[2].strip()).is_file()
    with pytest.raises(OSError, match="refused"):
        _connect(said[1])


def _connect(line: str) -> None:
    host, _, port = line.split()[2].partition(":")
    socket.create_connection((host, int(port)), 5).close()


@pytest.mark.bmv2
def test_run_says_so_when_the_switch_ends_by_itself(tmp_path: Path) -> None:
    with served(tmp_path, "--switch", "bmv2", "--scenario", SCENARIO) as (process, said):
        log = Path(said[1].partition("log in ")[2].strip())
        # The switch is the process that has its log open; nothing else is touched.
        (pid,) = (
            int(path.name)
            for path in Path("/proc").iterdir()
            if path.name.isdigit()
            and str(log.with_suffix("")) in _command_of(path)
            and "simple_switch" in _command_of(path)[:60]
        )
        os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 2
        assert err.startswith("mrc: simple_switch_grpc p0-t0-0: found that it ended with status -9")
        assert err.count("\n") == 1


def _command_of(path: Path) -> str:
    try:
        return (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


# --- trace ------------------------------------------------------------------------------------------------------------


def test_a_trace_is_printed_hop_by_hop(mrc: Mrc) -> None:
    outcome = mrc("probe", "trace", SCENARIO, "--from", "h0-0", "--to", "h1-0", "--index", "1")
    assert (outcome.code, outcome.err) == (0, "")
    assert max(map(len, outcome.out.splitlines())) <= 80
    rows = [row for row in rows_of(outcome.out) if row and row[0].isdigit()]
    assert [row[:2] for row in rows] == [["1", "p1-t0-0"], ["2", rows[1][1]], ["3", "p1-t0-1"], ["4", "h1-0"]]
    assert [row[3] for row in rows] == ["port"] * 4
    ev = re.search(r"EV (0x[0-9a-f]{8}), plane 1, embedded switches", outcome.out)
    assert ev
    again = mrc("probe", "trace", SCENARIO, "--from", "h0-0", "--to", "h1-0", "--ev", ev[1])
    assert again.out == outcome.out
    assert "reached h1-0" in again.out


def test_a_trace_that_does_not_arrive_exits_with_1(mrc: Mrc, tmp_path: Path) -> None:
    text = SCENARIO.read_text(encoding="utf-8").replace("loss_ppm: 10000", "loss_ppm: 1000000")
    dead = tmp_path / "dead.yaml"
    dead.write_text(text, encoding="utf-8")
    outcome = mrc("probe", "trace", dead, "--from", "h0-0", "--to", "h0-1")
    assert outcome.code == 1
    assert outcome.out.count("silent to 3 probes") == 2
    assert "h0-1 NOT reached" in outcome.out
    assert (
        "--ev: found 'five'" in mrc("probe", "trace", dead, "--from", "h0-0", "--to", "h0-1", "--ev", "five").sentence()
    )
