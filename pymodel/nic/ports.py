"""Which ports may be used: the local link must be up, and towards a peer the peer's port of the same plane too.

Port i is in plane i at both ends, so a plane is dead as soon as one of the two ports is down (mrc-facts.md 2.7).
"""

from __future__ import annotations

from pymodel.base.errors import InputError

__all__ = ["PortStates"]


class PortStates:
    """The ports of one device, as bits of a mask: bit i is set when port i is up."""

    __slots__ = ("_peers", "count", "up")

    def __init__(self, count: int) -> None:
        """All of `count` ports up, here and at every peer."""
        self.count = count
        self.up = (1 << count) - 1
        self._peers: dict[int, int] = {}  # by inner address; peers that said something

    @property
    def all_up(self) -> bool:
        """Every local link is up."""
        return self.up == (1 << self.count) - 1

    def set_local(self, port: int, up: bool) -> bool:
        """The link of `port` went up or down; True when that is news."""
        if not 0 <= port < self.count:
            raise InputError("port", str(port), f"a port below {self.count}")
        before = self.up
        self.up = before | 1 << port if up else before & ~(1 << port)
        return self.up != before

    def set_peer(self, address: int, mask: int) -> bool:
        """The peer at inner `address` said which of its ports are up (32 bits); True when that is news."""
        before = self.usable(address)
        self._peers[address] = mask
        return self.usable(address) != before

    def usable(self, address: int) -> int:
        """Mask of the planes that are up at both ends of the way to the peer at inner `address`."""
        return self.up & self._peers.get(address, self.up)
