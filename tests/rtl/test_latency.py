"""The file of latencies: what it says stands in the modules' headers too, and wrong names are told."""

from __future__ import annotations

import json
import re

import pytest

from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT
from pymodel.rtl.latency import LATENCY_FILE, latency_of, path_names

PATHS = json.loads(LATENCY_FILE.read_text(encoding="utf-8"))["paths"]


@pytest.mark.parametrize("path", path_names())
def test_the_header_of_the_module_states_it(path: str) -> None:
    unit = path.split(":")[0]
    (module,) = (ROOT / "rtl_models").rglob(f"mrc_{unit}.sv")
    header = module.read_text(encoding="utf-8").split("`default_nettype")[0]
    clocks, interval = PATHS[path]["clocks"], " + SAME_QP_INTERVAL" * PATHS[path].get("per_interval", 0)
    if unit == "rx_port" and "RX_PORT_LATENCY" in header:
        package = (module.parent / "mrc_rx_port_pkg.sv").read_text(encoding="utf-8")
        named = re.search(r"RX_PORT_LATENCY = (\d+);", package)
        assert named is not None
        header = header.replace("RX_PORT_LATENCY", named[1])
    stated = rf"\b{clocks}{re.escape(interval)}\b"
    if path == "responder: descriptor to event":  # one clock, in words: 1 alone would be found anywhere
        assert clocks == 1
        stated = r"a descriptor is accepted the clock after it came in"
    assert re.search(stated, header), (path, clocks)


def test_an_interval_adds_its_clocks() -> None:
    assert latency_of("responder: event to reply", 2) == latency_of("responder: event to reply", 1) + 1
    assert latency_of("delivery: event to result", 2) == latency_of("delivery: event to result", 1)


def test_a_path_that_is_not_there_is_told() -> None:
    with pytest.raises(InputError, match="found no path tx: bit to bit, expected rx_port: last beat to descriptor, "):
        latency_of("tx: bit to bit")
