"""scapy layers for MRC, generated from the spec: `MrcBth` and one class for each header behind it.

    Ether() / IPv6(...) / IPv6(...) / UDP(sport=...) / MrcBth(opcode=..., psn=...) / MrcMeth() / MrcReth() / payload

Pad count, pad and ICRC are made when None, and a value that does not fit its field is refused by name. MRC is found by
the UDP destination port before scapy looks at the source port, where an EV may look like DNS. A trimmed write has no
ICRC, and its last bytes are not taken for one.
"""

from __future__ import annotations

from typing import Any

from scapy.fields import BitEnumField, BitField, ConditionalField, XLEIntField
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, Raw, bind_top_down

from pymodel.base.errors import InputError
from pymodel.wire import spec
from pymodel.wire.emit.python import class_name
from pymodel.wire.icrc import icrc_of

__all__ = ["LAYERS", "MrcBth"]


class _Checked:
    """Refuses values that do not fit, which scapy's bit fields cut off silently."""

    name: str
    size: int
    signed = False

    def i2m(self, pkt: Packet | None, value: Any) -> int:
        """Internal to machine value."""
        number = int(super().i2m(pkt, value))  # type: ignore[misc]  # the next class is a scapy field
        low, high = (-(1 << self.size - 1), (1 << self.size - 1) - 1) if self.signed else (0, (1 << self.size) - 1)
        if not low <= number <= high:
            layer = type(pkt).__name__ if pkt is not None else "field"
            raise InputError(f"{layer}.{self.name}", str(number), f"a number from {low} to {high}")
        return number & (1 << self.size) - 1


class _Bits(_Checked, BitField):
    pass


class _SignedBits(_Checked, BitField):
    signed = True

    def m2i(self, pkt: Packet | None, value: int) -> int:
        return value - (1 << self.size) if value >> self.size - 1 else value


class _EnumBits(_Checked, BitEnumField):
    pass


def _field(field: spec.Field, default: int | None) -> BitField | BitEnumField:
    if field.enum is not None:
        return _EnumBits(field.name, default, field.bits, {member.value: member.name for member in field.enum})
    return (_SignedBits if field.signed else _Bits)(field.name, default, field.bits)


def _bth(layer: Packet | None) -> Packet | None:
    while layer is not None and not isinstance(layer, MrcBth):
        layer = layer.underlayer
    return layer


def _next_layer(layer: Packet) -> type[Packet]:
    """What stands behind `layer` according to the opcode: the next extension header, or the payload."""
    bth = _bth(layer)
    if bth is None or bth.opcode not in spec.EXTENSIONS:
        return Raw
    names = [
        header.name for header in spec.EXTENSIONS[spec.Opcode(bth.opcode)] if header is not spec.TSETH or bth.ts == 1
    ]
    here = 0 if layer is bth else names.index(layer.spec_name) + 1 if layer.spec_name in names else len(names)
    return LAYERS[names[here]] if here < len(names) else Raw


def _guess(self: Packet, payload: bytes) -> type[Packet]:
    kind = _next_layer(self)
    # A trimmed frame may end inside a header.
    return kind if kind is Raw or len(payload) >= kind.spec_size else Raw


def _layer(header: spec.Header) -> type[Packet]:
    members: dict[str, Any] = {
        "name": header.name,
        "spec_name": header.name,
        "spec_size": header.size,
        "fields_desc": [_field(field, int(field.default)) for field in header.fields],
        "guess_payload_class": _guess,
        "__doc__": f"{header.title} ({header.source}).",
    }
    return type(f"Mrc{class_name(header)}", (Packet,), members)


def _inner_ip(udp: Packet | None) -> Packet | None:
    return udp.underlayer if isinstance(udp, UDP) and isinstance(udp.underlayer, (IP, IPv6)) else None


def _alone(layer: Packet, **filled: int) -> bytes:
    """The bytes of one layer. `filled` are the values of fields that its payload would fill in."""
    values = {field.name: layer.getfieldval(field.name) for field in layer.fields_desc}
    missing = {name: value for name, value in filled.items() if values[name] is None}
    return bytes(type(layer)(**values | missing))


class MrcBth(Packet):
    """BTH, and around everything behind it the pad and the ICRC (mrc-facts.md 1.3, 1.13)."""

    name = "MRC BTH"
    spec_name = spec.BTH.name
    spec_size = spec.BTH.size
    fields_desc = [  # noqa: RUF012 - scapy's own form
        *(_field(field, None if field.name == "pad_count" else int(field.default)) for field in spec.BTH.fields),
        ConditionalField(XLEIntField("icrc", None), lambda bth: not bth.trimmed()),
    ]

    def trimmed(self) -> bool:
        """True for a write whose outermost IP header carries a trim mark."""
        layer, outermost = self.underlayer, None
        while layer is not None:
            if isinstance(layer, (IP, IPv6)):
                outermost = layer
            layer = layer.underlayer
        if outermost is None or self.opcode not in spec.DATA_OPCODES:
            return False
        traffic_class = outermost.tc if isinstance(outermost, IPv6) else outermost.tos
        return traffic_class >> 2 in spec.DEFAULT_OPTIONS.dscp.trim_reasons

    guess_payload_class = _guess

    def pre_dissect(self, data: bytes) -> bytes:
        """Put the ICRC behind the BTH, where `fields_desc` has it."""
        self.opcode = data[0] if data else 0
        if self.trimmed() or len(data) < spec.BTH.size + spec.ICRC_BYTES:
            return data
        return data[: spec.BTH.size] + data[-spec.ICRC_BYTES :] + data[spec.BTH.size : -spec.ICRC_BYTES]

    def extract_padding(self, data: bytes) -> tuple[bytes, bytes]:
        """Take the pad away; `post_build` makes it again."""
        # The cached bytes have the ICRC in the wrong place.
        self.raw_packet_cache = None
        return data[: len(data) - (0 if self.trimmed() else self.pad_count)], b""

    def post_build(self, head: bytes, body: bytes) -> bytes:
        """Add pad and ICRC."""
        if self.trimmed():
            return head + body
        pad = -len(body) % spec.PAD_ALIGNMENT if self.pad_count is None else self.pad_count
        shift = spec.BTH.shift("pad_count", 8, 8)
        head = bytes((head[0], head[1] & ~(3 << shift) | pad << shift)) + head[2:]
        bth, tail = head[: spec.BTH.size], head[spec.BTH.size :]
        body += bytes(pad)
        if self.icrc is None:
            tail = self._icrc(bth, body).to_bytes(spec.ICRC_BYTES, "little")
        return bth + body + tail

    def _icrc(self, bth: bytes, body: bytes) -> int:
        udp, ip = self.underlayer, _inner_ip(self.underlayer)
        if udp is None or ip is None:
            raise InputError("ICRC", "no UDP over IP in front of the BTH", "IP and UDP, or a given icrc")
        length = spec.UDP.size + len(bth) + len(body) + spec.ICRC_BYTES
        front = _alone(ip, plen=length) if isinstance(ip, IPv6) else _alone(ip, len=spec.IPV4.size + length, chksum=0)
        return icrc_of(front + _alone(udp, len=length, chksum=0) + bth, body)


LAYERS: dict[str, type[Packet]] = {
    header.name: _layer(header) for header in spec.HEADERS[spec.HEADERS.index(spec.BTH) + 1 :]
}
"""Layer class by header name, for every header behind the BTH."""

globals().update({layer.__name__: layer for layer in LAYERS.values()})
__all__ += [layer.__name__ for layer in LAYERS.values()]

bind_top_down(UDP, MrcBth, dport=spec.DEFAULT_OPTIONS.udp_port, chksum=0)
for _port in spec.DEFAULT_OPTIONS.accepted_udp_ports:
    # In front of every binding of a source port.
    UDP.payload_guess.insert(0, ({"dport": _port}, MrcBth))
