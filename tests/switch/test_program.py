"""The committed output of p4c is that of the committed sources, and a stale one is found and named."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pymodel.base import toolpath
from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT
from pymodel.switch import program
from pymodel.switch.program import SOURCE, build, is_reproduced, mrc_switch, sources_of, verify

TINY = """#include <core.p4>
#include <v1model.p4>
#include "part.p4"
"""
PART = """struct headers_t {}
struct metadata_t {}
parser TinyParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { transition accept; }
}
control Tiny(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply {} }
control TinyChecksum(inout headers_t hdr, inout metadata_t meta) { apply {} }
control TinyDeparser(packet_out packet, in headers_t hdr) { apply {} }
V1Switch(TinyParser(), TinyChecksum(), Tiny(), Tiny(), TinyChecksum(), TinyDeparser()) main;
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of `p4/`."""
    return Path(shutil.copytree(ROOT / "p4", tmp_path / "p4"))


def test_the_committed_output_is_not_stale() -> None:
    compiled = mrc_switch()
    assert compiled.name == "mrc_switch"
    assert json.loads(compiled.json_path.read_bytes())["program"] == "p4/mrc_switch.p4"


def test_the_manifest_names_every_source() -> None:
    manifest = json.loads((ROOT / "p4" / "compiled" / "mrc_switch.manifest.json").read_bytes())
    files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "p4").rglob("*.p4"))
    assert list(manifest["sources"]) == files
    assert [ROOT / name for name in files] == sources_of(SOURCE)
    assert manifest["compiler"].startswith("p4c-bm2-ss 1.")


def test_nothing_compiled_holds_a_path_of_the_machine_that_made_it() -> None:
    for path in (ROOT / "p4" / "compiled").iterdir():
        assert str(ROOT).encode() not in path.read_bytes()
        assert b"/usr/" not in path.read_bytes()


@pytest.mark.p4c
def test_p4c_makes_the_same_bytes_again() -> None:
    # None: another version of p4c than the manifest's, which may put the same program differently.
    assert is_reproduced(SOURCE, SOURCE.parent / "compiled") is not False


@pytest.mark.p4c
def test_a_built_program_verifies_until_a_source_or_an_output_changes(tmp_path: Path) -> None:
    source = tmp_path / "tiny.p4"
    source.write_text(TINY, encoding="utf-8")
    (tmp_path / "part.p4").write_text(PART, encoding="utf-8")
    compiled = build(source, tmp_path / "compiled")
    assert verify(source, tmp_path / "compiled") == compiled
    assert sorted(path.name for path in (tmp_path / "compiled").iterdir()) == [
        "tiny.json",
        "tiny.manifest.json",
        "tiny.p4info.txtpb",
    ]
    for changed in (tmp_path / "part.p4", compiled.json_path, compiled.p4info_path):
        before = changed.read_bytes()
        changed.write_bytes(before + b"\n")
        with pytest.raises(InputError, match=rf"{changed.name} changed since p4c ran, expected `make p4`"):
            verify(source, tmp_path / "compiled")
        changed.write_bytes(before)
    source.write_text(TINY + '#include "more.p4"\n', encoding="utf-8")
    (tmp_path / "more.p4").write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="compiled P4 program tiny"):
        verify(source, tmp_path / "compiled")


@pytest.mark.p4c
def test_a_warning_is_an_error_and_leaves_what_was_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "tiny.p4"
    source.write_text(TINY, encoding="utf-8")
    (tmp_path / "part.p4").write_text(PART, encoding="utf-8")
    build(source, tmp_path / "compiled")
    before = {path.name: path.read_bytes() for path in (tmp_path / "compiled").iterdir()}
    unused = "{ bit<8> unused = 1; apply {} }"
    (tmp_path / "part.p4").write_text(PART.replace("{ apply {} }", unused, 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"tiny.p4: found exit code 1 of p4c, expected no error or warning"):
        build(source, tmp_path / "compiled")
    assert "unused" in capfd.readouterr().err
    assert {path.name: path.read_bytes() for path in (tmp_path / "compiled").iterdir()} == before


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda p4: (p4 / "include" / "srv6.p4").write_text("// changed"), "include/srv6.p4 changed since p4c ran"),
        (lambda p4: (p4 / "include" / "srv6.p4").unlink(), "No such file"),
        (lambda p4: (p4 / "compiled" / "mrc_switch.json").unlink(), "No such file"),
        (lambda p4: (p4 / "compiled" / "mrc_switch.manifest.json").unlink(), "No such file"),
        (lambda p4: (p4 / "compiled" / "mrc_switch.manifest.json").write_text("{"), "expected a manifest"),
        (lambda p4: (p4 / "compiled" / "mrc_switch.manifest.json").write_text("[]"), "expected a manifest"),
    ],
    ids=["changed source", "no source", "no output", "no manifest", "cut manifest", "other manifest"],
)
def test_a_stale_output_is_named_in_one_sentence(
    clone: Path, damage: object, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "ROOT", clone.parent)
    source = clone / "mrc_switch.p4"
    verify(source, clone / "compiled")
    damage(clone)  # type: ignore[operator]
    with pytest.raises(InputError, match=words) as caught:
        verify(source, clone / "compiled")
    assert "\n" not in str(caught.value)


def test_make_p4_without_p4c_verifies_and_says_so(tmp_path: Path) -> None:
    # PATH without p4c; the interpreter is named, so that its own folder alone is looked into beside it.
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    shown = subprocess.run(
        [python, ROOT / "scripts" / "build_p4.py"],
        env={"PATH": str(tmp_path), "PYTHONPATH": ":".join(sys.path[1:])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == "p4/mrc_switch.p4: verified by its manifest; p4c-bm2-ss is not on this machine\n"


def test_a_program_without_a_compiler_is_refused_by_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "require", lambda name: toolpath.require(f"no-{name}"))
    monkeypatch.setitem(toolpath.TOOLS, "no-p4c-bm2-ss", toolpath.TOOLS["p4c-bm2-ss"])  # type: ignore[arg-type]
    with pytest.raises(
        InputError, match="no such tool on this machine, expected it to be installed: p4lang's packages"
    ):
        build(SOURCE, tmp_path)
