"""What a device and its QPs are set to. Checked when made, so that the cores need not."""

from __future__ import annotations

from dataclasses import dataclass

from pymodel.base.errors import InputError
from pymodel.base.time import NS, US
from pymodel.nic.send_window import mpr_to_psns
from pymodel.paths.ev import EvRecord
from pymodel.wire.spec import (
    ACK_TIMEOUT_EXPONENT_MAX,
    ACK_TIMEOUT_UNIT_NS,
    DEFAULT_OPTIONS,
    ENDPOINT_QP,
    EXPONENTIAL_RETRIES_FOREVER,
    LINEAR_RETRIES_MAX,
    MTU_DEFAULT,
    MTU_MAX,
    MTU_MIN,
    P_KEY_DEFAULT,
    PSN_BITS,
    QPN_BITS,
    SACK_THRESHOLD_BYTES,
    WireOptions,
)

__all__ = ["ACK_TIMEOUT_UNIT_PS", "Capabilities", "DeviceConfig", "PortConfig", "QpConfig", "QpSettings"]

ACK_TIMEOUT_UNIT_PS = ACK_TIMEOUT_UNIT_NS * NS


def _between(where: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InputError(where, str(value), f"a number from {low} to {high}")


@dataclass(frozen=True, slots=True)
class PortConfig:
    """One port: its MAC, that of the switch port at the other end, the outer source address in its plane."""

    mac: int
    switch_mac: int
    source_address: int

    def __post_init__(self) -> None:
        _between("MAC", self.mac, 0, (1 << 48) - 1)
        _between("switch's MAC", self.switch_mac, 0, (1 << 48) - 1)
        _between("outer source address", self.source_address, 0, (1 << 128) - 1)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a NIC can do besides the plain protocol (mrc-facts.md 2.5)."""

    trim_nack: bool = True
    """Answers trimmed packets by NACK."""
    dynamic_mpr: bool = True
    """Can say its receive window in every SACK, and obey the peer's."""
    service_time: bool = True
    """Takes the time for which it held an endpoint request out of the round trip, by advancing the timestamp."""


@dataclass(frozen=True, slots=True)
class DeviceConfig:
    """A NIC: its ports (port i is in plane i), its own (inner) IPv6 address, the wire's options, how many regions."""

    ports: tuple[PortConfig, ...]
    address: int
    options: WireOptions = DEFAULT_OPTIONS
    regions: int = 1024
    capabilities: Capabilities = Capabilities()
    service_time_ps: int = 0
    """How long an endpoint request waits for its answer."""

    def __post_init__(self) -> None:
        _between("number of ports", len(self.ports), 1, 32)
        _between("inner address", self.address, 0, (1 << 128) - 1)
        _between("service time in ps", self.service_time_ps, 0, (1 << 62) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class QpSettings:
    """What both ends of a QP usually have in common."""

    mtu: int = MTU_DEFAULT
    """Payload bytes of a full packet; the same at both ends."""
    mpr_units: int = 8
    """How far this end sends beyond cack, in units of 128 PSNs."""
    responder_mpr_units: int = 8
    """How far beyond cack this end accepts, in units of 128 PSNs."""
    ack_timeout: int = 8
    """Exponent t of the ACK timeout, 1.024 us x 2^t."""
    linear_retries: int = LINEAR_RETRIES_MAX
    """Timeouts in a row that wait the plain timeout."""
    backoff_retries: int = EXPONENTIAL_RETRIES_FOREVER
    """Timeouts after those, each waiting twice as long; 25 means for ever (mrc-facts.md 2.4)."""
    base_rtt_ps: int = 12 * US
    """Round trip of an idle network: the quiet timer of SACKs and the pause after a resource NACK."""
    sack_threshold: int = SACK_THRESHOLD_BYTES
    """Bytes after which the responder sends a SACK unasked (mrc-facts.md 3)."""
    wimm: int = 128
    """Writes with immediate in flight at most."""
    responder_wimm: int = 128
    """Writes with immediate that the peer may have in flight; one more takes the QP down (mrc-facts.md 2.5)."""
    dynamic_mpr: bool = False
    """The responder says its window in every SACK, and the requester obeys the peer's. Both ends must set it."""
    trim_nack: bool = True
    """The peer answers trimmed packets. Without, data packets are sent in the class that is never trimmed."""
    responder_trim_nack: bool = True
    """This end answers trimmed packets. Without, they are dropped."""
    target_delay_ps: int = 9 * US
    """Queueing delay to aim at: 0.75 of a base RTT with trimming (mrc-facts.md 2.6). Tail probes wait for it too."""
    tail_probes: int = 3
    """Probes that ask for the fate of a tail before the ACK timer does, at most, without progress in between."""
    reverse_probes: bool = True
    """EV probes keep the way back good while data comes in and none goes out (mrc-facts.md 2.7)."""
    hint: int = 0
    """What software says of the QP's purpose: carried, without meaning here (mrc-facts.md 2.5)."""
    min_active_evs: int | None = None
    """Floor of the active EV set; a quarter of it when None (mrc-facts.md 2.1)."""
    p_key: int = P_KEY_DEFAULT
    timestamps: bool = True
    """Data packets carry TSETH."""

    def __post_init__(self) -> None:
        _between("MTU", self.mtu, MTU_MIN, MTU_MAX)
        mpr_to_psns(self.mpr_units)
        mpr_to_psns(self.responder_mpr_units)
        _between("ACK timeout", self.ack_timeout, 0, ACK_TIMEOUT_EXPONENT_MAX)
        _between("linear retries", self.linear_retries, 0, LINEAR_RETRIES_MAX)
        _between("back-off retries", self.backoff_retries, 0, EXPONENTIAL_RETRIES_FOREVER)
        _between("base RTT in ps", self.base_rtt_ps, 1, (1 << 62) - 1)
        _between("SACK threshold", self.sack_threshold, 1, 1 << 31)
        _between("WIMM", self.wimm, 1, (1 << 16) - 1)
        _between("responder WIMM", self.responder_wimm, 1, (1 << 16) - 1)
        _between("target delay in ps", self.target_delay_ps, 0, (1 << 62) - 1)
        _between("tail probes", self.tail_probes, 0, 255)
        _between("hint", self.hint, 0, (1 << 32) - 1)
        _between("P_Key", self.p_key, 0, (1 << 16) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class QpConfig(QpSettings):
    """One end of a QP. Its `send_psn` is the other end's `receive_psn`."""

    qpn: int
    peer_qpn: int
    peer_address: int
    """Inner IPv6 address of the peer, 128 bits."""
    evs: tuple[EvRecord, ...]
    """EVs towards the peer, the same number on each port; data packets take them."""
    backup_evs: tuple[EvRecord, ...] = ()
    """EVs that take the place of retired ones of the same port."""
    control_evs: tuple[EvRecord, ...] = ()
    """EVs towards the peer for SACK, NACK and ACK; `evs` when empty."""
    seed: int = 1
    """Settles the order of EVs; 32 bits, not 0."""
    send_psn: int = 0
    """First PSN sent."""
    receive_psn: int = 0
    """First PSN received."""

    def __post_init__(self) -> None:
        QpSettings.__post_init__(self)  # super() does not know the class that slots=True makes
        where = f"QP {self.qpn}: "
        last_psn, last_qpn = (1 << PSN_BITS) - 1, (1 << QPN_BITS) - 1
        _between("QPN", self.qpn, ENDPOINT_QP + 1, last_qpn)
        _between(where + "peer QPN", self.peer_qpn, ENDPOINT_QP + 1, last_qpn)
        _between(where + "peer address", self.peer_address, 0, (1 << 128) - 1)
        _between(where + "seed", self.seed, 1, (1 << 32) - 1)
        _between(where + "first PSN sent", self.send_psn, 0, last_psn)
        _between(where + "first PSN received", self.receive_psn, 0, last_psn)
        if not self.evs:
            raise InputError(where + "EV set", "no EVs", "at least one")
