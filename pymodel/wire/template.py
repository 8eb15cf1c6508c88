"""The quick way to make frames: everything that a flow's packets share is laid out once.

`write_transport` packs BTH, METH, TSETH, RETH and immediate of a write in one step; `FrameTemplate.pack` puts Ethernet to
UDP in front and pad and ICRC behind any transport bytes. Both make the bytes of `pymodel.wire.build.build`; a property
test holds them to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from pymodel.wire import spec
from pymodel.wire.build import build, routing_header
from pymodel.wire.checksum import internet_checksum
from pymodel.wire.headers import Bth, Ethernet, Immdt, Ipv4, Ipv6, Meth, Reth, Tseth, Udp
from pymodel.wire.icrc import icrc_of
from pymodel.wire.packed_header import PackedHeader
from pymodel.wire.spec import DEFAULT_OPTIONS, Ftype, WireOptions
from pymodel.wire.tunnel import split_ev

__all__ = ["FrameTemplate", "write_transport"]
