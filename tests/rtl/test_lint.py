"""The RTL is as `make lint` wants it, and `make lint` would notice if it were not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodel.rtl.lint import lint, sources, style


@pytest.mark.rtl
@pytest.mark.slow
def test_the_rtl_is_clean() -> None:
    assert len(sources()) > 10
    assert lint() == []


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("module a;\n  localparam int unsigned Some = 1;\nendmodule\n", "parameter-name-style"),
        ("module a;\n      wire b;\nendmodule\n", "Needs formatting"),
        ("module b;\nendmodule\n", "module-filename"),
    ],
    ids=["name", "format", "file"],
)
def test_a_fault_of_style_is_seen(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "a.sv"
    file.write_text(text, encoding="utf-8")
    assert said in "\n".join(style([file]))
