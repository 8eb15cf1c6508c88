"""mrc_csr through an AXI4-Lite master: registers, illegal accesses, commands, rows read back, answers, counters."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from pymodel.base.toolpath import ROOT
from pymodel.rtl.build import Design, build, read_file_list
from pymodel.rtl.registers import addresses
from pymodel.rtl.simulate import simulate

PORTS, QPS, REGIONS = 8, 16, 4
COMMANDS, QUERY, REGION = 13, 12, 2  # operations, that of a query, that of a region
CONFIG, ROUTE, QP_RESET = 0, 1, 3
ROW_BITS = {CONFIG: 258, ROUTE: 289, REGION: 137}
ROW_WORDS = 10
ROWS = [
    *((CONFIG, qp, 0) for qp in range(QPS)),
    *((ROUTE, qp, port) for qp in range(QPS) for port in range(PORTS)),
    *((REGION, region, 0) for region in range(REGIONS)),
]
FORGETS = max(QPS, REGIONS)  # clocks after reset in which no command goes to the engine
ADDRESS = addresses()
PORT_KINDS = [name.split(".")[1] for name in ADDRESS if name.startswith("port_count[0].")]
ENGINE_KINDS = [name.split(".")[1] for name in ADDRESS if name.startswith("engine_count.")]
READ_ONLY = (
    "built",
    "query",
    "row.",
    "port_count",
    "engine_count",
    "command.status",
    "notice.status",
    "notice.request_id",
)
WRITE_ONLY = ("command.go", "notice.take")
MAX_LAG = 40  # clocks from an event to its counter
EVENTS = ("accepted_i", "dropped_i", "sent_i", "engine_i", "endpoint_answered_i", "endpoint_dropped_i")
OTHER_EVENTS = ("no_way_back_i", "completed_i", "flushed_i")


class TB:
    """Clock, reset, and an AXI4-Lite master that says what was answered."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        Clock(dut.clk_i, 4, unit="ns").start(start_high=False)
        bus = AxiLiteBus.from_prefix(dut, "s_axil")
        self.axil = AxiLiteMaster(bus, dut.clk_i, dut.rst_ni, reset_active_level=False)
        for name in (*EVENTS, *OTHER_EVENTS, "command_ready_i", "query_valid_i", "notice_valid_i"):
            getattr(dut, name).value = 0

    async def reset(self) -> None:
        self.dut.rst_ni.value = 0
        for _ in range(4):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        await FallingEdge(self.dut.clk_i)

    async def read(self, name: str) -> int:
        answer = await self.axil.read(ADDRESS[name], 4)
        assert answer.resp == AxiResp.OKAY, name
        return int.from_bytes(answer.data, "little")

    async def write(self, name: str, value: int) -> None:
        answer = await self.axil.write(ADDRESS[name], value.to_bytes(4, "little"))
        assert answer.resp == AxiResp.OKAY, name

    async def read_illegal(self, address: int) -> None:
        assert (await self.axil.read(address, 4)).resp == AxiResp.SLVERR, hex(address)

    async def write_illegal(self, address: int, data: bytes = b"\xff\xff\xff\xff") -> None:
        assert (await self.axil.write(address, data)).resp == AxiResp.SLVERR, hex(address)

    async def wide(self, name: str, words: int) -> int:
        return sum([await self.read(f"{name}[{w}]") << 32 * w for w in range(words)])

    async def write_wide(self, name: str, words: int, value: int) -> None:
        for w in range(words):
            await self.write(f"{name}[{w}]", value >> 32 * w & 0xFFFFFFFF)

    async def give(self, op: int, qp: int, port: int = 0, data: int = 0) -> None:
        """Give a command away, to be accepted when the engine is ready."""
        await self.write_wide("command.data", 11, data)
        await self.write("command.qp", qp)
        await self.write("command.port", port)
        await self.write("command.go", op)

    async def select(self, kind: int, index: int, port: int) -> None:
        await self.write("row_select.select", kind << 19 | port << 16 | index)

    async def row(self, kind: int, index: int, port: int) -> tuple[int, int]:
        """Status and words of a row."""
        await self.select(kind, index, port)
        return await self.read("row.status"), await self.wide("row.data", ROW_WORDS)

    async def clocks(self, count: int) -> None:
        for _ in range(count):
            await FallingEdge(self.dut.clk_i)


@cocotb.test()
async def static_registers_reach_the_units(dut: Any) -> None:
    rng = random.Random(1)
    tb = TB(dut)
    await tb.reset()
    assert [await tb.read(f"built.{name}") for name in ("qps", "window", "regions", "wimm")] == [
        QPS,
        4096,
        REGIONS,
        128,
    ]
    expected = 0
    for port in range(PORTS):
        mac, switch_mac, source = (rng.getrandbits(bits) for bits in (48, 48, 128))
        for name, value in (("mac", mac), ("switch_mac", switch_mac)):
            await tb.write(f"port[{port}].{name}_low", value & 0xFFFFFFFF)
            await tb.write(f"port[{port}].{name}_high", value >> 32)
        await tb.write_wide(f"port[{port}].outer_source", 4, source)
        expected |= (mac << 176 | switch_mac << 128 | source) << 224 * port
        assert await tb.wide(f"port[{port}].outer_source", 4) == source
    assert int(dut.port_config_o.value) == expected

    defaults = int(dut.rx_config_o.value), int(dut.reply_config_o.value)
    udp, dscp = await tb.read("rx.udp"), await tb.read("rx.dscp")
    first, other, trimmed, lasthop = udp & 0xFFFF, udp >> 16, dscp & 63, dscp >> 6
    assert defaults[0] == first << 29 | other << 13 | trimmed << 7 | lasthop << 1
    assert first != other
    assert trimmed != lasthop
    control = await tb.read("reply.dscp")
    options = await tb.read("reply.options")
    udp = await tb.read("reply.udp")
    assert udp == first
    assert options == 0b011
    reply = (control & 63) << 25 | (control >> 6) << 19 | udp << 3 | 0b110
    assert defaults[1] == reply
    address = rng.getrandbits(128)
    await tb.write_wide("reply.address", 4, address)
    await tb.write("rx.ev", 1)
    await tb.write("reply.options", 0b100)
    assert int(dut.rx_config_o.value) == defaults[0] | 1
    assert int(dut.reply_config_o.value) == address << 31 | reply & ~7 | 0b001


@cocotb.test(timeout_time=1, timeout_unit="ms")  # an access that nobody answers would wait for ever
async def illegal_accesses_answer_slverr_and_change_nothing(dut: Any) -> None:
    tb = TB(dut)
    await tb.reset()
    before = int(dut.port_config_o.value), int(dut.rx_config_o.value), int(dut.reply_config_o.value)
    known = set(ADDRESS.values())
    for address in range(0, 1 << 12, 4):
        if address not in known:
            await tb.read_illegal(address)
            await tb.write_illegal(address)
    for name, address in ADDRESS.items():
        if name.startswith((*READ_ONLY, "notice.mask", "notice.peer")):
            await tb.write_illegal(address)
        elif name.startswith(WRITE_ONLY):
            await tb.read_illegal(address)
        for data in (b"\x01", b"\x01\x02", b"\x01\x02\x03"):
            await tb.write_illegal(address, data)
    for name in ("rx.udp", "port[3].mac_low"):
        for low in (1, 2, 3):
            await tb.write_illegal(ADDRESS[name] + low, b"\x55")
            assert (await tb.axil.read(ADDRESS[name] + low, 4 - low)).resp == AxiResp.SLVERR
    assert (int(dut.port_config_o.value), int(dut.rx_config_o.value), int(dut.reply_config_o.value)) == before
    assert not int(dut.command_valid_o.value)
    assert await tb.read("command.status") == 0


async def by_hand(tb: TB, address: int, strobes: int, lead: int) -> int:
    """Write ones, the address `lead` clocks ahead of the data or behind it, others on idle lines: the answer."""
    dut = tb.dut
    for name, value in (("awaddr", ADDRESS["rx.udp"]), ("wdata", 0), ("wstrb", 0xF ^ strobes)):
        getattr(dut, f"s_axil_{name}").value = value
    begin = {"aw": max(-lead, 0), "w": max(lead, 0)}
    given = {"aw": {"awaddr": address}, "w": {"wdata": 0xFFFFFFFF, "wstrb": strobes}}
    clock = 0
    while given:
        await FallingEdge(dut.clk_i)
        for channel in (channel for channel, start in begin.items() if start == clock):
            for name, value in {f"{channel}valid": 1, **given[channel]}.items():
                getattr(dut, f"s_axil_{name}").value = value
        await RisingEdge(dut.clk_i)
        taken = [c for c in given if all(int(getattr(dut, f"s_axil_{c}{end}").value) for end in ("valid", "ready"))]
        for channel in taken:
            getattr(dut, f"s_axil_{channel}valid").value = 0
            del given[channel]
        clock += 1
    return int((await tb.axil.write_if.b_channel.recv()).bresp)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def address_and_data_in_any_order(dut: Any) -> None:
    """Whichever comes first, they count together: part of a word and an unaligned one answer SLVERR."""
    tb = TB(dut)
    await tb.reset()
    before = int(dut.rx_config_o.value)
    for lead in range(-4, 5):
        for address, strobes in ((0, 0b0001), (0, 0b0111), (1, 0xF), (2, 0xF), (3, 0xF)):
            assert await by_hand(tb, ADDRESS["rx.udp"] + address, strobes, lead) == AxiResp.SLVERR, (lead, address)
            assert int(dut.rx_config_o.value) == before
        assert await by_hand(tb, ADDRESS["rx.ev"], 0xF, lead) == AxiResp.OKAY
        assert int(dut.rx_config_o.value) == before | 1
        await tb.reset()


@cocotb.test()
async def commands_reach_the_engine(dut: Any) -> None:
    """Each once, whole, and unchanged while it waits, whatever software writes meanwhile."""
    rng = random.Random(2)
    tb = TB(dut)
    await tb.reset()
    for op in (*range(COMMANDS), *(rng.randrange(COMMANDS) for _ in range(8))):
        qp = rng.randrange(REGIONS if op == REGION else QPS)
        port, value, data = rng.randrange(PORTS), rng.getrandbits(32), rng.getrandbits(352)
        await tb.write_wide("command.data", 11, data)
        await tb.write("command.qp", qp)
        await tb.write("command.port", port)
        await tb.write("command.value", value)
        await tb.write("command.go", op)
        assert await tb.read("command.status") == 1
        for name in ("command.qp", "command.value", "command.data[0]", "command.go"):
            await tb.write(name, rng.randrange(COMMANDS))
        assert await tb.read("command.status") == 3  # the second go had no effect, and says so
        command = (op << 19 | qp << 3 | port) << 384 | value << 352 | data
        assert int(dut.command_o.value) == command
        dut.command_ready_i.value = 1
        await RisingEdge(dut.clk_i)
        assert int(dut.command_valid_o.value)
        assert int(dut.command_o.value) == command
        await FallingEdge(dut.clk_i)
        dut.command_ready_i.value = 0
        assert not int(dut.command_valid_o.value)
        assert await tb.read("command.status") == 2


@cocotb.test()
async def commands_for_what_is_not_there_are_refused(dut: Any) -> None:
    tb = TB(dut)
    await tb.reset()
    cases = [(op, 0) for op in range(COMMANDS, 16)] + [(REGION, REGIONS), (REGION, 0xFFFF), (0, QPS), (12, 0x8001)]
    for op, qp in cases:
        await tb.write("command.qp", qp)
        await tb.write("command.go", op)
        assert await tb.read("command.status") == 2
        assert not int(dut.command_valid_o.value)
    await tb.write("command.qp", QPS - 1)
    await tb.write("command.go", 0)
    assert await tb.read("command.status") == 1


@cocotb.test()
async def rows_are_read_back_as_the_engine_was_told(dut: Any) -> None:
    """Every row of every kind, twice, amid other commands; from the clock of acceptance on, and not before."""
    rng = random.Random(4)
    tb = TB(dut)
    await tb.reset()
    assert {await tb.row(*row) for row in ROWS} == {(0, 0)}
    told: dict[tuple[int, int, int], int] = {}
    for kind, index, port in (*rng.sample(ROWS, len(ROWS)), *rng.sample(ROWS, 40)):
        if rng.random() < 0.2:  # one that brings no row, whatever its data
            await tb.give(rng.randrange(QP_RESET, COMMANDS), rng.randrange(QPS), port, rng.getrandbits(352))
            await accept(dut)
        data = rng.choice((rng.getrandbits(352), (1 << 352) - 1))
        other = port if kind == ROUTE else rng.randrange(PORTS)  # means nothing where there is no route
        await tb.give(kind, index, other, data)
        row = kind, index, port
        assert await tb.row(kind, index, other) == (int(row in told), told.get(row, 0))
        await accept(dut)
        told[row] = data & (1 << ROW_BITS[kind]) - 1
        assert await tb.row(kind, index, other) == (1, told[row])
    assert {row: await tb.row(*row) for row in ROWS} == {row: (1, told[row]) for row in ROWS}
    for op in range(QP_RESET, COMMANDS):
        await tb.give(op, 3, rng.randrange(PORTS), rng.getrandbits(352))
        await accept(dut)
        for row in ((kind, index, port) for kind, index, port in ROWS if index == 3):
            assert await tb.row(*row) == (1, told[row]), op
    await tb.reset()  # memory keeps what was written, and nothing of it shows
    await tb.clocks(FORGETS)
    assert {await tb.row(*row) for row in ROWS} == {(0, 0)}


async def accept(dut: Any) -> None:
    """The engine takes the command that waits."""
    await FallingEdge(dut.clk_i)
    assert int(dut.command_valid_o.value)
    dut.command_ready_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.command_ready_i.value = 0


@cocotb.test()
async def rows_that_do_not_exist_read_as_zeros_and_say_so(dut: Any) -> None:
    rng = random.Random(5)
    tb = TB(dut)
    await tb.reset()
    ones = (1 << 352) - 1
    for row in ROWS:
        await tb.give(*row, ones)
        await accept(dut)
    for op, qp in ((CONFIG, QPS), (ROUTE, QPS + 1), (REGION, REGIONS), (13, 0)):
        await tb.give(op, qp, 0, 0)
        assert await tb.read("command.status") == 2
    for kind in range(4):
        exist = {CONFIG: QPS, ROUTE: QPS, REGION: REGIONS}.get(kind, 0)
        indices = {exist, exist + 1, QPS + REGIONS, 2 * QPS, 0x8000, 0xFFFF, rng.randrange(exist, 1 << 16)}
        for index in indices:
            assert await tb.row(kind, index, rng.randrange(PORTS)) == (2, 0), (kind, index)
    for row in ROWS:
        assert await tb.row(*row) == (1, (1 << ROW_BITS[row[0]]) - 1)


@cocotb.test()
async def rows_are_read_while_they_are_told(dut: Any) -> None:
    """One reads as fast as it goes, another gives commands, the engine takes each in the first clock."""
    rng = random.Random(6)
    tb = TB(dut)
    await tb.reset()
    few = [(CONFIG, 1, 0), (ROUTE, 1, 0), (ROUTE, 1, 7), (REGION, 1, 0)]
    told = dict.fromkeys(few, 0)
    dut.command_ready_i.value = 1
    waited: list[int] = []
    changed = 0

    async def engine() -> None:
        while True:
            await RisingEdge(dut.clk_i)
            if int(dut.command_valid_o.value):
                command = int(dut.command_o.value)
                op, qp, port = command >> 403, command >> 387 & 0xFFFF, command >> 384 & 7
                told[op, qp, port] = command & (1 << ROW_BITS[op]) - 1

    async def software() -> None:
        for _ in range(120):
            row = rng.choice(few)
            await tb.give(*row, rng.getrandbits(352))
            waited.append(await tb.read("command.status"))

    task, following = cocotb.start_soon(software()), cocotb.start_soon(engine())
    while not task.done():
        row, word = rng.choice(few), rng.randrange(ROW_WORDS)
        await tb.select(*row)
        before = told[row]
        found = await tb.read(f"row.data[{word}]")
        after = told[row]
        assert found in (before >> 32 * word & 0xFFFFFFFF, after >> 32 * word & 0xFFFFFFFF)
        changed += before != after
    following.cancel()
    assert set(waited) == {0}
    assert changed > 3
    assert {row: await tb.row(*row) for row in few} == {row: (1, told[row]) for row in few}


@cocotb.test()
async def the_first_command_waits_until_the_rows_are_forgotten(dut: Any) -> None:
    """A command right behind reset, waits for the clearing to end, is kept, and shows."""
    tb = TB(dut)
    await tb.reset()
    await tb.give(CONFIG, QPS - 1, 0, 5)
    await accept(dut)
    dut.rst_ni.value = 0
    await tb.clocks(4)
    dut.rst_ni.value = 1
    cocotb.start_soon(tb.write("command.go", CONFIG))
    for clock in range(1, FORGETS):
        await FallingEdge(dut.clk_i)
        assert not int(dut.command_valid_o.value), clock
    await FallingEdge(dut.clk_i)
    assert int(dut.command_valid_o.value)
    assert await tb.read("command.status") == 1
    await accept(dut)
    assert await tb.row(CONFIG, 0, 0) == (1, 0)
    assert await tb.row(CONFIG, QPS - 1, 0) == (0, 0)


@cocotb.test()
async def answers_and_notices(dut: Any) -> None:
    rng = random.Random(3)
    tb = TB(dut)
    await tb.reset()
    dut.command_ready_i.value = 1
    widths = {"qp": 16, "state": 2, "cack": 24, "ooo_count": 15, "completed": 24, "received": 32, "unanswered": 17}
    for _ in range(3):
        await tb.write("command.qp", 3)
        await tb.write("command.go", QUERY)
        assert await tb.read("query.status") == 0
        parts = {name: rng.getrandbits(width) for name, width in widths.items()}
        packed = 0
        for name, width in widths.items():
            packed = packed << width | parts[name]
        await FallingEdge(dut.clk_i)
        dut.query_i.value, dut.query_valid_i.value = packed, 1
        await FallingEdge(dut.clk_i)
        dut.query_i.value, dut.query_valid_i.value = rng.getrandbits(130), 0
        assert await tb.read("query.status") == 1
        assert {name: await tb.read(f"query.{name}") for name in widths} == parts

    assert await tb.read("notice.status") == 0
    notices = [(rng.getrandbits(128), rng.getrandbits(16), rng.getrandbits(32)) for _ in range(3)]
    taken = 0

    async def queue() -> None:
        nonlocal taken
        for peer, number, mask in notices:
            dut.notice_i.value, dut.notice_valid_i.value = (peer << 16 | number) << 32 | mask, 1
            await RisingEdge(dut.clk_i)
            while not int(dut.notice_ready_o.value):
                await RisingEdge(dut.clk_i)
            taken += 1
        dut.notice_valid_i.value = 0

    task = cocotb.start_soon(queue())
    for n, (peer, number, mask) in enumerate(notices):
        assert await tb.read("notice.status") == 1
        assert await tb.wide("notice.peer", 4) == peer
        assert await tb.read("notice.request_id") == number
        assert await tb.read("notice.mask") == mask
        assert taken == n
        await tb.write("notice.take", 0)
    await task
    assert await tb.read("notice.status") == 0


@cocotb.test()
@cocotb.parametrize(rate=[0.05, 0.6, 1.0])
async def counters_count_every_event_while_software_reads(dut: Any, rate: float) -> None:
    """Events in every clock on every port, reads as fast as they go: a count read is never more than it was late."""
    rng = random.Random(f"{rate}")
    tb = TB(dut)
    await tb.reset()
    counts = {name: 0 for name in ADDRESS if name.startswith(("port_count[", "engine_count."))}
    history: list[dict[str, int]] = []
    running = True

    def happened() -> None:
        mask = {name: sum((rng.random() < rate) << p for p in range(PORTS)) for name in EVENTS[:3]}
        causes = [rng.randrange(len(PORT_KINDS) - 2) for _ in range(PORTS)]
        for name, bits in mask.items():
            getattr(dut, name).value = bits
        dut.drop_cause_i.value = sum(cause << 5 * p for p, cause in enumerate(causes))
        for p in range(PORTS):
            counts[f"port_count[{p}].accepted"] += mask["accepted_i"] >> p & 1
            counts[f"port_count[{p}].sent"] += mask["sent_i"] >> p & 1
            counts[f"port_count[{p}].{PORT_KINDS[2 + causes[p]]}"] += mask["dropped_i"] >> p & 1
        pulses = len(ENGINE_KINDS) - 10  # the struct's, the first member its highest bit
        engine = sum((rng.random() < rate) << b for b in range(pulses))
        dut.engine_i.value = engine
        singles = [int(rng.random() < rate) for _ in range(5)]
        cause = rng.randrange(6)
        names = ("endpoint_answered_i", "endpoint_dropped_i", *OTHER_EVENTS)
        for name, value in zip(names, singles, strict=True):
            getattr(dut, name).value = value
        dut.endpoint_cause_i.value = cause
        dropped = [0] * 6
        dropped[cause] = singles[1]
        events = [engine >> pulses - 1 - k & 1 for k in range(pulses)] + [singles[0], *dropped, *singles[2:]]
        for kind, event in zip(ENGINE_KINDS, events, strict=True):
            counts[f"engine_count.{kind}"] += event

    async def traffic() -> None:
        while running:
            await FallingEdge(dut.clk_i)
            history.append(dict(counts))
            happened()
        await FallingEdge(dut.clk_i)
        for name in (*EVENTS, *OTHER_EVENTS):
            getattr(dut, name).value = 0

    task = cocotb.start_soon(traffic())
    names = list(counts)
    for _ in range(250):
        name = rng.choice(names)
        asked = len(history)
        found = await tb.read(name)
        earliest = max(0, asked - MAX_LAG)
        assert (history[earliest][name] if history else 0) <= found <= counts[name], name
    running = False
    await task
    await tb.clocks(MAX_LAG)
    assert {name: await tb.read(name) for name in names} == counts
    assert rate < 0.5 or min(counts.values()) > 0


@cocotb.test()
async def warnings_are_errors_C04(dut: Any) -> None:  # noqa: N802 - the id of the reported bug
    """But for the listed ones of the AXI4-Lite master: every other test here would fail with them."""
    with pytest.raises(DeprecationWarning):
        dut.query_i.setimmediatevalue(0)


SOURCES = read_file_list(ROOT / "rtl_models" / "csr" / "mrc_csr.f")
MODULE = "cocotb_tests.test_mrc_csr"
PARAMETERS = {"QPS": QPS, "REGIONS": REGIONS}


@pytest.mark.rtl
@pytest.mark.slow
def test_registers(tmp_path: Path) -> None:
    simulate(build(Design("mrc_csr", SOURCES, PARAMETERS)), MODULE, tmp_path, {})
