"""Memory regions as libibverbs has them: what writes take their bytes from, and what a peer may write."""

from __future__ import annotations

import errno

from pymodel.nic.events import Payload
from pymodel.verbs.context import Context, MemoryRegion
from pymodel.verbs.errors import VerbsError, refusing
from pymodel.verbs.work import Access, Sge

__all__ = ["dereg_mr", "reg_mr"]


def _invalid(where: str, found: str, expected: str) -> VerbsError:
    return VerbsError(errno.EINVAL, where, found, expected)


def reg_mr(
    context: Context, address: int, length: int, access: Access = Access.LOCAL_WRITE | Access.REMOTE_WRITE
) -> MemoryRegion:
    """Register `length` bytes from `address`. EINVAL: bad range or access; ENOMEM: no key is left."""
    context.require_open()
    if access & ~(Access.LOCAL_WRITE | Access.REMOTE_WRITE):
        raise _invalid("memory region's access", str(access.name), "LOCAL_WRITE and REMOTE_WRITE alone")
    if Access.REMOTE_WRITE in access and Access.LOCAL_WRITE not in access:
        raise _invalid("memory region's access", "REMOTE_WRITE alone", "LOCAL_WRITE with it")
    if length < 1 or address < 0 or address + length > 1 << 64:
        raise _invalid("memory region", f"{length} bytes at {address:#x}", "at least one byte within 64 bits")
    adapter = context.adapter
    lkey = adapter.new_lkey()
    rkey = None
    if Access.REMOTE_WRITE in access:
        with refusing(errno.ENOMEM):
            rkey = adapter.register(address, length)
    region = MemoryRegion(context, address, length, access, lkey, rkey)
    context.regions[lkey] = region
    return region


def dereg_mr(region: MemoryRegion) -> None:
    """Take the region back: from now on its keys are refused. EINVAL: not a region of the context."""
    context = region.context
    if context.regions.pop(region.lkey, None) is None:
        raise _invalid("memory region", f"lkey {region.lkey:#x}", "one that is registered")
    if region.rkey is not None:
        context.adapter.device.regions.deregister(region.rkey)


def read(context: Context, sge: Sge) -> Payload:
    """The bytes that `sge` names. EINVAL: no region of the context has its key, or it leaves the region."""
    region = context.regions.get(sge.lkey)
    if region is None:
        raise _invalid("local memory", f"lkey {sge.lkey:#x}", "the lkey of a region of the context")
    offset = sge.address - region.address
    if sge.length < 0 or not 0 <= offset <= region.length - sge.length:
        found = f"{sge.length} bytes at {sge.address:#x}"
        raise _invalid("local memory", found, f"a range within {region.length} bytes at {region.address:#x}")
    return context.adapter.memory.read(sge.address, sge.length)
