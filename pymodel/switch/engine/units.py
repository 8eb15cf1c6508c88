"""Where a packet's headers and metadata live while the program runs.

Each header instance becomes a few attributes of one slotted object, the packet:

* ``<header>_ok``: is it valid;
* ``<header>_<field>``: one integer (bytes for a field of variable length) for each *live* field, that is one that the
  program reads or writes by name;
* ``<header>_raw``: the header's bytes as they came, for the fields that are not live;
* ``<header>_mod``: have the live fields changed since, so that the bytes must be put together anew.

A header stack has the same attributes as lists, one item an element, and ``<stack>_next``. Metadata structs have their
live fields only. Most fields of most headers are never touched, so they cost nothing but a slice.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pymodel.switch.engine import ir

__all__ = ["MOD", "NEXT", "OK", "RAW", "Place", "Traits", "Unit", "segments"]

# Columns that are no fields; a P4 field's name has no "$".
OK, RAW, MOD, NEXT = "$ok", "$raw", "$mod", "$next"


@dataclass(slots=True)
class Traits:
    """What is known of a unit; units that are copied into each other share one.

    `live` names the fields that the program touches, `emitted` says whether the header's bytes are ever needed, and
    `written` whether a field is ever changed.
    """

    live: set[str] = field(default_factory=set)
    emitted: bool = False
    written: bool = False


@dataclass(slots=True)
class Unit:
    """A header instance that stands alone, a metadata struct, or a stack with all its elements (`size` of them)."""

    name: str
    type: ir.HeaderType
    metadata: bool
    size: int | None
    union: str | None = None
    traits: Traits = field(default_factory=Traits)
    prefix: str = ""
    slots: dict[str, str] = field(default_factory=dict)

    @property
    def live_fields(self) -> list[ir.FieldType]:
        """The live fields in their order in the header."""
        return [item for item in self.type.fields if item.name in self.traits.live]

    @property
    def keeps_raw(self) -> bool:
        """Whether the bytes as they came are kept."""
        return self.traits.emitted and not self.metadata

    @property
    def keeps_mod(self) -> bool:
        """Whether it is noted that the bytes as they came are out of date."""
        return self.keeps_raw and self.traits.written

    @property
    def columns(self) -> list[str]:
        """The parts that each element has: `OK`, `RAW`, `MOD` and the live fields."""
        names = [] if self.metadata else [OK]
        if self.keeps_raw:
            names.append(RAW)
        if self.keeps_mod:
            names.append(MOD)
        return names + [item.name for item in self.live_fields]


@dataclass(frozen=True, slots=True)
class Place:
    """One header as the generated code addresses it: a unit, and for a stack the text of the index."""

    unit: Unit
    index: str | None = None

    def part(self, column: str, packet: str = "p") -> str:
        """The Python expression for a column: ``p.ipv6_ok`` or ``p.segments_ok[2]``."""
        text = f"{packet}.{self.unit.slots[column]}"
        return text if self.index is None else f"{text}[{self.index}]"


def segments(header_type: ir.HeaderType) -> list[list[ir.FieldType]]:
    """Cut a header type into the shortest runs of fields that start and end on a byte."""
    runs: list[list[ir.FieldType]] = []
    current: list[ir.FieldType] = []
    width = 0
    for item in header_type.fields:
        current.append(item)
        width += item.width
        if width % 8 == 0:
            runs.append(current)
            current = []
    return runs
