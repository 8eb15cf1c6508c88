"""Latencies of the RTL in clocks, as the benches assert them: `rtl_models/latency.json`.

Whoever models the NIC's timing takes them from there, and so do the benches, which fail when the RTL differs.
"""

from __future__ import annotations

import json
from functools import cache

from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT

__all__ = ["LATENCY_FILE", "latency_of", "path_names"]

LATENCY_FILE = ROOT / "rtl_models" / "latency.json"


@cache
def _paths() -> dict[str, dict[str, int]]:
    paths: dict[str, dict[str, int]] = json.loads(LATENCY_FILE.read_text(encoding="utf-8"))["paths"]
    return paths


def path_names() -> list[str]:
    """What `latency_of` knows: a unit, and behind a colon what is measured."""
    return list(_paths())


def latency_of(path: str, same_qp_interval: int = 1) -> int:
    """Clocks that `path` takes while nothing waits, with a QP's events `same_qp_interval` clocks apart."""
    if path not in _paths():
        raise InputError(str(LATENCY_FILE), f"no path {path}", ", ".join(path_names()))
    found = _paths()[path]
    return found["clocks"] + found.get("per_interval", 0) * same_qp_interval
