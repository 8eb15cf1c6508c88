"""Endpoint operations of `mrc_ctl.h`: probes of paths and updates of port status, without a QP (mrc-facts.md 1.10).

In C one call sends a batch and blocks until all responses are there or the timeout is over. Here the call sends, and
the batch that it returns fills while time passes:

    batch = ep_batch_send(context, EndpointOp.EV_PROBE, [EpRequest(1, address, ev), ...], 2_000_000, now_ps)
    ...                                     # the fabric runs
    batch.status                            # None while it waits, then 0 or errno.ETIMEDOUT
    batch.responses                         # in the order in which they arrived
"""

from __future__ import annotations

import errno
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from pymodel.base.time import NS
from pymodel.nic.events import Notify, PostEndpointRequest
from pymodel.verbs.context import Context
from pymodel.verbs.errors import VerbsError, refusing
from pymodel.verbs.ev_profile import Ev
from pymodel.wire.spec import EndpointOp

__all__ = ["EpBatch", "EpRequest", "EpResponse", "ep_batch_send"]

_TIMEOUT_MAX_NS = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class EpRequest:
    """A request (`mrc_ctl_ep_req`): its 16-bit number, the peer's GID (128 bits), and the path with its port."""

    req_id: int
    dgid: int
    ev: Ev


@dataclass(frozen=True, slots=True)
class EpResponse:
    """The response to request `req_id` (`mrc_ctl_ep_rsp`)."""

    req_id: int
    port: int
    """Where it arrived, from 1."""
    rtt: int
    """ns."""
    adj_svc_time: bool
    """The time for which the peer held the request is not in `rtt`."""


class EpBatch:
    """Requests of one kind on their way."""

    def __init__(self, op: EndpointOp, adj_svc_time: bool) -> None:
        self.op = op
        self.responses: list[EpResponse] = []
        """What has come so far, in the order of arrival."""
        self.missing: set[int] = set()
        """Requests without response, by req_id."""
        self._waiting = 0
        self._adj_svc_time = adj_svc_time

    @property
    def status(self) -> int | None:
        """None while it waits; then 0, or errno.ETIMEDOUT when a response is missing."""
        if self._waiting:
            return None
        return errno.ETIMEDOUT if self.missing else 0

    def add(self, req_id: int) -> None:
        """A request was sent."""
        self.missing.add(req_id)
        self._waiting += 1

    def take(self, req_id: int, notice: Notify) -> None:
        """The NIC says what became of a request."""
        self._waiting -= 1
        if notice.kind == "endpoint_response":
            details = dict(notice.details)
            rtt = details["rtt_ps"] // NS
            self.missing.remove(req_id)
            self.responses.append(EpResponse(req_id, details["port"] + 1, rtt, self._adj_svc_time))


def ep_batch_send(
    context: Context,
    op: EndpointOp,
    requests: Sequence[EpRequest],
    rsp_timeout: int,
    now_ps: int,
    *,
    req_tc: int | None = None,
) -> EpBatch:
    """Send endpoint requests of one kind at `now_ps` and return the batch that collects the responses.

    `rsp_timeout` is in ns; `req_tc` is the DSCP of the requests, else they are never trimmed. PORT_STATUS_UPDATE tells
    the peers which ports of the device are up.

    EINVAL: no request, a number twice or wider than 16 bits, a port, an address or a DSCP that cannot be, a timeout of
    0 or beyond 32 bits. EAGAIN: too many requests on their way. EPERM: a process without privilege.
    """
    context.require_privilege()
    adapter = context.adapter
    _check(requests, rsp_timeout, req_tc, adapter.ports)
    capable = adapter.device.config.capabilities.service_time
    batch = EpBatch(op, capable)
    for request in requests:
        number = adapter.new_work()
        # The free bits of the EV tell requests over one path apart.
        record = request.ev.record(random.Random(request.req_id))
        event = PostEndpointRequest(number, op, request.dgid, record, rsp_timeout * NS, req_tc)
        with refusing(errno.EAGAIN):
            actions = adapter.device.handle(event, now_ps)
        batch.add(request.req_id)
        adapter.endpoint_requests[number] = partial(batch.take, request.req_id)
        adapter.perform(actions)
    return batch


def _check(requests: Sequence[EpRequest], rsp_timeout: int, req_tc: int | None, ports: int) -> None:
    def invalid(found: str, expected: str) -> VerbsError:
        return VerbsError(errno.EINVAL, "endpoint requests", found, expected)

    if not requests:
        raise invalid("none", "at least one")
    if not 1 <= rsp_timeout <= _TIMEOUT_MAX_NS:
        raise invalid(f"a timeout of {rsp_timeout} ns", f"1 to {_TIMEOUT_MAX_NS} ns")
    if req_tc is not None and not 0 <= req_tc < 64:
        raise invalid(f"DSCP {req_tc}", "a number from 0 to 63")
    seen: set[int] = set()
    for request in requests:
        if not 0 <= request.req_id < 1 << 16 or request.req_id in seen:
            raise invalid(f"number {request.req_id}", "numbers of 16 bits, each once")
        seen.add(request.req_id)
        if not 0 <= request.dgid < 1 << 128:
            raise invalid(f"address {request.dgid:#x}", "an address of 128 bits")
        if not 1 <= request.ev.port <= ports:
            raise invalid(f"port {request.ev.port}", f"a port from 1 to {ports}")
