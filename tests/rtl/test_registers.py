"""Registers as emitted from SystemRDL are those committed; counters are those that the RTL has events for."""

from __future__ import annotations

import re

from pymodel.base.toolpath import ROOT
from pymodel.rtl.registers import GENERATED, addresses, emitted

PACKAGE = (ROOT / "rtl_models" / "common" / "mrc_rx_pkg.sv").read_text(encoding="utf-8")


def test_what_is_committed_is_what_is_emitted() -> None:
    """Refresh with `python -m pymodel.rtl.registers`."""
    files = emitted()
    assert sorted(GENERATED.iterdir()) == sorted(path for path in files if path.parent == GENERATED)
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text, path


def members(kind: str, name: str) -> list[str]:
    """Names in a struct or an enum of the package, in order, in lower case."""
    (body,) = re.findall(rf"typedef {kind}[^{{;]*{{([^}}]*)}} {name};", PACKAGE)
    body = re.sub(r"//[^\n]*", "", body)
    pattern = r"(\w+)\s*=" if kind == "enum" else r"(\w+);"
    return [found.lower() for found in re.findall(pattern, body)]


def counted(block: str) -> list[str]:
    return [name.split(".")[1] for name in addresses() if name.startswith(f"{block}.")]


def test_every_cause_of_a_drop_has_its_counter_at_its_place() -> None:
    causes = [name.removeprefix("drop_") for name in members("enum", "drop_cause_e")]
    assert counted("port_count[0]") == counted("port_count[7]") == ["accepted", "sent", *causes]


def test_every_event_of_engine_and_endpoint_has_its_counter_at_its_place() -> None:
    pulses = members("struct", "responder_pulses_t")
    others = ["no_way_back", "completed", "flushed"]
    assert counted("engine_count") == [
        *pulses,
        "endpoint_answered",
        *members("enum", "endpoint_drop_e"),
        *others,
    ]


def test_addresses_are_words_and_nobody_shares_one() -> None:
    places = list(addresses().values())
    assert len(set(places)) == len(places)
    assert all(place % 4 == 0 for place in places)
