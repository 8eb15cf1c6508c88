"""`mrc switch shell` as a person at a terminal has it: a pseudo-terminal, keys pressed, Tab among them."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from pexpect import fdpexpect

from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT
from pymodel.switch.shell import open_shell
from pymodel.switch.target import CompiledProgram

START = """
import sys
from pathlib import Path
from pymodel.switch.shell import run_shell
from pymodel.switch.target import CompiledProgram, TableEntry

kind, json, p4info = sys.argv[1:]
entry = TableEntry("port_exact", "discard", {"standard.ingress_port": 7, "hdr.word.small": 7})
run_shell(kind, CompiledProgram("control_plane", Path(json), Path(p4info)), [entry])
"""


class Terminal:
    """A person at the shell: types lines and waits for what they print."""

    def __init__(self, child: fdpexpect.fdspawn, process: subprocess.Popen[bytes]) -> None:
        self.child = child
        self.process = process
        self.lines = 0
        child.expect(">>>")

    def type(self, line: str, printed: str = "") -> None:
        """Type a line, wait for what it prints (a pattern), and for the next prompt: earlier keys may be lost."""
        if not printed:
            self.lines += 1
            # What is typed is echoed, so what is waited for must not look like it.
            line += f'; print("do" + "ne", {self.lines})'
            printed = f"done {self.lines}\r"
        self.child.send(line + "\r")
        self.child.expect(printed)
        self.child.expect(">>>")

    def ask(self, expression: str, answer: str) -> None:
        """Print an expression's value and wait for `answer`."""
        self.type(f'print("i" + "s", {expression}, "so")', printed=f"is {answer} so")


@pytest.fixture(params=["embedded", pytest.param("bmv2", marks=pytest.mark.bmv2)])
def terminal(
    request: pytest.FixtureRequest, tmp_path: Path, control_plane_program: CompiledProgram
) -> Iterator[Terminal]:
    program = control_plane_program
    command = [sys.executable, "-c", START, request.param, str(program.json_path), str(program.p4info_path)]
    # A proxy that is not there must not be asked.
    surroundings = os.environ | {"IPYTHONDIR": str(tmp_path), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    surroundings |= {"http_proxy": "http://127.0.0.1:9", "TMPDIR": str(tmp_path)}
    # Not pexpect's own spawn: it forks this process, which has gRPC's threads.
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=surroundings, cwd=ROOT, start_new_session=True
    )
    os.close(theirs)
    try:
        yield Terminal(fdpexpect.fdspawn(ours, encoding="utf-8", timeout=60), process)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_a_person_lists_inserts_reads_modifies_and_deletes(terminal: Terminal) -> None:
    terminal.type("tables", printed="IngressImpl.port_exact")
    terminal.type('te = table_entry["IngressImpl.port_exact"](action="IngressImpl.forward")')
    terminal.type('te.match["standard.ingress_port"] = "1"')
    terminal.type('te.match["hdr.word.small"] = "2"')
    terminal.type('te.action["port"] = "3"')
    # Tab completes the method's name; without it, or with it raising, there is no method te.ins.
    terminal.child.send("te.ins")
    terminal.child.expect("ins")
    terminal.child.send("\t")
    # The screen is drawn by differences: what Tab adds, or the line with it.
    terminal.child.expect("ert")
    terminal.type("()")
    count = 'len(list(table_entry["IngressImpl.port_exact"].read()))'
    terminal.ask(count, "2")
    terminal.type("te.read(lambda entry: print(entry.action))", printed=r'value: "\\003"')
    terminal.type('te.action["port"] = "4"')
    terminal.type("te.modify()")
    terminal.type("te.read(lambda entry: print(entry.action))", printed=r'value: "\\004"')
    terminal.type("te.delete()")
    terminal.ask(count, "1")
    terminal.type('cell = counter_entry["IngressImpl.seen"]')
    terminal.type("cell.index = 3")
    terminal.ask("next(iter(cell.read())).packet_count", "0")
    # A mistake is told and the shell goes on.
    terminal.type('table_entry["IngressImpl.nothing"]', printed="does not exist")
    terminal.ask("1 + 1", "2")
    terminal.child.send("exit\r")
    assert terminal.process.wait(60) == 0


def test_a_shell_on_nothing_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"P4Runtime at 127.0.0.1:1: found UNAVAILABLE"):
        open_shell("127.0.0.1:1")
