"""What every class of `pymodel.wire.headers` shares: comparison, representation, copies with changes, refusals."""

from __future__ import annotations

from typing import ClassVar, NoReturn, Self

from pymodel.base.errors import InputError
from pymodel.wire.spec import Header

__all__ = ["Buffer", "PackedHeader"]

Buffer = bytes | bytearray | memoryview


class PackedHeader:
    """One header of a packet; each field of the spec is an attribute that holds an int."""

    __slots__ = ()

    SPEC: ClassVar[Header]
    SIZE: ClassVar[int]

    def pack(self) -> bytes:
        """The header's bytes. InputError names the field whose value does not fit."""
        raise NotImplementedError

    @classmethod
    def unpack(cls, data: Buffer, offset: int = 0) -> Self:
        """The header at `offset` of `data`. InputError when fewer bytes are there."""
        raise NotImplementedError

    def items(self) -> list[tuple[str, int]]:
        """Name and value of each field, in wire order."""
        return [(field.name, getattr(self, field.name)) for field in self.SPEC.fields]

    def replace(self, **changes: int) -> Self:
        """A copy with some fields changed. InputError names a field that the header does not have."""
        values = dict(self.items())
        for name in changes:
            if name not in values:
                raise InputError(f"{self.SPEC.name}.{name}", "no such field", ", ".join(values))
        return type(self)(**values | changes)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, PackedHeader) and self.items() == other.items()

    __hash__ = None  # type: ignore[assignment]  # fields may change

    def __repr__(self) -> str:
        shown = (f"{name}={value:#x}" for name, value in self.items() if value or not name.startswith("reserved"))
        return f"{type(self).__name__}({', '.join(shown)})"

    def _refuse(self) -> NoReturn:
        """Raise InputError for the first field whose value does not fit."""
        for field in self.SPEC.fields:
            value = getattr(self, field.name)
            low, high = (
                (-(1 << field.bits - 1), (1 << field.bits - 1) - 1) if field.signed else (0, (1 << field.bits) - 1)
            )
            if not low <= value <= high:
                raise InputError(f"{self.SPEC.name}.{field.name}", str(value), f"a number from {low} to {high}")
        raise AssertionError("every field fits")

    @classmethod
    def _too_short(cls, data: Buffer, offset: int) -> InputError:
        found = f"{max(0, len(data) - offset)} bytes"
        return InputError(f"{cls.SPEC.name} at byte {offset}", found, f"{cls.SIZE} bytes")
