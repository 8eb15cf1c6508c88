"""A pcapng file of frames from many links, one interface a link, with time stamps in nanoseconds of virtual time.

scapy's writer knows neither interface names nor a resolution below a microsecond, and the library that knows both has
had no release since 2022, hence the three block types here (IETF draft-ietf-opsawg-pcapng sections 4.1 to 4.3).
"""

from __future__ import annotations

from pathlib import Path
from struct import Struct
from types import TracebackType
from typing import BinaryIO, Self

from pymodel.base.time import NS

__all__ = ["CaptureWriter"]

_BLOCK = Struct("<II")
_LENGTH = Struct("<I")
_SECTION = Struct("<IHHq")
_INTERFACE = Struct("<HHI")
_PACKET = Struct("<IIIII")
_OPTION = Struct("<HH")

_SECTION_HEADER = 0x0A0D0D0A
_INTERFACE_DESCRIPTION = 1
_ENHANCED_PACKET = 6
_BYTE_ORDER = 0x1A2B3C4D
_LINK_TYPE_ETHERNET = 1
_OPTION_NAME = 2
_OPTION_RESOLUTION = 9
_NANOSECONDS = 9  # negative power of ten


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _option(code: int, value: bytes) -> bytes:
    return _OPTION.pack(code, len(value)) + _padded(value)


class CaptureWriter:
    """Writes frames to `path`; closing it, or leaving the context, completes the file."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("wb")
        self._interfaces: dict[str, int] = {}
        self._block(_SECTION_HEADER, _SECTION.pack(_BYTE_ORDER, 1, 0, -1))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, at_ps: int, link: str, data: bytes) -> None:
        """Add a frame seen on `link` at `at_ps`; fractions of a nanosecond are cut off. New links get an interface."""
        number = self._interfaces.get(link)
        if number is None:
            number = self._interfaces[link] = len(self._interfaces)
            options = _option(_OPTION_NAME, link.encode()) + _option(_OPTION_RESOLUTION, bytes([_NANOSECONDS]))
            self._block(_INTERFACE_DESCRIPTION, _INTERFACE.pack(_LINK_TYPE_ETHERNET, 0, 0) + options + _option(0, b""))
        at_ns = at_ps // NS
        size = len(data)
        self._block(_ENHANCED_PACKET, _PACKET.pack(number, at_ns >> 32, at_ns & 0xFFFFFFFF, size, size) + _padded(data))

    def close(self) -> None:
        """Write what is buffered and close the file."""
        self._file.close()

    def _block(self, kind: int, body: bytes) -> None:
        size = _BLOCK.size + len(body) + _LENGTH.size
        self._file.write(_BLOCK.pack(kind, size) + body + _LENGTH.pack(size))
