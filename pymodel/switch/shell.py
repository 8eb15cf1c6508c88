"""`mrc switch shell`: p4runtime-shell on a running switch, its tables filled if wanted.

The shell is another controller with a higher election id than ours: what a person types counts while it is open.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType

from p4runtime_sh import shell as p4runtime_shell  # type: ignore[import-untyped]
from traitlets.config.loader import Config

from pymodel.base.errors import InputError
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.p4runtime.client import Client
from pymodel.switch.target import CompiledProgram, SwitchKind, TableEntry

__all__ = ["open_shell", "run_shell"]

_ELECTION_ID = (1, 0)


def run_shell(kind: SwitchKind, program: CompiledProgram, entries: Iterable[TableEntry] = ()) -> None:
    """Start a switch of `kind` that runs `program` with `entries`, and give it to the person at the terminal."""
    with Bmv2Switch() if kind == "bmv2" else EmbeddedSwitch() as switch:
        switch.load(program)
        switch.write(entries)
        print(f"{program.name} on {kind}, P4Runtime at {switch.address}, device id 1")
        open_shell(switch.address)


def open_shell(address: str) -> None:
    """Open p4runtime-shell on the switch at `address` until the person leaves it; InputError when it can't connect."""
    # Where nobody answers, or another controller is above, p4runtime-shell writes to the log of it and gives no reason.
    Client(address, election_id=_ELECTION_ID).close()
    arguments = [
        "p4runtime-shell",
        "--grpc-addr",
        address,
        "--device-id",
        "1",
        "--election-id",
        "{},{}".format(*_ELECTION_ID),
    ]
    # Pressing Tab with jedi 0.17.2, which p4runtime-shell pins, raises NotImplementedError on Python 3.11 and later.
    config = Config({"Completer": {"use_jedi": False}})
    # Its gRPC channel has no options: without this a proxy of the environment would be asked for loopback.
    os.environ["no_grpc_proxy"] = "127.0.0.1"  # noqa: SIM112  (gRPC knows it in small letters alone)
    with _replaced(sys, "argv", arguments), _replaced(p4runtime_shell, "Config", lambda: config):
        try:
            p4runtime_shell.main()
        except SystemExit as error:
            found = "no session for the shell"
            raise InputError(f"P4Runtime at {address}", found, "a switch that accepts it") from error


@contextlib.contextmanager
def _replaced(module: ModuleType, name: str, value: object) -> Iterator[None]:
    """Let `module` have another `name` for a while: p4runtime-shell takes its settings from such names alone."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)
