"""`mrc switch run`: a switch of its own for other programs to connect to, until it is told to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pymodel.paths.tables import switch_entries
from pymodel.paths.topology import Switch, Topology
from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.responder import Responder, limit_punts, serve
from pymodel.switch.target import CompiledProgram, SwitchKind

__all__ = ["run_switch"]

_POLL_S = 0.2


def run_switch(
    kind: SwitchKind,
    program: CompiledProgram,
    announce: Callable[[str], None],
    place: tuple[Topology, Switch] | None = None,
) -> None:
    """Run `program` on a switch of `kind` until SIGINT or SIGTERM; `announce` is told where it can be reached.

    With `place` it is that switch of that fabric: its tables are filled, and what it hands over is answered by ICMPv6.
    InputError when the switch refuses something, or ends by itself.
    """
    name = place[1].name if place else kind
    with _stop_signals() as stopped, Bmv2Switch(name) if kind == "bmv2" else EmbeddedSwitch(name) as switch:

        def over() -> bool:
            if isinstance(switch, Bmv2Switch):
                switch.check_alive()
            return stopped.is_set()

        switch.load(program)
        if place:
            switch.write(switch_entries(*place))
            limit_punts(switch.control.client)
        announce(f"{program.name} on {name} ({kind}): P4Runtime at {switch.address}, device id 1")
        if isinstance(switch, Bmv2Switch):
            announce(f"frames at {switch.dataplane_address} (p4.bm.DataplaneInterface), log in {switch.log}")
        if place:
            serve(switch.control.client, Responder(*place), over, _POLL_S)
        while not over():
            stopped.wait(_POLL_S)


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """Turn SIGINT and SIGTERM into an event while the context lasts."""
    stopped = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: stopped.set()) for number in numbers]
    try:
        yield stopped
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
