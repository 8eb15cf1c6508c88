"""The embedded engine: BMv2 JSON programs, compiled to Python, with BMv2's semantics in virtual time."""

from pymodel.switch.engine.engine import DROP_PORT, Engine, Replica
from pymodel.switch.engine.entries import TableError
from pymodel.switch.engine.externs import MeterRates
from pymodel.switch.engine.tables import Entry, MatchValue, Table

__all__ = ["DROP_PORT", "Engine", "Entry", "MatchValue", "MeterRates", "Replica", "Table", "TableError"]
