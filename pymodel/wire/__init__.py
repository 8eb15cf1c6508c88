"""The wire: what a packet looks like, bit by bit, and how it is made and read. `spec` is the table behind all of it."""

from pymodel.wire.build import build
from pymodel.wire.frame import Frame, WriteFields
from pymodel.wire.parser import ParseCause, ParseError, parse
from pymodel.wire.spec import DEFAULT_OPTIONS, DscpMap, WireOptions

__all__ = [
    "DEFAULT_OPTIONS",
    "DscpMap",
    "Frame",
    "ParseCause",
    "ParseError",
    "WireOptions",
    "WriteFields",
    "build",
    "parse",
]
