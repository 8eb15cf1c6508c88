"""The matrices of an answer's ICRC: the emitted file is up to date, and they give what zlib gives."""

from __future__ import annotations

import random
import re

import pytest

from pymodel.rtl.reply_icrc import BODY_SIZES, PACKAGE, package
from pymodel.wire import spec
from pymodel.wire.icrc import icrc

FRONT_BYTES = spec.IPV6.size + spec.UDP.size + spec.BTH.size


def matrices(text: str) -> dict[str, list[int]]:
    """Columns by matrix, as the package has them: the first listed belongs to the leftmost bit."""
    found = re.findall(r"\[31:0\] (\w+) = \{(.*?)\}", text, re.DOTALL)
    return {name: [int(column, 16) for column in re.findall(r"'h([0-9A-F]{8})", body)][::-1] for name, body in found}


def product(columns: list[int], value: int) -> int:
    result = 0
    for bit, column in enumerate(columns):
        if value >> bit & 1:
            result ^= column
    return result


def test_the_package_is_what_the_emitter_writes() -> None:
    assert PACKAGE.read_text(encoding="utf-8") == package(), "run python -m pymodel.rtl.reply_icrc"


def test_bodies_have_the_sizes_of_their_headers() -> None:
    assert (spec.AETH.size, spec.NETH.size, spec.SETH.size + spec.CC_STATE.size) == BODY_SIZES
    assert spec.EETH.size == spec.EETH_OP_54.size == BODY_SIZES[-1]


@pytest.mark.parametrize("size", BODY_SIZES)
def test_the_matrices_give_the_icrc(size: int) -> None:
    """Against the golden side, which uses zlib, on what the emitted text says."""
    text, rng = PACKAGE.read_text(encoding="utf-8"), random.Random(size)
    found = matrices(text)
    constant = re.search(r"FRONT_CONSTANT = 32'h([0-9A-F]{8})", text)
    assert constant
    for _ in range(50):
        front = bytes([spec.IP_VERSION_6 << 4 | rng.getrandbits(4)]) + rng.randbytes(FRONT_BYTES - 1)
        body = rng.randbytes(size)
        register = int(constant[1], 16) ^ product(found["FRONT"], int.from_bytes(front, "big"))
        register = product(found[f"ADVANCE_{size}"], register) ^ product(found["BODY"], int.from_bytes(body, "big"))
        assert register ^ 0xFFFFFFFF == icrc(front + body)
