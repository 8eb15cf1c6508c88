"""The embedded switch engine: a BMv2 JSON program run with simple_switch's semantics in virtual time.

Frames go in through `inject` with a time and come out of `drain` with the time at which they left. Between the two the
packet takes the way that BMv2's simple_switch gives it: parser, ingress, then clone, digest, resubmission, multicast or
the queue of its egress port, egress, deparser, and perhaps the way back by recirculation. Nothing here takes time but
queues with a rate. No frame raises: what BMv2 answers with undefined behaviour or by stopping is defined in
`docs/engine.md`, and whatever the engine drops by itself is counted in `Engine.drops`.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pymodel.base.errors import InputError
from pymodel.base.time import EventQueue
from pymodel.switch.engine.compile import compile_program
from pymodel.switch.engine.load import load
from pymodel.switch.engine.packet import NO_TRUNCATION
from pymodel.switch.engine.queueing import PortQueues
from pymodel.switch.target import Rate

__all__ = ["DROP_PORT", "Engine", "Replica"]

DROP_PORT = 511
"""simple_switch's default: a packet whose egress_spec is this is dropped."""

_WORK_LIMIT = 4096
"""Passes through ingress or egress that one frame and its copies may take; BMv2 would loop for ever."""

# standard_metadata.instance_type as simple_switch numbers it.
_NORMAL, _INGRESS_CLONE, _EGRESS_CLONE, _RECIRCULATED, _REPLICATED, _RESUBMITTED = 0, 1, 2, 4, 5, 6


@dataclass(frozen=True, slots=True, order=True)
class Replica:
    """A copy's egress port, and the value of its `egress_rid`; None leaves that field as it is."""

    rid: int | None
    port: int


class Engine:
    """One switch.

    `tables`, `profiles`, `counters`, `meters`, `registers` and `value_sets` map the program's names to their run-time
    objects; a control plane changes those. `multicast_groups` and `clone_sessions` are dictionaries of replicas.
    `drops` counts the packets that the engine dropped by itself, by cause, and as "ingress" and "egress" those that the
    program dropped: every packet that entered or was made by copying leaves, waits in a queue or is counted there.
    """

    def __init__(
        self,
        json_text: str | bytes | Mapping[str, Any],
        *,
        seed: int = 0,
        priority_queues: int = 8,
        drop_port: int = DROP_PORT,
    ) -> None:
        self.program = load(json_text)
        self.drops: Counter[str] = Counter()
        self.multicast_groups: dict[int, tuple[Replica, ...]] = {}
        self.clone_sessions: dict[int, tuple[Replica, ...]] = {}
        self.digest_listener: Callable[[str, tuple[int, ...]], None] | None = None
        self.log_listener: Callable[[str], None] | None = None
        self.drop_port = drop_port
        self.priority_queues = priority_queues
        compiled = compile_program(self.program, drop_port, seed, self._fail, self._log)
        self.source = compiled.source
        self.tables = compiled.tables
        self.profiles = compiled.profiles
        self.counters = compiled.counters
        self.meters = compiled.meters
        self.registers = compiled.registers
        self.value_sets = compiled.value_sets
        self._code = compiled.namespace
        self._used = frozenset(compiled.layout.used)
        self._link_generated()
        self._ports: dict[int, PortQueues] = {}
        self._events: EventQueue[int] = EventQueue()
        # What is in there: a port asks for the same time again with each packet that comes.
        self._awaited: set[tuple[int, int]] = set()
        self._work: deque[tuple[int | None, Any]] = deque()
        self._out: list[tuple[int, int, bytes]] = []
        self._now = 0

    def _link_generated(self) -> None:
        code = self._code
        self._packet = code["Packet"]
        self._parse = code["parse"]
        self._verify = code.get("verify")
        self._ingress = code["ingress"]
        self._egress = code["egress"]
        self._deparse = code["deparse"]
        self._start_egress = code["start_egress"]
        self._stamp_enqueue = code["enqueue"]
        self._copy = code["copy"]
        self._reset_metadata = code["reset_metadata"]
        self._multicasts = "mcast_grp" in self._used
        self._types = "instance_type" in self._used
        self._prioritises = "priority" in self._used
        self._stamps = bool({"enq_timestamp", "enq_qdepth"} & self._used)

    # --- frames ---

    def inject(self, port: int, data: bytes, now_ps: int) -> None:
        """A frame arrives on `port` at `now_ps`. An empty frame is none and is counted as a drop.

        Whatever waited until then leaves first. A time before the engine's own is taken as that.
        """
        if now_ps > self._now:
            self._run_until(now_ps)
            self._now = now_ps
        if not data:
            self.drops["empty frame"] += 1
            return
        packet = self._packet(data, port, self._now)
        packet.budget = [_WORK_LIMIT]
        self._run_ingress(packet)
        self._finish_work()

    def next_event_ps(self) -> int | None:
        """When a frame that is inside can next leave, in ps; None when there is none."""
        waiting = self._events.next_ps()
        if not self._out:
            return waiting
        return self._out[0][0] if waiting is None else min(waiting, self._out[0][0])

    def drain(self, until_ps: int) -> list[tuple[int, int, bytes]]:
        """The frames that left at or before `until_ps`, in order, as (time in ps, port, frame)."""
        self._run_until(until_ps)
        out = self._out
        if not out or out[-1][0] <= until_ps:
            self._out = []
            return out
        count = next(number for number, item in enumerate(out) if item[0] > until_ps)
        self._out = out[count:]
        return out[:count]

    # --- settings ---

    def set_queue(self, port: int, priority: int, rate: int | None, unit: Rate, depth_packets: int) -> None:
        """Set one queue's depth and, by `unit`, its own rate in packets or the port's link rate in bits per second."""
        if not 0 <= priority < self.priority_queues:
            raise InputError(f"queue of port {port}", f"priority {priority}", f"0 to {self.priority_queues - 1}")
        if depth_packets < 0 or (rate is not None and rate <= 0):
            raise InputError(
                f"queue of port {port}", f"rate {rate} and depth {depth_packets}", "a rate above 0 or None"
            )
        queues = self._ports.setdefault(port, PortQueues(self.priority_queues))
        queues.set_depth(priority, depth_packets)
        if unit == "pps":
            queues.set_packet_rate(priority, rate)
        elif unit == "bit/s":
            queues.set_link_rate(rate)
        else:
            raise InputError(f"queue of port {port}", f"unit {unit!r}", "pps or bit/s")

    def queue_depth(self, port: int, priority: int) -> int:
        """Packets that wait in one queue."""
        queues = self._ports.get(port)
        return 0 if queues is None else queues.depth(priority)

    def set_multicast_group(self, group: int, replicas: Sequence[Replica] | None) -> None:
        """Set the copies that a multicast group makes, in the order of rid and port; None removes the group."""
        self._set_replicas(self.multicast_groups, "multicast group", group, replicas, 0xFFFF)

    def set_clone_session(self, session: int, replicas: Sequence[Replica] | None) -> None:
        """Set the copies that a clone session makes; None removes it."""
        self._set_replicas(self.clone_sessions, "clone session", session, replicas, 0x7FFF)

    @staticmethod
    def _set_replicas(
        target: dict[int, tuple[Replica, ...]], what: str, number: int, replicas: Sequence[Replica] | None, limit: int
    ) -> None:
        if not 0 < number <= limit and not (number == 0 and what == "clone session"):
            raise InputError(what, f"{number}", f"1 to {limit}")
        if replicas is None:
            target.pop(number, None)
            return
        target[number] = tuple(sorted(set(replicas), key=lambda item: (item.rid or 0, item.port)))

    # --- the packet's way ---

    def _run_ingress(self, packet: Any) -> None:
        budget = packet.budget
        budget[0] -= 1
        if budget[0] < 0:
            self.drops["work limit"] += 1
            return
        self._parse(packet)
        if self._verify is not None:
            self._verify(packet)
        self._ingress(packet)
        if packet.failed:
            self.drops["failed assertion"] += 1
            return
        if packet.clone is not None:
            self._clone_from_ingress(packet)
        if packet.learn:
            self._digest(packet)
        if packet.resubmit:
            self._resubmit(packet)
        elif self._multicasts and packet.mcast_grp:
            self._replicate(packet)
        elif packet.egress_spec == self.drop_port:
            self.drops["ingress"] += 1
        else:
            if self._types:
                packet.instance_type = _NORMAL
            self._enqueue(packet.egress_spec, packet)

    def _enqueue(self, port: int, packet: Any) -> None:
        priority = packet.priority if self._prioritises else 0
        if priority >= self.priority_queues:
            self.drops["priority out of range"] += 1
            return
        queues = self._ports.get(port)
        if queues is None or queues.unlimited:
            if self._stamps:
                self._stamp_enqueue(packet, self._now, 0)
            self._run_egress(packet, port, priority, self._now, 0)
            return
        self._stamp_enqueue(packet, self._now, queues.depth(priority))
        if not queues.push(priority, packet, self._now):
            self.drops["queue full"] += 1
        else:
            self._serve(port, queues, self._now)

    def _serve(self, port: int, queues: PortQueues, now: int) -> None:
        """Let every packet of a port leave that may at `now`, and come back for the rest."""
        while (popped := queues.pop(now)) is not None:
            priority, packet = popped
            self._run_egress(packet, port, priority, now, queues.depth(priority), queues)
        following = queues.next_ps()
        if following is not None and (following, port) not in self._awaited:
            self._awaited.add((following, port))
            self._events.push(following, port)

    def _run_egress(
        self, packet: Any, port: int, priority: int, now: int, depth: int, queues: PortQueues | None = None
    ) -> None:
        budget = packet.budget
        budget[0] -= 1
        if budget[0] < 0:
            self.drops["work limit"] += 1
            return
        self._start_egress(packet, port, priority, now, depth)
        self._egress(packet)
        if packet.failed:
            self.drops["failed assertion"] += 1
            return
        if packet.clone is not None:
            self._clone_from_egress(packet)
        if packet.egress_spec == self.drop_port:
            self.drops["egress"] += 1
            return
        frame = self._deparse(packet)
        if packet.failed:
            self.drops["failed assertion"] += 1
        elif packet.recirculate:
            self._recirculate(packet, frame)
        elif not frame:
            self.drops["empty frame"] += 1
        else:
            left = now if queues is None else queues.transmit(len(frame), now)
            if self._out and left < self._out[-1][0]:
                insort(self._out, (left, port, frame), key=lambda item: item[0])
            else:
                self._out.append((left, port, frame))

    def _run_until(self, until: int) -> None:
        """Let everything happen that is due until then."""
        events = self._events
        while (due := events.next_ps()) is not None and due <= until:
            self._now, port = events.pop()
            self._awaited.remove((self._now, port))
            self._serve(port, self._ports[port], self._now)
            self._finish_work()

    def _finish_work(self) -> None:
        """Run what egress and resubmission left to be done: packets for ingress again, clones for a port."""
        while self._work:
            port, packet = self._work.popleft()
            if port is None:
                self._run_ingress(packet)
            else:
                self._enqueue(port, packet)

    # --- copies ---

    def _clone_from_ingress(self, packet: Any) -> None:
        """The frame as it came, parsed again; of the metadata only the field list is kept."""
        session, fields = packet.clone
        packet.clone = None
        clone = self._packet(packet.data, packet.port, packet.now)
        clone.budget = packet.budget
        self._parse(clone)
        self._reset_metadata(clone)
        self._code[f"keep_{fields}"](clone, packet)
        self._set_instance_type(clone, _INGRESS_CLONE)
        for port, copy in self._clones(session, clone):
            self._enqueue(port, copy)

    def _clone_from_egress(self, packet: Any) -> None:
        """The headers as egress left them; of the metadata only the field list is kept."""
        session, fields = packet.clone
        packet.clone = None
        clone = self._copy(packet)
        self._reset_metadata(clone)
        self._code[f"keep_{fields}"](clone, packet)
        self._set_instance_type(clone, _EGRESS_CLONE)
        # They wait until this packet has left: egress may clone what it gets without end.
        self._work += self._clones(session, clone)

    def _clones(self, session: int, clone: Any) -> Iterator[tuple[int, Any]]:
        replicas = self.clone_sessions.get(session)
        if replicas is None:
            self.drops["unknown clone session"] += 1
            return iter(())
        return self._replicas(clone, replicas)

    def _replicate(self, packet: Any) -> None:
        self._set_instance_type(packet, _REPLICATED)
        replicas = self.multicast_groups.get(packet.mcast_grp)
        if replicas is None:
            self.drops["unknown multicast group"] += 1
            return
        for port, copy in self._replicas(packet, replicas):
            self._enqueue(port, copy)

    def _replicas(self, packet: Any, replicas: Sequence[Replica]) -> Iterator[tuple[int, Any]]:
        for replica in replicas:
            copy = self._copy(packet)
            if replica.rid is not None and "egress_rid" in self._used:
                copy.egress_rid = replica.rid
            yield replica.port, copy

    def _resubmit(self, packet: Any) -> None:
        again = self._packet(packet.data, packet.port, packet.now)
        self._go_again(again, packet, packet.resubmit, _RESUBMITTED)

    def _recirculate(self, packet: Any, frame: bytes) -> None:
        if packet.truncate != NO_TRUNCATION:
            # BMv2 forgets the truncation of a packet that it sends round again.
            packet.truncate = NO_TRUNCATION
            frame = self._deparse(packet)
        again = self._packet(frame, packet.port, packet.now)
        self._go_again(again, packet, packet.recirculate, _RECIRCULATED)

    def _go_again(self, again: Any, packet: Any, fields: int, kind: int) -> None:
        again.budget = packet.budget
        length = again.length
        self._reset_metadata(again)
        self._code[f"keep_{fields}"](again, packet)
        self._set_instance_type(again, kind)
        if "packet_length" in self._used:
            again.packet_length = length
        self._work.append((None, again))

    def _set_instance_type(self, packet: Any, kind: int) -> None:
        if self._types:
            packet.instance_type = kind

    # --- what the program tells ---

    def _digest(self, packet: Any) -> None:
        if self.digest_listener is not None:
            name = self.program.learn_lists[packet.learn].name
            self.digest_listener(name, self._code[f"digest_{packet.learn}"](packet))

    def _fail(self, packet: Any, source: str) -> None:
        packet.failed = True
        self._log(f"failed: {source}", ())

    def _log(self, text: str, values: tuple[int, ...]) -> None:
        if self.log_listener is not None:
            for value in values:
                text = text.replace("{}", str(value), 1)
            self.log_listener(text)
