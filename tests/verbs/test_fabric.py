"""The API in a fabric of switches: explicit EVs carry writes, and probes find the path that is dead."""

from __future__ import annotations

import contextlib
import errno
from dataclasses import replace

import pytest

from pymodel.base.time import NS, US
from pymodel.cosim.fabric import Fabric, Host, HostMemory
from pymodel.cosim.run import cables_of
from pymodel.cosim.scenario import LinkModel
from pymodel.paths.ev import SRV6
from pymodel.paths.tables import switch_entries
from pymodel.paths.topology import Topology
from pymodel.switch.embedded import EmbeddedSwitch
from pymodel.switch.program import mrc_switch
from pymodel.verbs.adapter import Call
from pymodel.verbs.application import (
    create_context,
    create_cq,
    create_qp,
    modify_qp,
    poll_cq,
    post_recv,
    post_send,
)
from pymodel.verbs.attach import adapter_for
from pymodel.verbs.context import Context
from pymodel.verbs.controller import modify_ev_format_profile, modify_ev_profile, replace_evs
from pymodel.verbs.endpoint import EpRequest, ep_batch_send
from pymodel.verbs.ev_profile import UNPOPULATED, Ev, EvProfileAttr, EvState, ReplaceEv
from pymodel.verbs.memory import reg_mr
from pymodel.verbs.profiles import EvFormatProfileAttr, ProfileState
from pymodel.verbs.queue_pair import QpInitAttr
from pymodel.verbs.work import RecvRequest, SendRequest, Sge, WcStatus, WrOpcode
from pymodel.wire.spec import EndpointOp, EvFormatMode, EvSourceMode
from tests.verbs.pair import INIT, RTR, RTS

TOPOLOGY = Topology(planes=2, t0=2, t1=2, hosts_per_t0=1)
NAMES = ("h0-0", "h1-0")
BASE, SIZE = 0x1000, 1 << 16


def evs(who: int) -> list[Ev]:
    """Every path to the other host."""
    return [Ev.of(record) for record in TOPOLOGY.ev_set(NAMES[who], NAMES[1 - who], 4, 1)]


def profile(context: Context, paths: list[Ev]) -> None:
    """Format profile 1 and EV profile 1, explicit, ONLINE."""
    offline, online = ProfileState.OFFLINE, ProfileState.ONLINE
    modify_ev_format_profile(context, 1, EvFormatProfileAttr(state=offline, mode=EvFormatMode.SRV6, fields=SRV6.widths))
    modify_ev_format_profile(context, 1, EvFormatProfileAttr(state=online))
    explicit = EvProfileAttr(state=offline, mode=EvSourceMode.EXPLICIT, format_id=1, count=len(paths))
    modify_ev_profile(context, 1, explicit)
    replace_evs(context, 1, [ReplaceEv(UNPOPULATED, ev) for ev in paths])
    modify_ev_profile(context, 1, EvProfileAttr(state=online, min_active=2, event_mask=EvState(3)))


@pytest.mark.slow
def test_writes_and_probes_over_explicit_paths() -> None:
    memories = [HostMemory(BASE, bytes([who]) * SIZE) for who in (0, 1)]
    adapters = [adapter_for(TOPOLOGY, name, memory) for name, memory in zip(NAMES, memories, strict=True)]
    contexts = [create_context(adapter, privileged=True) for adapter in adapters]
    queues = [create_cq(context, 64) for context in contexts]
    regions = [reg_mr(context, BASE, SIZE) for context in contexts]
    qps = []
    for who, context in enumerate(contexts):
        profile(context, evs(who))
        qps.append(create_qp(context, QpInitAttr(send_cq=queues[who], recv_cq=queues[who])))
    for who, qp in enumerate(qps):
        modify_qp(qp, replace(INIT, ev_profile_id=1), 0)
        peer = TOPOLOGY.inner_address(TOPOLOGY.host(NAMES[1 - who]))
        modify_qp(qp, replace(RTR, peer_address=peer, dest_qp_num=qps[1 - who].qpn), 0)
        modify_qp(qp, replace(RTS, timeout=6), 0)

    with contextlib.ExitStack() as stack:
        switches = {}
        for place in TOPOLOGY.switches():
            switch = switches[place.name] = stack.enter_context(EmbeddedSwitch(place.name, seed=1))
            switch.load(mrc_switch())
            switch.write(switch_entries(TOPOLOGY, place))
        cables = cables_of(TOPOLOGY, LinkModel(), 1)
        hosts = {name: Host(adapter, memory) for name, adapter, memory in zip(NAMES, adapters, memories, strict=True)}
        fabric = Fabric(hosts, switches, cables)

        def act(now_ps: int) -> None:
            post_send(
                qps[0],
                SendRequest(
                    wr_id=1,
                    opcode=WrOpcode.RDMA_WRITE_WITH_IMM,
                    sg_list=(Sge(BASE, 30_000, regions[0].lkey),),
                    remote_address=BASE + 100,
                    rkey=regions[1].rkey,
                    imm_data=77,
                ),
                now_ps,
            )

        fabric.post(NAMES[1], Call(lambda now_ps: post_recv(qps[1], RecvRequest(wr_id=2), now_ps)), 0)
        fabric.post(NAMES[0], Call(act), 1 * US)
        while fabric.step():
            pass
        assert memories[1].data == bytes([1]) * 100 + bytes(30_000) + bytes([1]) * (SIZE - 30_100)
        ((sent,), (taken,)) = (poll_cq(queue, 9) for queue in queues)
        assert (sent.wr_id, sent.status) == (1, WcStatus.SUCCESS)
        assert (taken.wr_id, taken.imm_data, taken.byte_len) == (2, 77, 30_000)
        assert all(slot.sent for slot in qps[0].core.requester.evs.slots())

        # Every path answers; then one T1 loses its way down, and just the probe over it is missing.
        batches = []
        peer = TOPOLOGY.inner_address(TOPOLOGY.host(NAMES[1]))
        requests = [EpRequest(number, peer, ev) for number, ev in enumerate(evs(0))]

        def probe(now_ps: int) -> None:
            batches.append(ep_batch_send(contexts[0], EndpointOp.EV_PROBE, requests, 100_000, now_ps))

        dead = ("p1-t1-0", 1)
        for _ in range(2):
            fabric.post(NAMES[0], Call(probe), fabric.now_ps + 1 * US)
            while fabric.step():
                pass
            cables.pop(dead, None)
        first, second = batches
        assert (first.status, second.status) == (0, errno.ETIMEDOUT)
        assert {response.req_id: response.port for response in first.responses} == {
            number: request.ev.port for number, request in enumerate(requests)
        }
        # There and back: four links and three switches each way.
        assert {response.rtt * NS > 8 * LinkModel().delay_ns * NS for response in first.responses} == {True}
        (missing,) = second.missing
        t1 = TOPOLOGY.own_usids(TOPOLOGY.switch(dead[0]))[0]
        assert requests[missing].ev.value[6:8] == t1.to_bytes(2, "big")
