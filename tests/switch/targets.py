"""The kinds of switch target that tests run on, and how one is started."""

from __future__ import annotations

from typing import Protocol

from pymodel.switch.bmv2 import Bmv2Switch
from pymodel.switch.control import ControlPlane
from pymodel.switch.target import SwitchTarget

__all__ = ["KINDS", "RunningTarget", "start"]

KINDS = ("bmv2",)


class RunningTarget(SwitchTarget, Protocol):
    """A target with the control plane that programs it."""

    @property
    def control(self) -> ControlPlane:
        """Programs this switch through P4Runtime."""
        ...


def start(kind: str) -> RunningTarget:
    """A new target of `kind`, to be entered."""
    return Bmv2Switch(kind)
