"""Every row of docs/bug-review.md names tests that carry its id, or says why it cannot happen here."""

from __future__ import annotations

import re

import pytest

from pymodel.base.toolpath import ROOT

ROWS = re.findall(
    r"^\| ([A-Z]\d\d) \| [^|]+ \| [^|]+ \| ([^|]+) \|$",
    (ROOT / "docs" / "bug-review.md").read_text(encoding="utf-8"),
    re.M,
)


def test_every_reported_bug_has_a_row() -> None:
    assert len(ROWS) == len({bug for bug, _ in ROWS}) == 57


@pytest.mark.parametrize(("bug", "here"), ROWS, ids=[bug for bug, _ in ROWS])
def test_a_bug_is_tested_or_cannot_happen(bug: str, here: str) -> None:
    files = re.findall(r"`((?:tests|cocotb_tests)/[^`]+)`", here)
    if here.startswith("no: "):
        assert len(here.split()) > 4
        return
    assert files
    named = re.findall(r"by ([A-Z]\d\d) and ([A-Z]\d\d)", here)
    wanted = named[0] if named else (bug,)
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in files]
    for name in wanted:
        pattern = rf"(?<![A-Za-z0-9]){name}(?![0-9])"
        assert any(re.search(pattern, text, re.I) for text in texts), f"{name} stands in none of {files}"
