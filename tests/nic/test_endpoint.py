"""Endpoint operations: EV probes, port status on both sides, answers by the way they came (mrc-facts.md 1.10, 2.7)."""

import pytest

from pymodel.base.errors import InputError
from pymodel.base.time import MS, NS, US
from pymodel.nic.attach import device_for
from pymodel.nic.config import Capabilities, DeviceConfig, QpSettings
from pymodel.nic.congestion import FixedWindow
from pymodel.nic.device import Device
from pymodel.nic.endpoint import PORT_STATUS_FIRST_PS, PORT_STATUS_LAST_PS
from pymodel.nic.events import FrameIn, FrameOut, Notify, PortChange, PostEndpointRequest, SetTimer, TimerFired
from pymodel.nic.route_back import route_back
from pymodel.paths.ev import EvRecord
from pymodel.paths.topology import Topology
from pymodel.wire.headers import Bth, Eeth, Erth
from pymodel.wire.spec import DEFAULT_OPTIONS, EETH_OP_54, ENDPOINT_QP, EndpointOp, Opcode, WireOptions
from tests.nic.harness import DELAY, HERE_QPN, Pair
from tests.nic.peer import OWN, PEER, PEER_EV, arrive, device, evs, frames, write
from tests.nic.peer import endpoint_request as request
from tests.nic.peer import endpoint_response as response

UPDATE, PROBE = EndpointOp.PORT_STATUS_UPDATE, EndpointOp.EV_PROBE
REQUEST, RESPONSE = Opcode.ENDPOINT_REQUEST, Opcode.ENDPOINT_RESPONSE


def notices(actions, kind):
    return [dict(action.details) for action in actions if isinstance(action, Notify) and action.kind == kind]


def of_opcode(actions, opcode):
    return [frame for frame in frames(actions) if frame.opcode == opcode]


def ask(nic, op=PROBE, port=1, timeout_ps=50 * US, now_ps=0):
    record = EvRecord(0x0200_0000 + port, port, 0xFC00_0000 << 96 | 9)
    return nic.handle(PostEndpointRequest(7, op, PEER, record, timeout_ps), now_ps)


# Asking


@pytest.mark.parametrize("op", EndpointOp)
def test_a_request_and_its_answer(op):
    nic = device()
    actions = ask(nic, op, now_ps=3 * US)
    (out,) = [action for action in actions if isinstance(action, FrameOut)]
    (frame,) = frames(actions)
    assert (out.port, frame.opcode, frame.dest_qp, frame.ev) == (1, REQUEST, ENDPOINT_QP, 0x0200_0001)
    assert (frame.erth.op, frame.erth.port_status_mask) == (op, 0b11)
    assert frame.erth.tx_timestamp == 3 * US // (128 * NS)
    assert (frame.dscp, frame.ip.src, frame.ip.dst) == (DEFAULT_OPTIONS.dscp.no_trim, OWN, PEER)
    answer = response(op, frame.psn, frame.erth.tx_timestamp)
    actions = nic.handle(FrameIn(0, answer.data), 11 * US)
    assert notices(actions, "endpoint_response") == [{"request": 7, "op": op, "rtt_ps": 8 * US, "port": 0}]
    assert notices(nic.handle(answer, 12 * US), "endpoint_response") == [], "once"
    assert nic.dropped["endpoint response to no request"] == 1


def test_the_responders_service_time_is_taken_out_of_the_round_trip():
    for able, rtt_ps in ((True, 8 * US - 10 * 128 * NS), (False, 8 * US)):
        base = device().config
        nic = Device(DeviceConfig(base.ports, OWN, capabilities=Capabilities(service_time=able)))
        (frame,) = frames(ask(nic, now_ps=3 * US))
        answer = response(PROBE, frame.psn, frame.erth.tx_timestamp + 10)
        assert notices(nic.handle(answer, 11 * US), "endpoint_response")[0]["rtt_ps"] == rtt_ps


WRONG_ANSWERS = [
    ("another id", {"number": 1}),
    ("another operation", {"op": UPDATE}),
    ("another peer", {"src": PEER + 1}),
]


@pytest.mark.parametrize("wrong", [row[1] for row in WRONG_ANSWERS], ids=[row[0] for row in WRONG_ANSWERS])
def test_no_answer_in_time(wrong):
    nic = device()
    actions = ask(nic)
    (frame,) = frames(actions)
    fields = {"op": PROBE, "number": 0} | wrong
    number = (frame.psn + fields.pop("number")) & 0xFFFF
    nic.handle(response(fields.pop("op"), number, **fields), 20 * US)
    assert nic.dropped["endpoint response to no request"] == 1
    (timer,) = [action for action in actions if isinstance(action, SetTimer)]
    assert timer.at_ps == 50 * US
    actions = nic.handle(TimerFired(timer.key, timer.generation), timer.at_ps)
    assert notices(actions, "endpoint_timeout") == [{"request": 7, "op": PROBE}]
    assert nic.handle(response(PROBE, frame.psn), 60 * US) == [], "too late"


def test_nothing_leaves_a_port_that_is_down():
    nic = device()
    nic.handle(PortChange(1, up=False), 0)
    assert frames(ask(nic, port=1)) == []
    assert len(frames(ask(nic, port=0))) == 1


@pytest.mark.parametrize("changes", [{"port": 2}, {"timeout_ps": 0}], ids=["no such port", "no time"])
def test_requests_that_cannot_be_are_refused(changes):
    with pytest.raises(InputError, match="endpoint request 7"):
        ask(device(), **changes)


# Answering


@pytest.mark.parametrize("op", EndpointOp)
@pytest.mark.parametrize("options", [WireOptions(), WireOptions(eeth=EETH_OP_54)], ids=["op in 3:2", "op in 5:4"])
def test_l06_a_request_is_answered_by_the_way_it_came(op, options):
    nic = device(options=options)
    actions = nic.handle(FrameIn(1, request(op, 0xABCD, mask=3).data), 5 * US)
    (out,) = [action for action in actions if isinstance(action, FrameOut)]
    (frame,) = frames(actions)
    assert (out.port, frame.opcode, frame.psn, frame.ev, frame.dest_qp) == (1, RESPONSE, 0xABCD, PEER_EV, ENDPOINT_QP)
    byte, shift = frame.data[frame.payload_start - Eeth.SIZE + 1], 4 if options.eeth is EETH_OP_54 else 2
    assert byte == op << shift
    assert frame.data[frame.payload_start - Eeth.SIZE + 28 :][:2] == b"\x00\x55"


def test_an_answer_waits_for_the_service_time():
    base = device().config
    nic = Device(DeviceConfig(base.ports, OWN, service_time_ps=2 * US))
    actions = [*nic.handle(request(PROBE, 1), 0), *nic.handle(request(PROBE, 2), US)]
    assert frames(actions) == []
    (timer,) = [action for action in actions if isinstance(action, SetTimer)]
    actions = nic.handle(TimerFired(timer.key, timer.generation), 2 * US)
    (frame,) = frames(actions)
    assert (frame.psn, frame.eeth.tx_timestamp) == (1, 0x55 + 2 * US // (128 * NS))
    (timer,) = [action for action in actions if isinstance(action, SetTimer)]
    assert timer.at_ps == 3 * US
    assert [frame.psn for frame in frames(nic.handle(TimerFired(timer.key, timer.generation), 3 * US))] == [2]


FABRIC = Topology(planes=2, t0=3, t1=4, hosts_per_t0=2)


@pytest.mark.parametrize(("asker", "asked"), [("h0-0", "h2-1"), ("h1-1", "h1-0")], ids=["across", "under one T0"])
def test_the_path_back_is_that_of_the_topology(asker, asked):
    """Each EV's answer takes the same plane and the same T1, with the addresses that the topology itself would give."""
    source, target = FABRIC.host(asker), FABRIC.host(asked)
    for record in FABRIC.ev_set(asker, asked, 16, seed=3):
        own, peer = FABRIC.source_address(target, record.port), FABRIC.source_address(source, record.port)
        back = route_back(own, peer, record.ev)
        uplink = record.ev >> 18 & 0xFF
        usids = FABRIC.path(target, source, record.port, uplink if asker[1] != asked[1] else 0)
        expected = FABRIC.block
        for usid in usids:
            expected = expected << 16 | usid
        assert back == expected << 16 * (6 - len(usids))


BAD_SOURCES = [0, (1 << 128) - 1, 0xFC00_0000 << 96, 0xFC00_0000 << 96 | 1, 0xFC00_0001_0001_4000 << 64]


@pytest.mark.parametrize("source", BAD_SOURCES, ids=[f"{source:#x}"[:20] for source in BAD_SOURCES])
def test_a_source_that_names_no_way_back_draws_no_answer(source):
    own = FABRIC.source_address(FABRIC.host("h0-0"), 0)
    assert route_back(own, source, PEER_EV) is None
    nic = device_for(FABRIC, "h0-0")
    asking = device_for(FABRIC, "h1-0")
    record = FABRIC.ev_set("h1-0", "h0-0", 2, seed=1)[0]
    work = PostEndpointRequest(1, PROBE, FABRIC.inner_address(FABRIC.host("h0-0")), record, MS)
    (out,) = [action for action in asking.handle(work, 0) if isinstance(action, FrameOut)]
    assert len(frames(nic.handle(FrameIn(0, out.data), 0))) == 1
    spoiled = out.data[:22] + source.to_bytes(16, "big") + out.data[38:]
    assert nic.handle(FrameIn(0, spoiled), 0) == []
    assert nic.dropped["no way back"] == 1


# Port status


def test_a_link_that_changes_is_told_to_every_peer_over_every_live_plane_until_answered():
    nic = device()
    actions = nic.handle(PortChange(0, up=False), 0)
    sent, at_ps, gaps, ways = [], 0, [], set()
    for _ in range(14):
        told = of_opcode(actions, REQUEST)
        assert [(frame.erth.op, frame.erth.port_status_mask) for frame in told] == [(UPDATE, 0b10)]
        sent += told
        ways.add(told[0].ev)
        timer = [action for action in actions if isinstance(action, SetTimer)][-1]
        gaps.append(timer.at_ps - at_ps)
        at_ps = timer.at_ps
        actions = nic.handle(TimerFired(timer.key, timer.generation), at_ps)
    assert len({frame.psn for frame in sent}) == 1, "one update, one number"
    assert len(ways) == 8, "by another EV each time"
    expected = [min(PORT_STATUS_FIRST_PS << i, PORT_STATUS_LAST_PS) for i in range(14)]
    assert gaps == expected
    assert nic.handle(response(UPDATE, sent[0].psn + 1), at_ps) == [], "the answer to something else"
    nic.handle(response(UPDATE, sent[0].psn), at_ps)
    timer = [action for action in actions if isinstance(action, SetTimer)][-1]
    assert nic.handle(TimerFired(timer.key, timer.generation), timer.at_ps) == []


def test_two_live_planes_carry_an_update_each():
    nic = device()
    nic.handle(PortChange(0, up=False), 0)
    actions = nic.handle(PortChange(0, up=True), 1000)
    assert sorted(action.port for action in actions if isinstance(action, FrameOut)) == [0, 1]
    assert nic.handle(PortChange(0, up=True), 2000) == [], "no news"


def test_a_peer_obeys_the_newest_status():
    nic = device(receive_psn=0, send_psn=0)
    nic.regions.register(0x7F00_0000_1000, 4096)

    def ports(psn):
        actions = nic.handle(write(psn, b"x", msn=psn, bth={"ack_req": 1}), 0)
        return {action.port for action in actions if isinstance(action, FrameOut)}

    (frame,) = of_opcode(nic.handle(request(UPDATE, 0xFFFF, mask=0b10), 0), RESPONSE)
    assert frame.eeth.op == UPDATE
    assert ports(0) == {1}
    assert of_opcode(nic.handle(request(UPDATE, 0xFFFE, mask=0b01), 0), RESPONSE), "an old one is answered"
    assert ports(1) == {1}, "and not believed"
    nic.handle(request(UPDATE, 0x0003, mask=0b11), 0)
    assert ports(2) | ports(3) == {0, 1}


def test_a_stranger_changes_nothing():
    nic = device(receive_psn=0)
    stranger = arrive(
        Bth(opcode=REQUEST, dest_qp=ENDPOINT_QP, psn=1), Erth(op=UPDATE, port_status_mask=0), src=PEER + 1
    )
    nic.handle(stranger, 0)
    assert nic.ports.usable(PEER) == nic.ports.usable(PEER + 1) == 0b11


def test_a_new_qp_tells_its_peer_of_a_port_that_is_down():
    nic = device()
    nic.handle(PortChange(1, up=False), 0)
    qp = nic.qp(0x123)
    attributes = nic.query_qp(0x123).attributes
    nic.create_qp(0x200)
    nic.modify_qp(0x200, type(qp.state).INIT, hint=0, evs=evs(), congestion=FixedWindow(1))
    names = ["peer_qpn", "mtu", "receive_psn", "responder_wimm", "responder_mpr_units", "dynamic_mpr"]
    actions = nic.modify_qp(
        0x200, type(qp.state).RTR, peer_address=PEER + 1, **{name: attributes[name] for name in names}
    )
    told = of_opcode(actions, REQUEST)
    assert [(frame.erth.port_status_mask, frame.ip.dst) for frame in told] == [(0b01, PEER + 1)]


SMALL = QpSettings(ack_timeout=4, base_rtt_ps=12 * US)


class Links:
    """A channel whose planes go up and down at either end."""

    def __init__(self):
        self.up = [[True, True], [True, True]]

    def __call__(self, sender, frame, data):
        plane = next(p for p in (0, 1) if frame.ethernet.src in self.macs[p])
        return [(DELAY, data)] if self.up[0][plane] and self.up[1][plane] else []

    def join(self, pair):
        self.macs = [{device.config.ports[plane].mac for device in pair.devices} for plane in (0, 1)]
        self.pair = pair

    def set(self, who, plane, up):
        self.up[who][plane] = up
        self.pair.give(who, PortChange(plane, up))


def transfer_with(script, size=400_000):
    """A transfer during which `script` (step number to changes of links) happens; returns the pair."""
    links = Links()
    pair = Pair(links, settings=SMALL, congestion=lambda: FixedWindow(8 * 4300))
    links.join(pair)
    data = bytes(range(256)) * (size // 256)
    pair.write(data)
    steps = 0
    while pair.step():
        for who, plane, up in script.get(steps, ()):
            links.set(who, plane, up)
        steps += 1
        assert pair.now_ps < 10**12
    assert bytes(pair.memory[: len(data)]) == data
    assert [c.status for _, c in pair.completions[0]] == ["success"]
    pair.assert_at_rest()
    return pair


SCRIPTS = [
    ("sender's port", {40: [(0, 0, False)]}),
    ("receiver's port", {40: [(1, 0, False)]}),
    ("the same plane at both sides at once", {40: [(0, 1, False), (1, 1, False)]}),
    ("down and up again", {40: [(0, 0, False)], 90: [(0, 0, True)]}),
    ("different planes at both sides, one comes back", {40: [(0, 0, False), (1, 1, False)], 60: [(1, 1, True)]}),
    ("all planes here, and back", {40: [(0, 0, False), (0, 1, False)], 45: [(0, 1, True)], 80: [(0, 0, True)]}),
    ("all planes there, and back", {40: [(1, 0, False), (1, 1, False)], 60: [(1, 0, True)]}),
    ("flapping", {30 + 10 * i: [(i % 2, 0, i % 4 > 1)] for i in range(8)}),
]


@pytest.mark.parametrize("script", [row[1] for row in SCRIPTS], ids=[row[0] for row in SCRIPTS])
def test_links_go_down_and_up_at_either_side(script):
    transfer_with(script)


def test_the_peer_leaves_a_dead_plane_once_it_is_told():
    pair = transfer_with({40: [(1, 0, False)]})
    answers = [(at_ps, frame) for at_ps, who, frame in pair.sent if who == 0 and frame.opcode == RESPONSE]
    told_ps = next(at_ps for at_ps, frame in answers if frame.eeth.op == UPDATE)
    dead = {device.config.ports[0].mac for device in pair.devices}
    later = [frame for at_ps, who, frame in pair.sent if at_ps > told_ps]
    assert later
    assert not [frame for frame in later if frame.ethernet.src in dead]


def test_links_of_every_device_keep_their_qps_apart():
    pair = Pair(settings=SMALL)
    pair.give(0, PortChange(0, up=False))
    pair.run()
    assert pair.there.ports.usable(pair.there.qp(0x456).config.peer_address) == 0b10
    assert pair.here.ports.up == 0b10
    assert pair.here.qp(HERE_QPN).requester.evs.any_up
