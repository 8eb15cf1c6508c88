"""The RTL is as `make lint` wants it, and `make lint` would notice if it were not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pymodel.rtl.lint import TOPS, elaborate, lint, sources, style


@pytest.mark.rtl
@pytest.mark.slow
def test_the_rtl_is_clean() -> None:
    assert len(sources()) > 10
    assert {"top/mrc_rx", "csr/mrc_csr", "responder/mrc_responder"} <= {name for name, _ in TOPS}
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


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("module a; b u_b (); endmodule", "unknown module 'b'"),
        ('module a #(parameter int N = 3); if (N == 4) $fatal(1, "no 4"); endmodule', "no 4"),
        ("module a (input logic [1:0] i, output logic o); assign o = i[2]; endmodule", "index-oob"),
    ],
    ids=["unknown", "parameter", "warning"],
)
def test_slang_says_what_does_not_elaborate(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "a.sv"
    file.write_text(text + "\n", encoding="utf-8")
    assert said in elaborate("a", {"N": 4} if "parameter" in text else {}, [file])


@pytest.mark.rtl
def test_slang_is_content_with_what_elaborates(tmp_path: Path) -> None:
    file = tmp_path / "a.sv"
    file.write_text("module a (input logic i, output logic o); assign o = i; endmodule\n", encoding="utf-8")
    assert elaborate("a", {}, [file]) == ""
