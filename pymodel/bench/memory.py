"""The peak of memory of a process, as Linux tells it."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["peak_mib"]


def peak_mib() -> float:
    """Peak of resident memory of this process in MiB, since its program was loaded.

    `getrusage` would also count that of the process which started it, from before this program was loaded.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found, "Linux always tells"
    return int(found[1]) / 1024
