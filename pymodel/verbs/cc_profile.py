"""Congestion control profiles (mrc-facts.md 2.6): which algorithm, with which parameters.

`ALGORITHMS` names what a profile may hold. `NSCC` is checked and kept but cannot be given to a QP: the NIC has no
controller for it.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

from pymodel.nic.congestion import CongestionControl, FixedWindow
from pymodel.verbs.errors import VerbsError
from pymodel.verbs.profiles import Profile, ProfileAttr, ProfileState

__all__ = [
    "ALGORITHMS",
    "FIXED_WINDOW",
    "NO_CC",
    "NSCC",
    "CcProfile",
    "CcProfileAttr",
    "FixedWindowConfig",
    "NsccConfig",
]

NO_CC = "none"
"""No congestion control, the null pointer of OCP; takes no configuration."""
FIXED_WINDOW = "fixed-window"
NSCC = "uet-1.0-nscc"

_UINT32_MAX = (1 << 32) - 1


def _between(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise VerbsError(errno.EINVAL, name, str(value), f"a number from {low} to {high}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedWindowConfig:
    """A window that never moves, in bytes as the NIC counts them: UDP payload plus 40 a packet."""

    window: int

    def __post_init__(self) -> None:
        _between("fixed window", self.window, 1, _UINT32_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class NsccConfig:
    """Parameters of NSCC by their OCP names (`mrc_ctl_cc_nscc_cfg`); the defaults are for 100 Gb/s and 12 us.

    They follow from UET 1.0 with an MSS of 4096 and trimming (mrc-facts.md 2.6, Appendix B).
    """

    disable_qa: bool = False
    adjust_bytes_threshold: int = 32768
    """Bytes."""
    adjust_period_threshold: int = 12_000
    """ns."""
    base_rtt: int = 12_000
    """ns."""
    eta: float = 614.4
    fi: float = 20480.0
    fi_scale: float = 0.25
    gamma: float = 0.8
    max_md_jump: float = 0.5
    max_cwnd: int = 225_000
    """Bytes."""
    qa_gate: int = 3
    qa_threshold: int = 36_000
    """ns."""
    target_delay: int = 9_000
    """ns."""

    def __post_init__(self) -> None:
        for name in ("adjust_bytes_threshold", "adjust_period_threshold", "base_rtt", "max_cwnd", "target_delay"):
            _between(f"NSCC {name}", getattr(self, name), 1, _UINT32_MAX)
        _between("NSCC qa_threshold", self.qa_threshold, 0, _UINT32_MAX)
        _between("NSCC qa_gate", self.qa_gate, 0, (1 << 8) - 1)
        for name in ("eta", "fi", "fi_scale"):
            _between(f"NSCC {name}", getattr(self, name), 0, _UINT32_MAX)
        for name in ("gamma", "max_md_jump"):
            _between(f"NSCC {name}", getattr(self, name), 0, 1)


Config = FixedWindowConfig | NsccConfig

ALGORITHMS: dict[str, type[Config] | None] = {NO_CC: None, FIXED_WINDOW: FixedWindowConfig, NSCC: NsccConfig}
"""Each algorithm's name and what configures it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CcProfileAttr(ProfileAttr):
    """Attributes of a CC profile (OCP `mrc_ctl_cc_profile_attr`)."""

    algorithm: str | None = None
    """A name of `ALGORITHMS`."""
    config: Config | None = None


class CcProfile(Profile[CcProfileAttr]):
    """A CC profile. `users` are the QPs that have it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, CcProfileAttr())
        self.users: list[int] = []
        self._controllers: dict[int, CongestionControl] = {}

    def check_usable(self) -> None:
        """ENOTSUP when the NIC has no controller for the profile's algorithm."""
        if self.attr.algorithm == NSCC:
            raise self.refuse(
                f"algorithm {NSCC}, which this NIC does not run yet", f"{NO_CC} or {FIXED_WINDOW}", errno.ENOTSUP
            )

    def controller(self, peer_address: int) -> CongestionControl | None:
        """The controller towards a destination, shared by the profile's QPs to it; None without control."""
        if not isinstance(self.attr.config, FixedWindowConfig):
            return None
        if peer_address not in self._controllers:
            self._controllers[peer_address] = FixedWindow(self.attr.config.window)
        return self._controllers[peer_address]

    def _check(self, attr: CcProfileAttr) -> None:
        if attr.algorithm is None:
            return
        if attr.algorithm not in ALGORITHMS:
            raise self.refuse(f"algorithm {attr.algorithm!r}", f"one of {', '.join(ALGORITHMS)}")
        wanted = ALGORITHMS[attr.algorithm]
        if attr.config is not None and type(attr.config) is not wanted:
            expected = "no configuration" if wanted is None else wanted.__name__
            raise self.refuse(f"{type(attr.config).__name__} for algorithm {attr.algorithm}", expected)

    def _missing_for(self, to: ProfileState, attr: CcProfileAttr) -> str:
        if attr.algorithm is None:
            return "an algorithm"
        needs_config = to is ProfileState.ONLINE and ALGORITHMS[attr.algorithm] is not None
        return "a configuration" if needs_config and attr.config is None else ""

    def _user(self) -> str | None:
        return f"QP {self.users[0]}" if self.users else None

    def _changed(self, names: frozenset[str]) -> None:
        self._controllers.clear()

    def _cleared(self) -> None:
        self._controllers.clear()
