"""An adapter for a host of a topology.

topology = Topology(planes=2, t0=2, t1=2, hosts_per_t0=2)
adapter = adapter_for(topology, "h0-0", memory)
"""

from __future__ import annotations

from collections.abc import Sequence

from pymodel.base.errors import InputError
from pymodel.nic.attach import device_for
from pymodel.nic.config import QpSettings
from pymodel.paths.ev import EvRecord
from pymodel.paths.topology import Topology
from pymodel.verbs.adapter import Adapter, LocalMemory
from pymodel.wire.spec import DEFAULT_OPTIONS, WireOptions

__all__ = ["adapter_for"]


def adapter_for(
    topology: Topology,
    name: str,
    memory: LocalMemory,
    *,
    settings: QpSettings | None = None,
    options: WireOptions = DEFAULT_OPTIONS,
    seed: int = 1,
) -> Adapter:
    """The adapter of host `name`. It finds paths by itself, as many as its EVs allow and the same number per plane."""
    names = {topology.inner_address(host): host.name for host in topology.hosts()}

    def find_paths(peer_address: int, count: int) -> Sequence[EvRecord]:
        peer = names.get(peer_address)
        if peer is None:
            raise InputError("peer address", f"{peer_address:#x}", "the address of a host")
        return topology.ev_set(name, peer, count - count % topology.planes, seed)

    return Adapter(device_for(topology, name, options), memory, find_paths=find_paths, settings=settings, seed=seed)
