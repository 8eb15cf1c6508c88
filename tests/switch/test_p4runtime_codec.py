from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymodel.base.errors import InputError
from pymodel.switch.p4runtime.codec import Refused, decode_entry, encode_entry, pack, unpack
from pymodel.switch.p4runtime.info import ProgramInfo
from pymodel.switch.p4runtime.normal import normal_form
from pymodel.switch.p4runtime.packetio import packet_in, packet_out, packet_out_frame
from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2
from pymodel.switch.target import TableEntry

PROGRAM = Path(__file__).parent / "control_plane" / "compiled" / "control_plane.p4info.txtpb"
INFO = ProgramInfo.read(PROGRAM)

EXACT = {"standard.ingress_port": 1, "hdr.word.small": 0x22}
ADDRESS = 0xFC00_0001_0000_0000_0000_0000_0000_0000


def entry(**changes: object) -> TableEntry:
    base = {"table": "acl", "action": "drop", "match": {"hdr.word.kind": 7}, "priority": 10}
    return TableEntry(**(base | changes))  # type: ignore[arg-type]


# --- byte strings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "data"),
    # 0x63 and 0x3064 are the examples of the P4Runtime specification (canonical byte strings).
    [
        (0, b"\x00"),
        (1, b"\x01"),
        (0x63, b"\x63"),
        (0x3064, b"\x30\x64"),
        (0x100, b"\x01\x00"),
        (ADDRESS >> 112, b"\xfc\0"),
    ],
)
def test_a_number_has_one_byte_string_the_shortest(value: int, data: bytes) -> None:
    assert pack(value) == data
    assert unpack(b"\0\0" + data, 16, "x") == value


@pytest.mark.parametrize(("data", "width"), [(b"", 8), (b"\x01\x00", 8), (b"\x10\x00", 12), (b"\x02", 1)])
def test_a_byte_string_that_is_empty_or_too_wide_is_refused(data: bytes, width: int) -> None:
    with pytest.raises(Refused) as refusal:
        unpack(data, width, "x")
    assert refusal.value.code == code_pb2.INVALID_ARGUMENT


# --- P21, P22: don't-care is left out, masked bits are cleared, leading zeros do not matter ---------------------------


@pytest.mark.parametrize(
    ("match", "sent"),
    [
        ({"hdr.word.address": (ADDRESS, 0)}, 1),  # an all-zero mask
        ({"hdr.word.odd": (0, 0xFFF)}, 1),  # all of a 12-bit range
        ({}, 1),
        ({"hdr.word.address": (ADDRESS, 1)}, 2),
        ({"hdr.word.odd": (0, 0xFFE), "hdr.word.nibble": 0}, 3),
    ],
)
def test_p21_dont_care_is_never_sent(match: dict[str, int | tuple[int, int]], sent: int) -> None:
    assert len(encode_entry(INFO, entry(match=match | {"hdr.word.kind": 7})).match) == sent


def test_p21_a_prefix_of_length_0_is_never_sent() -> None:
    assert not encode_entry(INFO, TableEntry("route_lpm", "drop", {"hdr.word.address": (ADDRESS, 0)})).match


def test_p21_bits_outside_a_mask_or_prefix_are_cleared() -> None:
    ternary = encode_entry(INFO, entry(match={"hdr.word.kind": 7, "hdr.word.address": (0xFFFF, 0x0FF0)}))
    (field,) = (field.ternary for field in ternary.match if field.HasField("ternary"))
    assert (field.value, field.mask) == (b"\x0f\xf0", b"\x0f\xf0")
    lpm = encode_entry(INFO, TableEntry("route_lpm", "drop", {"hdr.word.address": (ADDRESS + 0xFFFF, 48)}))
    assert lpm.match[0].lpm.value == ADDRESS.to_bytes(16, "big")


def test_p22_longer_byte_strings_are_the_same_entry() -> None:
    written = encode_entry(INFO, TableEntry("port_exact", "forward", EXACT, {"port": 1}))
    padded = p4runtime_pb2.TableEntry()
    padded.CopyFrom(written)
    for field in padded.match:
        field.exact.value = field.exact.value.rjust(2, b"\0")
    padded.action.action.params[0].value = b"\0\x01"
    assert padded != written
    assert decode_entry(INFO, padded) == decode_entry(INFO, written)


# --- P20: priority ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("priority", [0, -1, 2**31])
def test_p20_a_ternary_range_or_optional_key_needs_a_priority(priority: int) -> None:
    with pytest.raises(InputError, match=rf"acl, priority: found {priority}, expected 1 to 2147483647 .larger wins"):
        encode_entry(INFO, entry(priority=priority))


def test_p20_exact_and_lpm_keys_take_no_priority() -> None:
    with pytest.raises(InputError, match="route_lpm, priority: found 1, expected 0"):
        encode_entry(INFO, TableEntry("route_lpm", "drop", {"hdr.word.address": (ADDRESS, 48)}, priority=1))


# --- what a person can get wrong is named -----------------------------------------------------------------------------

MISTAKES = [
    ("no such table", entry(table="acll"), r"table: found 'acll', expected one of IngressImpl.acl, "),
    (
        "no such key",
        entry(match={"kind": 1}),
        r"IngressImpl.acl: found the key 'kind', expected one of hdr.word.address",
    ),
    ("exact key missing", entry(match={}), r"key hdr.word.kind: found no value, expected a value of 8 bits"),
    (
        "exact value too wide",
        entry(match={"hdr.word.kind": 256}),
        r"key hdr.word.kind: found 0x100, expected a va",
    ),
    ("negative", entry(match={"hdr.word.kind": -1}), r"key hdr.word.kind: found -0x1, expected a value of 8 bits"),
    (
        "pair for exact",
        entry(match={"hdr.word.kind": (1, 2)}),
        r"hdr.word.kind: found the pair \(1, 2\), expec",
    ),
    (
        "number for ternary",
        entry(match={"hdr.word.kind": 1, "hdr.word.address": 1}),
        r"hdr.word.address: found the number 0x1, expected a pair \(value, mask\), for the key is ternary",
    ),
    (
        "mask too wide",
        entry(match={"hdr.word.kind": 1, "hdr.word.address": (1, 1 << 128)}),
        r"key hdr.word.address, mask: found 0x1(0{32}), expected a value of 128 bits",
    ),
    (
        "range upside down",
        entry(match={"hdr.word.kind": 1, "hdr.word.odd": (2, 1)}),
        r"key hdr.word.odd: found the range 0x2 to 0x1, expected a low end that is not above",
    ),
    (
        "range too wide",
        entry(match={"hdr.word.kind": 1, "hdr.word.odd": (2, 0x1000)}),
        r"key hdr.word.odd, high end: found 0x1000, expected a value of 12 bits",
    ),
    (
        "prefix too long",
        TableEntry("route_lpm", "drop", {"hdr.word.address": (ADDRESS, 129)}),
        r"key hdr.word.address, prefix length: found 129, expected 0 to 128",
    ),
    (
        "no such action",
        entry(action="forward"),
        r"IngressImpl.acl: found the action 'forward', expected one of",
    ),
    (
        "parameter missing",
        entry(action="mark", params={"odd": 1}),
        r"action IngressImpl.mark: found parameters odd",
    ),
    (
        "parameter unknown",
        entry(params={"x": 1}),
        r"action IngressImpl.drop: found parameters x, expected no p",
    ),
    (
        "parameter too wide",
        entry(action="mark", params={"odd": 0x1000, "address": 0}),
        r"action IngressImpl.mark, parameter odd: found 0x1000, expected a value of 12 bits",
    ),
    ("default only", TableEntry("port_exact", "NoAction", EXACT), r"found the action NoAction in an entry"),
    ("entries only", TableEntry("route_lpm", "drop", default=True), r"found the action IngressImpl.drop as default"),
    (
        "constant default",
        TableEntry("acl", "drop", default=True),
        r"acl: found a default action, expected none",
    ),
    (
        "default with a match",
        TableEntry("route_lpm", "NoAction", {"a": 1}, default=True),
        r"found a default",
    ),
]


@pytest.mark.parametrize(("wrong", "sentence"), [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_one_sentence_that_names_it(wrong: TableEntry, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as error:
        encode_entry(INFO, wrong)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["IngressImpl.acl", "acl"])
def test_a_name_may_be_any_end_of_it(name: str) -> None:
    assert encode_entry(INFO, entry(table=name)).table_id == INFO.tables.find("IngressImpl.acl").id


def test_a_p4info_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.txtpb"
    with pytest.raises(InputError, match="a readable P4Info text file"):
        ProgramInfo.read(path)
    path.write_text("tables { nonsense")
    with pytest.raises(InputError, match="P4Info in protobuf text format"):
        ProgramInfo.read(path)


# --- both ways --------------------------------------------------------------------------------------------------------

bits = lambda width: st.integers(0, 2**width - 1)  # noqa: E731
pairs = lambda width: st.tuples(bits(width), bits(width))  # noqa: E731
acl_matches = st.fixed_dictionaries(
    {"hdr.word.kind": bits(8)},
    optional={
        "hdr.word.address": pairs(128),
        "hdr.word.odd": pairs(12).map(lambda pair: (min(pair), max(pair))),
        "hdr.word.nibble": bits(4),
    },
)
lpm_matches = st.fixed_dictionaries({}, optional={"hdr.word.address": st.tuples(bits(128), st.integers(0, 128))})
marks = st.fixed_dictionaries({"odd": bits(12), "address": bits(128)})
entries = st.one_of(
    st.builds(TableEntry, st.just("acl"), st.just("mark"), acl_matches, marks, st.integers(1, 2**31 - 1)),
    st.builds(TableEntry, st.just("route_lpm"), st.just("mark"), lpm_matches, marks),
)


@given(entries)
def test_an_entry_reads_back_in_its_normal_form(written: TableEntry) -> None:
    message = encode_entry(INFO, written)
    read = decode_entry(INFO, p4runtime_pb2.TableEntry.FromString(message.SerializeToString()))
    assert read == normal_form(INFO, written)
    # The normal form is a fixed point and matches what the entry matches.
    assert encode_entry(INFO, read) == message
    address = written.match.get("hdr.word.address")
    kept = read.match.get("hdr.word.address")
    if isinstance(address, tuple) and isinstance(kept, tuple):
        value, second = address
        mask = second if written.table == "acl" else (1 << 128) - (1 << (128 - second))
        assert kept == (value & mask, second)
    elif address is not None:
        assert address[1] == 0


@given(entries, st.data())
def test_whatever_is_done_to_a_message_it_is_decoded_or_refused(written: TableEntry, data: st.DataObject) -> None:
    wire = bytearray(encode_entry(INFO, written).SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        wire[data.draw(st.integers(0, len(wire) - 1))] = data.draw(bits(8))
    message = p4runtime_pb2.TableEntry()
    try:
        message.ParseFromString(bytes(wire))
    except Exception:
        return
    with contextlib.suppress(Refused, InputError):
        encode_entry(INFO, decode_entry(INFO, message))


# --- controller headers -----------------------------------------------------------------------------------------------


def test_packet_out_metadata_become_the_bits_in_front_of_the_frame() -> None:
    message = packet_out(INFO.packet_out, b"frame", {"egress_port": 0x1AB})
    # 9 bits of port and 7 of padding: 1_1010_1011 000_0000.
    assert packet_out_frame(INFO.packet_out, message) == b"\xd5\x80frame"


def test_packet_in_bits_become_metadata() -> None:
    message = packet_in(INFO.packet_in, b"\xd5\xfdframe")
    assert message.payload == b"frame"
    assert [(item.metadata_id, item.value) for item in message.metadata] == [(1, b"\x01\xab"), (2, b"\x7d")]


def test_packet_in_shorter_than_its_header_is_lost() -> None:
    assert packet_in(INFO.packet_in, b"\xd5") is None


def test_packet_out_metadata_that_do_not_fit_are_refused() -> None:
    message = p4runtime_pb2.PacketOut(payload=b"x")
    message.metadata.add(metadata_id=1, value=b"\x02\x00")
    with pytest.raises(Refused, match="egress_port: the byte string does not fit 9 bits"):
        packet_out_frame(INFO.packet_out, message)
    message.metadata[0].metadata_id = 9
    with pytest.raises(Refused, match="no metadata field has the id 9"):
        packet_out_frame(INFO.packet_out, message)
