"""Cases of expressions, checksums, hashes, loops and truncation."""

import struct
import zlib

from tests.switch.programs.case import Case


def _arithmetic(a: int = 0, b: int = 0, n: int = 0, w: int = 0, s: int = 0, t: int = 0, big: int = 0) -> str:
    """The operands of arithmetic.p4 in hexadecimal, without the operation."""
    return f"{a:08x}{b:08x}{n << 11 | w:04x}{s & 0xFFFF:04x}{t & 0xFFFF:04x}{big:032x}"


def _result(r: int = 0, q: int = 0, w: int = 0, n: int = 0, big: int = 0, flags: int = 0) -> str:
    return f"{r:016x}{q & 0xFFFF:04x}{w << 5 | n:04x}{big:032x}{flags:02x}"


def _line(op: int, operands: str, result: str) -> str:
    return f"0 {op:02x} {operands} -> 1 {op:02x} {operands} {result}"


_A, _B = 0xF0000001, 0x20000003
_BIG = 0xFC000000_01010205_01300042_00000000
_EQUAL, _LESS, _SIGNED_LESS, _NOT_NEGATIVE, _BOTH, _UNEQUAL = 1, 2, 4, 8, 16, 32
_ALL = _NOT_NEGATIVE | _BOTH | _UNEQUAL  # of a > b, s = t = 0, w = 0

CASES = [
    Case(
        "unsigned: wrap, product, bits, shifts",
        "arithmetic",
        "\n".join(
            [
                _line(1, _arithmetic(_A, _B), _result(0x10000004, flags=_ALL)),
                _line(2, _arithmetic(_B, _A), _result(0x30000002, flags=_ALL | _LESS)),
                _line(3, _arithmetic(_A, _B), _result(0xF0000001 * 0x20000003, flags=_ALL)),
                _line(4, _arithmetic(_A, _B), _result(0x20000001 | 0xD0000002 << 32, flags=_ALL)),
                _line(5, _arithmetic(_A, 0, n=4), _result(0x10, flags=_ALL)),
                _line(5, _arithmetic(_A, 0, n=31), _result(0x80000000, flags=_ALL | 0xC0)),
                _line(6, _arithmetic(_A, 0, n=28), _result(0xF, flags=_ALL | 0xC0)),
                _line(9, _arithmetic(_A), _result(0x0FFFFFFE, flags=_ALL)),
                _line(10, _arithmetic(_A), _result(0x0FFFFFFF, flags=_ALL)),
            ]
        ),
    ),
    Case(
        "unsigned: saturation, slices, concatenation, choice, odd widths",
        "arithmetic",
        "\n".join(
            [
                _line(7, _arithmetic(_A, _B), _result(0xFFFFFFFF, flags=_ALL)),
                _line(7, _arithmetic(_B, _B), _result(0x40000006, flags=_EQUAL | _NOT_NEGATIVE | _BOTH)),
                _line(8, _arithmetic(_B, _A), _result(0, flags=_ALL | _LESS)),
                _line(8, _arithmetic(_A, _B), _result(0xCFFFFFFE, flags=_ALL)),
                _line(11, _arithmetic(0x12345678, 0xAB), _result(0x3456AB, flags=_ALL)),
                _line(12, _arithmetic(0x12345678, 0xC0000000), _result(0x12345678000C, flags=_ALL | _LESS)),
                _line(13, _arithmetic(_B, _A), _result(_A, flags=_ALL | _LESS)),
                _line(14, _arithmetic(w=5), _result(w=4, n=35 & 31, flags=_EQUAL | _NOT_NEGATIVE)),
                _line(14, _arithmetic(w=0), _result(w=2047, n=0, flags=_EQUAL | _NOT_NEGATIVE | _BOTH)),
                _line(15, _arithmetic(w=2000, n=30), _result(w=976, n=31, flags=_EQUAL | _NOT_NEGATIVE | 0xC0)),
                _line(15, _arithmetic(w=1000, n=3), _result(w=0, n=12, flags=_EQUAL | _NOT_NEGATIVE)),
            ]
        ),
    ),
    Case(
        "signed: wrap, saturation, shifts, casts",
        "arithmetic",
        "\n".join(
            [
                _line(33, _arithmetic(s=32767, t=1), _result(q=-32768, flags=_EQUAL | _NOT_NEGATIVE | _BOTH)),
                _line(34, _arithmetic(s=-32768, t=1), _result(q=32767, flags=_EQUAL | _SIGNED_LESS | _BOTH)),
                _line(35, _arithmetic(s=32767, t=1), _result(q=32767, flags=_EQUAL | _NOT_NEGATIVE | _BOTH)),
                _line(36, _arithmetic(s=-32768, t=1), _result(q=-32768, flags=_EQUAL | _SIGNED_LESS | _BOTH)),
                _line(37, _arithmetic(s=-5), _result(q=5, flags=_EQUAL | _SIGNED_LESS | _BOTH)),
                _line(37, _arithmetic(s=-32768), _result(q=-32768, flags=_EQUAL | _SIGNED_LESS | _BOTH)),
                _line(38, _arithmetic(s=-9), _result(q=-2, flags=_EQUAL | _SIGNED_LESS | _BOTH)),
                _line(39, _arithmetic(s=-8191), _result(q=8, flags=_EQUAL | _SIGNED_LESS | _BOTH)),
                _line(40, _arithmetic(s=-300, t=300), _result(q=-90000 + 65536, flags=_EQUAL | _SIGNED_LESS | _BOTH)),
                _line(41, _arithmetic(s=-1), _result(0xFFFF, flags=_EQUAL | _SIGNED_LESS | _BOTH)),
                _line(42, _arithmetic(s=-1), _result(0xFFFFFFFFFFFFFFFF, flags=_EQUAL | _SIGNED_LESS | _BOTH)),
                _line(43, _arithmetic(s=0x1280), _result(q=-128, flags=_EQUAL | _NOT_NEGATIVE | _BOTH)),
            ]
        ),
    ),
    Case(
        "128 bits: shifts of a uSID address, sums, joins",
        "arithmetic",
        "\n".join(
            [
                _line(65, _arithmetic(big=_BIG), _result(big=0x00000101_02050130_00420000_00000000, flags=0x19)),
                _line(66, _arithmetic(big=_BIG), _result(big=0xFC000101_02050130_00420000_00000000, flags=0x19)),
                _line(67, _arithmetic(big=_BIG), _result(big=0xF8000000_0202040A_02600084_00000000, flags=0x19)),
                _line(68, _arithmetic(big=_BIG, n=16), _result(big=_BIG >> 16, flags=0x99)),
                _line(69, _arithmetic(1, 2, big=_BIG), _result(big=0x00000001_00000002_01300042_00000000, flags=0x3A)),
                _line(70, _arithmetic(big=_BIG), _result(big=0x03FFFFFF_FEFEFDFA_FECFFFBD_FFFFFFFF, flags=0x19)),
            ]
        ),
    ),
]

# --- checksums: the header of RFC 1071's worked example in many textbooks, and UDP computed here -------------------


def _ones_complement(data: bytes) -> int:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def _ipv4(ttl: int, checksum: int, tos: int = 0, protocol: int = 6) -> str:
    return f"45{tos:02x}003c1c4640 00{ttl:02x}{protocol:02x}{checksum:04x}ac100a63ac100a0c"


def _ipv4_sum(ttl: int, tos: int = 0, protocol: int = 6) -> int:
    return _ones_complement(bytes.fromhex(_ipv4(ttl, 0, tos, protocol)))


def _udp(port: int, checksum: int, payload: str) -> str:
    return f"1234{port:04x}{8 + len(payload) // 2:04x}{checksum:04x}{payload}"


def _udp_sum(port: int, payload: str) -> int:
    pseudo = f"ac100a63ac100a0c0011{8 + len(payload) // 2:04x}"
    data = bytes.fromhex(pseudo + _udp(port, 0, payload))
    return _ones_complement(data + bytes(len(data) % 2))


_ODD, _EVEN = "0102030405", "aabbccdd"

CASES += [
    Case(
        # 0xb1e6 is the published checksum of this header.
        "IPv4: verified, updated, and left alone where the condition says so",
        "checksum",
        f"""
        0 {_ipv4(64, 0xB1E6)} 00         -> 1 00 {_ipv4(63, 0xB2E6)} 00
        0 {_ipv4(64, 0xB1E7)} 00         -> 1 01 {_ipv4(63, 0xB2E6)} 00
        0 {_ipv4(64, _ipv4_sum(64, 0xFF), 0xFF)} -> 1 00 {_ipv4(63, _ipv4_sum(64, 0xFF), 0xFF)}
        0 4500                           -> 1 00 4500
        """,
    ),
    Case(
        "UDP: over pseudo-header and payload of odd and even length; 0 means none",
        "checksum",
        f"""
        0 {_ipv4(9, _ipv4_sum(9, 0, 17), 0, 17)} {_udp(7, _udp_sum(7, _ODD), _ODD)} ~
            -> 1 00 {_ipv4(8, _ipv4_sum(8, 0, 17), 0, 17)} {_udp(8, _udp_sum(8, _ODD), _ODD)}
        0 {_ipv4(9, _ipv4_sum(9, 0, 17), 0, 17)} {_udp(7, 0x1111, _EVEN)} ~
            -> 1 01 {_ipv4(8, _ipv4_sum(8, 0, 17), 0, 17)} {_udp(8, _udp_sum(8, _EVEN), _EVEN)}
        0 {_ipv4(9, _ipv4_sum(9, 0, 17), 0, 17)} {_udp(7, 0, _EVEN)} ~
            -> 1 00 {_ipv4(8, _ipv4_sum(8, 0, 17), 0, 17)} {_udp(8, 0, _EVEN)}
        """,
    ),
]

# --- hashes ----------------------------------------------------------------------------------------------------------


def _crc16(data: bytes) -> int:
    """CRC-16/ARC by division: polynomial 0x8005, bytes and result bit-reversed."""
    register = 0
    for byte in data:
        for bit in range(8):
            top = register >> 15 ^ byte >> bit & 1
            register = (register << 1 & 0xFFFF) ^ (0x8005 if top else 0)
    return int(f"{register:016b}"[::-1], 2)


def _hash_in(op: int, a: int, b: int, c: int, d: int, e: int, f: int) -> str:
    return f"{op:02x}{a << 13 | b:04x}{c:08x}{d << 4 | e:04x}{f:016x}"


def _hash_line(fields: str, short: int, long: int, wide: int) -> str:
    return f"0 {fields} -> 1 {short:04x}{long:08x}{wide:016x} {fields}"


_CRC32_INPUT = bytes.fromhex("b2340123456789a0")  # 3 + 13 + 32 + 12 bits, the last byte padded

CASES += [
    Case(
        "crc16 and crc32; fields that end in the middle of a byte are padded",
        "hashing",
        _hash_line(
            _hash_in(1, 5, 0x1234, 0x01234567, 0x89A, 0, 0), _crc16(_CRC32_INPUT[:-2]), zlib.crc32(_CRC32_INPUT), 0
        ),
    ),
    Case(
        # The bits 101 in front move every other one by three.
        "csum16 and xor16, with a base and a maximum",
        "hashing",
        _hash_line(
            _hash_in(2, 5, 0, 0x00000001, 0, 0, 0),
            _ones_complement(bytes.fromhex("a000 0000 2000")),
            1000 + 1 % 100,
            0,
        )
        + "\n"
        + _hash_line(
            _hash_in(2, 5, 0, 0x00010002, 0, 5, 0x0003000400050006),
            _ones_complement(bytes.fromhex("a000 2000 4000")),
            1000 + (1 ^ 2 ^ 3 ^ 4 ^ 5 ^ 6 ^ 0x5000) % 100,
            0,
        ),
    ),
    Case(
        # identity takes the first eight bytes; a maximum of 0 counts as 1, so the hash is the base.
        "identity, and a maximum of 0",
        "hashing",
        _hash_line(
            _hash_in(3, 0, 0x1FFF, 0x01020304, 0x777, 0, 0x1122334455667788),
            5,
            0,
            (0x1FFF << 51 | 0x01020304 << 19 | 0x1122334455667788 >> 45),
        ),
    ),
]

# --- loops and truncation --------------------------------------------------------------------------------------------

CASES += [
    Case(
        "a loop with break and continue",
        "loops",
        """
        0 00ff 99999999 -> 1 00ff 00000000
        0 0aff 00000000 -> 1 0aff 00000014
        0 ff07 00000000 -> 1 ff07 0000000c
        0 ffff 00000000 -> 1 ffff 00003f80
        """,
    ),
    Case(
        "truncate counts from the start of the frame, and more than there is changes nothing",
        "truncation",
        """
        0 0104 aabbccdd -> 1 0104 aabb
        0 0101 aabbccdd -> 1 01
        0 0106 aabbccdd -> 1 0106 aabbccdd
        0 01ff aabbccdd -> 1 01ff aabbccdd
        0 0100 aabbccdd -> drop
        """,
    ),
    Case(
        "of two truncations the smaller wins, in either order",
        "truncation",
        f"""
        0 0203 {"ab" * 30} -> 1 0203 ab
        0 02ff {"ab" * 30} -> 1 02ff {"ab" * 18}
        """,
    ),
    Case(
        "truncation sees headers added and removed after it",
        "truncation",
        """
        0 0309 aabbccdd                   -> 1 0000000000000001 03
        0 8404 1122334455667788 aabbccdd  -> 1 8404 aabb
        0 8403 1122334455667788           -> 1 8403
        0 0503 aabbccdd                   -> 1 0503 aa
        0 0600 aabbccdd                   -> 1 0600 aabbcc
        """,
    ),
]
