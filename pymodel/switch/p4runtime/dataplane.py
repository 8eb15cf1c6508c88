"""What a P4Runtime server drives: a forwarding plane that knows programs, tables, externs and replication by name.

The server checks every request against the P4Info before it calls; what arrives here fits its field and names something
that exists. All calls come under the server's lock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pymodel.switch.p4runtime.info import ProgramInfo
from pymodel.switch.target import Count, TableEntry

__all__ = ["Dataplane", "MeterRates", "Replica", "Via"]

Via = tuple[Literal["member", "group"], Any]
"""What an entry of a table with an action profile acts through, and its handle."""


@dataclass(frozen=True, slots=True)
class MeterRates:
    """A two-rate three-colour marker: rates in units per second, bursts in units; the unit is the meter's."""

    cir: int
    cburst: int
    pir: int
    pburst: int


@dataclass(frozen=True, slots=True)
class Replica:
    """One copy that a multicast group or clone session makes: out of `port`, marked `instance`."""

    port: int
    instance: int


class Dataplane(Protocol):
    """A forwarding plane. A handle is whatever `insert` returns; None as a handle means the default entry."""

    def prepare(self, info: ProgramInfo, device_config: bytes) -> Any:
        """Build a pipeline and return it without running it; InputError when the program can't be run."""
        ...

    def commit(self, pipeline: Any) -> None:
        """Run a prepared pipeline from now on, its tables as the program has them."""
        ...

    def initial_entries(self, table: str) -> Sequence[tuple[TableEntry, Any]]:
        """Return the entries that the program itself puts into `table`, each with its handle."""
        ...

    def default_action(self, table: str) -> tuple[str, Mapping[str, int]] | None:
        """Return name and parameters of the action that a miss in `table` runs now, or None when it runs none."""
        ...

    def insert(self, entry: TableEntry, via: Via | None) -> Any:
        """Install `entry` and return its handle; in a table with an action profile it acts `via` a member or group."""
        ...

    def modify(self, table: str, handle: Any, action: str, params: Mapping[str, int], via: Via | None) -> None:
        """Give an entry another action, or another member or group."""
        ...

    def delete(self, table: str, handle: Any) -> None:
        """Remove an entry."""
        ...

    def set_default(self, table: str, action: str, params: Mapping[str, int]) -> None:
        """Set the action of a miss."""
        ...

    def reset_default(self, table: str) -> None:
        """Set the action of a miss back to the program's own."""
        ...

    def read_counter(self, name: str, index: int) -> Count:
        """Return one cell of a counter."""
        ...

    def write_counter(self, name: str, index: int, count: Count) -> None:
        """Set one cell of a counter."""
        ...

    def read_direct_counter(self, table: str, handle: Any) -> Count:
        """Return the counter of one entry of `table`."""
        ...

    def write_direct_counter(self, table: str, handle: Any, count: Count) -> None:
        """Set the counter of one entry of `table`."""
        ...

    def set_meter(self, name: str, index: int, rates: MeterRates | None) -> None:
        """Configure one cell of a meter; None makes it colour everything green."""
        ...

    def set_direct_meter(self, table: str, handle: Any, rates: MeterRates | None) -> None:
        """Configure the meter of one entry of `table`; None makes it colour everything green."""
        ...

    def add_member(self, profile: str, action: str, params: Mapping[str, int]) -> Any:
        """Add a member to an action profile and return its handle."""
        ...

    def modify_member(self, profile: str, handle: Any, action: str, params: Mapping[str, int]) -> None:
        """Give a member another action."""
        ...

    def delete_member(self, profile: str, handle: Any) -> None:
        """Remove a member that nothing uses."""
        ...

    def add_group(self, profile: str, members: Sequence[Any]) -> Any:
        """Add a group of members, by their handles, and return its handle."""
        ...

    def modify_group(self, profile: str, handle: Any, members: Sequence[Any]) -> None:
        """Give a group other members."""
        ...

    def delete_group(self, profile: str, handle: Any) -> None:
        """Remove a group that nothing uses."""
        ...

    def set_multicast_group(self, group: int, replicas: Sequence[Replica]) -> None:
        """Define a multicast group; without replicas there is none."""
        ...

    def set_clone_session(self, session: int, replicas: Sequence[Replica]) -> None:
        """Define a clone session; without replicas there is none."""
        ...

    def packet_out(self, frame: bytes) -> None:
        """A frame arrives from the controller, on the CPU port, with the packet_out header in front."""
        ...
