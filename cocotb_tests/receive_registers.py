"""Software of the receive side, as operations that `hdl/receive_software.sv` carries out by AXI4-Lite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from struct import Struct

from cocotb_tests.receive_rows import PORTS, Answer, Command, Notice, Op
from pymodel.nic.config import DeviceConfig
from pymodel.rtl.registers import addresses

_OPERATION = Struct(">4I")
_READ = Struct("<3I")
_WORD = (1 << 32) - 1
_ANSWER = ("qp", "state", "cack", "ooo_count", "completed", "received", "unanswered")
_NOTICE = ("request_id", "mask", "peer[0]", "peer[1]", "peer[2]", "peer[3]")
_ROW = ("status", *(f"data[{word}]" for word in range(10)))
_ROWS = 24  # read back with the counters, those told last
NOTICES = 16
"""That may wait for software."""


class What(IntEnum):
    """Operations; the bench's module says what each does."""

    WRITE = 0
    READ = 1
    POLL = 2
    SKIP = 3
    FRAMES = 4
    REST = 5
    MARK = 6
    PAUSE = 7
    REFUSED = 8


class Software:
    """Lays out operations, and reads the log of what they read."""

    def __init__(self) -> None:
        self.addresses = addresses()
        self._names = {address: name for name, address in self.addresses.items()}
        self._operations: list[bytes] = []
        self._written: dict[str, int] = {}  # what the parts of a command hold
        self._told: dict[int, int] = {}  # rows, by what selects them, the one told last behind the others
        self._read_back: list[int] = []  # rows that the round reads, in order

    def taken(self) -> bytes:
        """The operations so far; the next ones begin a new file."""
        operations, self._operations = b"".join(self._operations), []
        return operations

    def add(self, what: What, a: int = 0, b: int = 0, c: int = 0) -> None:
        self._operations.append(_OPERATION.pack(what, a, b, c))

    def write(self, name: str, value: int) -> None:
        self.add(What.WRITE, self.addresses[name], value)

    def read(self, names: Iterable[str]) -> None:
        for name in names:
            self.add(What.READ, self.addresses[name])

    def poll(self, name: str, mask: int, value: int) -> None:
        self.add(What.POLL, self.addresses[name], mask, value)

    def refused(self, address: int, *, write: bool) -> None:
        """An access that must be answered with SLVERR."""
        self.add(What.REFUSED, address, 0 if write else 1, _WORD)

    def rest(self) -> None:
        self.add(What.REST)

    def settings(self, config: DeviceConfig) -> None:
        """Static registers: addresses of device and ports; the others keep what they come up with."""
        self._wide("reply.address", config.address, 4)
        for number, port in enumerate(config.ports):
            for kind, mac in (("mac", port.mac), ("switch_mac", port.switch_mac)):
                self.write(f"port[{number}].{kind}_low", mac & _WORD)
                self.write(f"port[{number}].{kind}_high", mac >> 32)
            self._wide(f"port[{number}].outer_source", port.source_address, 4)

    def _wide(self, name: str, value: int, words: int) -> None:
        for word in range(words):
            self.write(f"{name}[{word}]", value >> 32 * word & _WORD)

    def command(self, command: Command) -> None:
        """Give a command when its time has come, wait until it was accepted, and read the answer to a query."""
        for port, count in enumerate(command.behind or ()):
            if count:
                self.add(What.FRAMES, port, count)
        if command.row is not None:
            packed, word = command.row.pack(), 0
            port = command.port if command.op is Op.QP_ROUTE else 0
            selected = command.op << 19 | port << 16 | command.qp
            self._told.pop(selected, None)
            self._told[selected] = packed
            while packed >> 32 * word or not word:
                self._part(f"command.data[{word}]", packed >> 32 * word & _WORD)
                word += 1
            for rest in range(word, 11):  # what the row does not reach: zeros, not an earlier row
                self._part(f"command.data[{rest}]", 0)
        self._part("command.qp", command.qp)
        if command.op is Op.QP_ROUTE:
            self._part("command.port", command.port)
        self._part("command.value", command.value)
        self.write("command.go", command.op)
        self.poll("command.status", 0b1, 0)
        self.add(What.MARK)
        if command.op is Op.QUERY:
            self.poll("query.status", 1, 1)
            self.read(f"query.{name}" for name in _ANSWER)

    def _part(self, name: str, value: int) -> None:
        if self._written.get(name) != value:
            self.write(name, value)
            self._written[name] = value

    def notices(self, most: int) -> None:
        """Take up to `most` notices that wait."""
        for _ in range(most):
            self.add(What.SKIP, self.addresses["notice.status"], 1, len(_NOTICE) + 1)
            self.read(f"notice.{name}" for name in _NOTICE)
            self.write("notice.take", 1)

    def counters(self) -> None:
        """Read every counter, and some rows back."""
        self.read(name for name in self.addresses if "_count" in name.split(".")[0])
        rows = list(self._told.items())[-_ROWS:]
        self._read_back = [row for _, row in rows]
        for selected, _ in rows:
            self.write("row_select.select", selected)
            self.read(f"row.{name}" for name in _ROW)

    # The log

    def reads(self, log: bytes) -> Iterator[tuple[str, int]]:
        """Each register read, by name, with what it held."""
        for address, data, _ in _READ.iter_unpack(log):
            yield self._names.get(address, f"{address:#x}"), data

    def answers_and_notices(self, log: bytes) -> tuple[list[Answer], list[Notice], dict[str, int]]:
        """What queries and notices said, in their order, and the counters that were read last.

        AssertionError when a row read back is not as it was told.
        """
        answers: list[Answer] = []
        notices: list[Notice] = []
        counters: dict[str, int] = {}
        values: list[int] = []
        told, row = iter(self._read_back), 0
        for name, data in self.reads(log):
            unit, _, field = name.partition(".")
            if unit == "command":
                assert data == 0, "a command was refused"
            elif unit == "query" and field != "status":
                values = [data] if field == _ANSWER[0] else [*values, data]
                if field == _ANSWER[-1]:
                    answers.append(Answer(*values))
            elif unit == "notice":
                values = [data] if field == _NOTICE[0] else [*values, data]
                if field == _NOTICE[-1]:
                    request, mask, *peer = values
                    notices.append(Notice(sum(word << 32 * n for n, word in enumerate(peer)), mask, request))
            elif unit == "row" and field == "status":
                assert data == 1, "a row that was told is not there"
                row = next(told)
            elif unit == "row":
                assert data == row & _WORD, "a row is not as it was told"
                row >>= 32
            elif "_count" in unit:
                counters[name] = data
        return answers, notices, counters


def port_counters(counters: dict[str, int]) -> list[dict[str, int]]:
    """Counters of ports by port and, in capitals as `DROP_NAMES` has them, by name."""
    ports: list[dict[str, int]] = [{} for _ in range(PORTS)]
    for name, value in counters.items():
        unit, _, field = name.partition(".")
        if unit.startswith("port_count["):
            ports[int(unit[11:-1])][field.upper()] = value
    return ports
