"""The recorded transfers: the model does what it did when they were recorded, and each is what its name says."""

from __future__ import annotations

import json

import pytest

from pymodel.nic.log import replay
from pymodel.wire.frame import Frame
from pymodel.wire.parser import parse
from pymodel.wire.spec import NackReason, Opcode, SackM
from tests.nic.regression import ENDS, LOGS, TRANSFERS, path, play

SIZE_MAX = 2_000_000


def content(lines):
    """What is to be seen in a log: what frames say, kinds of notices, statuses, and port changes."""
    found = set()
    for line in map(json.loads, lines[1:]):
        kind = line.get("event") or line["action"]
        if kind == "FrameOut":
            frame = parse(bytes.fromhex(line["data"]))
            assert isinstance(frame, Frame)
            if frame.rtx:
                found.add("rtx")
            if frame.opcode == Opcode.NACK:
                found.add(NackReason(frame.neth.reason).name)
            if frame.opcode == Opcode.SACK and frame.seth.m == SackM.SKIP_ONCE:
                found.add("SKIP_ONCE")
            if frame.opcode == Opcode.ACKNOWLEDGE:
                found.add(f"syndrome {frame.aeth.syndrome:#x}")
            if frame.is_write and frame.psn == 0:
                found.add("PSN 0")
            if frame.is_write and frame.psn == (1 << 24) - 1:
                found.add("PSN 2^24 - 1")
        elif kind == "Complete":
            found.add(line["status"] if line["immediate"] is None else f"immediate {line['immediate']:#x}")
        elif kind == "Notify":
            found.add(line["kind"])
        elif kind == "PortChange":
            found.add(f"port {'up' if line['up'] else 'down'}")
    return found


SHOWN = {
    "clean": {"success"},
    "losses": {"success", "rtx", "ev_assumed_bad"},
    "tail-loss": {"success", "rtx"},
    "trims": {"success", "rtx", "TRIMMED"},
    "trims-last-hop": {"success", "rtx", "TRIMMED_LASTHOP"},
    "marks": {"success", "SKIP_ONCE"},
    "duplicates": {"success"},
    "immediates": {"success", "rtx", "immediate 0xaaaa", "immediate 0xbbbb", "immediate 0xcccc"},
    "no-receive": {"syndrome 0x61", "remote invalid request", "qp_error"},
    "bad-key": {"syndrome 0x62", "remote access error", "flushed", "qp_error"},
    "beyond-the-region": {"syndrome 0x62", "remote access error"},
    "wrap": {"success", "rtx", "PSN 0", "PSN 2^24 - 1"},
    "port-change": {"success", "port down", "port up"},
    "back-off": {"timeout", "rtx", "retry exceeded"},
    "back-off-and-back": {"timeout", "rtx", "success"},
    "out-of-window": {"PSN_OOR_WINDOW", "rtx", "success"},
    "many-writes": {"success", "rtx"},
    "no-timestamps": {"success"},
}


@pytest.mark.parametrize("transfer", TRANSFERS, ids=lambda transfer: transfer.name)
def test_the_model_does_what_is_recorded(transfer):
    """After a change that is meant: python -m tests.nic.regression."""
    found, events = set(), 0
    for end in ENDS:
        lines = path(transfer, end).read_text(encoding="utf-8").splitlines()
        result = replay(lines, path(transfer, end).name)
        assert result.difference is None
        events += result.events
        found |= content(lines)
    assert events > 0
    assert found >= SHOWN[transfer.name]


def test_recording_again_gives_the_same():
    _, logs = play(TRANSFERS[1])
    kept = [path(TRANSFERS[1], end).read_text(encoding="utf-8").splitlines() for end in ENDS]
    assert logs == kept


def test_every_log_belongs_to_a_transfer_and_all_are_small():
    kept = set(LOGS.glob("*"))
    assert kept == {path(transfer, end) for transfer in TRANSFERS for end in ENDS}
    assert sum(each.stat().st_size for each in kept) < SIZE_MAX
    assert set(SHOWN) == {transfer.name for transfer in TRANSFERS}


def test_a_model_that_acts_otherwise_is_found():
    """A responder that expects another PSN first."""
    lines = path(TRANSFERS[0], "responder").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    first["qps"][0]["config"]["receive_psn"] ^= 1
    assert replay([json.dumps(first), *lines[1:]]).difference is not None
