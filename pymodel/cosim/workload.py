"""Hosts, QPs and memory for the writes of a scenario, and the check of what became of them.

Every write has a QP of its own and a region of its own at the destination. Regions lie apart, with guard bytes between
them, and a host's whole memory is compared in the end: what was written, and that nothing else was.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass

from pymodel.base.time import NS, S, serialisation_ps
from pymodel.cosim.fabric import Host, HostMemory
from pymodel.cosim.link import PREAMBLE_AND_FCS_BYTES
from pymodel.cosim.result import WriteResult
from pymodel.cosim.scenario import Scenario, WriteModel
from pymodel.nic.attach import End, connect, device_for
from pymodel.nic.config import QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.device import Device
from pymodel.nic.events import Complete, PostWrite
from pymodel.nic.queue_pair import QueuePair
from pymodel.paths.topology import Topology
from pymodel.wire.spec import BTH, CC_STATE, ENDPOINT_QP, ETHERNET, ICRC_BYTES, IPV6, METH, RETH, SETH, TSETH, UDP

__all__ = ["Workload", "WriteJob"]

_MEMORY_BASE = 0x10_0000_0000
_GUARD_BYTES = 4096
_UNTOUCHED = 0xA5
"""What a host's memory holds before the run."""

_TUNNELLED = sum(header.size for header in (ETHERNET, IPV6, IPV6, UDP, BTH)) + ICRC_BYTES
_DATA_OVERHEAD = _TUNNELLED + sum(header.size for header in (METH, TSETH, RETH))
_SACK_BYTES = _TUNNELLED + SETH.size + CC_STATE.size
_LINKS_OF_A_PATH = 4  # host to T0 to T1 to T0 to host (mrc-facts.md 4.1)


@dataclass(frozen=True, slots=True)
class WriteJob:
    """One write: its model, the source's QP, the data, and where the data goes in the destination's memory."""

    model: WriteModel
    wr_id: int
    qp: QueuePair
    data: bytes
    address: int
    r_key: int

    @property
    def post(self) -> PostWrite:
        """The event that starts it."""
        return PostWrite(self.qp.config.qpn, self.wr_id, self.data, self.address, self.r_key)


class Workload:
    """All writes of `scenario` on `topology`; `hosts` are the hosts that take part, by name, in the order of the YAML.

    InputError when a write names a host that the topology has not, or an EV set that it cannot make.
    """

    def __init__(self, scenario: Scenario, topology: Topology) -> None:
        self._devices: dict[str, Device] = {}
        sizes: dict[str, int] = {}
        addresses = []
        for write in scenario.writes:
            for name in (write.source, write.destination):
                if name not in self._devices:
                    self._devices[name] = device_for(topology, name)
                    sizes[name] = _GUARD_BYTES
            addresses.append(_MEMORY_BASE + sizes[write.destination])
            sizes[write.destination] += -(-write.bytes // _GUARD_BYTES) * _GUARD_BYTES + _GUARD_BYTES
        self.hosts = {
            name: Host(device, HostMemory(_MEMORY_BASE, bytes([_UNTOUCHED]) * sizes[name]))
            for name, device in self._devices.items()
        }
        settings = QpSettings(
            mtu=scenario.nic.mtu,
            mpr_units=scenario.nic.mpr_units,
            responder_mpr_units=scenario.nic.mpr_units,
            ack_timeout=scenario.nic.ack_timeout,
            linear_retries=scenario.nic.linear_retries,
            backoff_retries=scenario.nic.backoff_retries,
            tail_probes=scenario.nic.tail_probes,
            base_rtt_ps=_base_rtt_ps(scenario),
        )
        self.jobs = [
            self._job(scenario, topology, settings, wr_id, write, address)
            for wr_id, (write, address) in enumerate(zip(scenario.writes, addresses, strict=True), 1)
        ]

    def _job(
        self, scenario: Scenario, topology: Topology, settings: QpSettings, wr_id: int, write: WriteModel, address: int
    ) -> WriteJob:
        here, there = self._devices[write.source], self._devices[write.destination]
        # Both ends of a write have QPNs of their own, so that a host may be both.
        first_qpn = ENDPOINT_QP + 2 * wr_id
        own, _ = connect(
            topology,
            End(write.source, here, first_qpn),
            End(write.destination, there, first_qpn + 1),
            evs=scenario.nic.evs,
            seed=scenario.seed,
            settings=settings,
            congestion=lambda: FixedWindow(_window_bytes(scenario)),
        )
        data = random.Random(f"{scenario.seed} data {write.name}").randbytes(write.bytes)
        # A write of no bytes names a region too, and a region has at least one.
        region = there.regions.register(address, max(1, write.bytes))
        return WriteJob(write, wr_id, own, data, address, region.r_key)

    @property
    def total_bytes(self) -> int:
        """Bytes of all writes."""
        return sum(job.model.bytes for job in self.jobs)

    def landed_bytes(self) -> int:
        """Bytes that NICs have placed so far, for progress."""
        return sum(host.memory.placed_bytes for host in self.hosts.values())

    def results(self) -> list[WriteResult]:
        """What each write took and whether it is whole."""
        return [self._result(job) for job in self.jobs]

    def _result(self, job: WriteJob) -> WriteResult:
        memory = self.hosts[job.model.destination].memory
        landed = memory.read(job.address, len(job.data))
        completions = self._completions(job)
        counts = self.hosts[job.model.source].details("write_ended", wr_id=job.wr_id)
        return WriteResult(
            name=job.model.name,
            bytes=len(job.data),
            packets=counts.get("packets", 0),
            retransmissions=counts.get("retransmissions", 0),
            nacks=counts.get("nacks", 0),
            timeouts=counts.get("timeouts", 0),
            completion_ps=completions[0][0] if completions else None,
            src_sha256=hashlib.sha256(job.data).hexdigest(),
            dst_sha256=hashlib.sha256(landed).hexdigest(),
            match=landed == job.data,
        )

    def _completions(self, job: WriteJob) -> list[tuple[int, Complete]]:
        found = self.hosts[job.model.source].completions
        return [(at_ps, entry) for at_ps, entry in found if entry.wr_id == job.wr_id]

    def faults(self) -> list[str]:
        """Say, a sentence each, what is not as it must be: completions one by one, and every byte of every memory."""
        found = []
        for job in self.jobs:
            statuses = [entry.status for _, entry in self._completions(job)]
            if statuses != ["success"]:
                found.append(f"write {job.model.name}: completions {statuses}, not one success")
        for name, host in self.hosts.items():
            expected = bytearray([_UNTOUCHED]) * len(host.memory.data)
            for job in self.jobs:
                if job.model.destination == name:
                    start = job.address - _MEMORY_BASE
                    expected[start : start + len(job.data)] = job.data
            if expected != host.memory.data:
                differing = [at for at, (a, b) in enumerate(zip(expected, host.memory.data, strict=True)) if a != b]
                at = _MEMORY_BASE + differing[0]
                found.append(f"host {name}: {len(differing)} bytes differ from what was to be there, first at {at:#x}")
            expected_count = sum(job.model.source == name for job in self.jobs)
            if len(host.completions) > expected_count:
                found.append(f"host {name}: {len(host.completions)} completions for {expected_count} writes")
        return found

    def packets_by_ev(self) -> dict[str, int]:
        """Data packets sent by EV, summed over the QPs: 32-bit EV in hex to count, EVs without a packet included."""
        counts: dict[int, int] = {}
        for job in self.jobs:
            for slot in job.qp.requester.evs.slots():
                counts[slot.ev] = counts.get(slot.ev, 0) + slot.sent
        return {f"{ev:#010x}": counts[ev] for ev in sorted(counts)}

    def packets_by_plane(self) -> dict[str, int]:
        """Data packets sent by plane."""
        counts: dict[int, int] = {}
        for job in self.jobs:
            for slot in job.qp.requester.evs.slots():
                counts[slot.port] = counts.get(slot.port, 0) + slot.sent
        return {str(plane): counts[plane] for plane in sorted(counts)}

    def warnings(self) -> list[str]:
        """Frames that reached a NIC and had no effect there."""
        return [
            f"host {name}: {count} frames without effect ({cause})"
            for name, device in self._devices.items()
            for cause, count in sorted(device.dropped.items())
        ]


def _base_rtt_ps(scenario: Scenario) -> int:
    """Round trip of an idle fabric: a full data packet over the longest path, and its SACK back."""
    links = scenario.links
    sizes = (scenario.nic.mtu + _DATA_OVERHEAD, _SACK_BYTES)
    one_way = (serialisation_ps(size + PREAMBLE_AND_FCS_BYTES, links.rate_bps) + links.delay_ns * NS for size in sizes)
    return _LINKS_OF_A_PATH * sum(one_way)


def _window_bytes(scenario: Scenario) -> int:
    """The congestion window: 1.5 BDP of all planes together unless the scenario says otherwise (mrc-facts.md 2.6)."""
    bdp_bits = scenario.topology.planes * scenario.links.rate_bps * _base_rtt_ps(scenario) // S
    return scenario.nic.window_bytes or bdp_bits * 3 // 2 // 8
