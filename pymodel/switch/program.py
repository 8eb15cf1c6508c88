"""Compiled P4 programs: p4c's output under version control, and the proof that it is that of the sources beside it.

`NAME.json` (BMv2 JSON) and `NAME.p4info.txtpb` come with `NAME.manifest.json`: p4c's version and arguments, and
the SHA-256 of every source and of both outputs. A machine without p4c can thus tell a stale output.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from pymodel.base.errors import InputError
from pymodel.base.toolpath import ROOT, require, version
from pymodel.switch.target import CompiledProgram

__all__ = ["SOURCE", "build", "is_reproduced", "mrc_switch", "sources_of", "verify"]

SOURCE = ROOT / "p4" / "mrc_switch.p4"
"""The switch program of every T0 and T1."""

_ARGUMENTS = ("--arch", "v1model", "--Werror")
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def mrc_switch() -> CompiledProgram:
    """The committed output of `p4/mrc_switch.p4`; InputError when it is stale."""
    return verify(SOURCE, SOURCE.parent / "compiled")


def sources_of(source: Path) -> list[Path]:
    """`source` and every file that it includes by a quoted name, directly or not, sorted; InputError if one lacks."""
    found: dict[Path, None] = {}

    def visit(path: Path, where: str) -> None:
        if path in found:
            return
        found[path] = None
        for name in _INCLUDE.findall(_read(path, where).decode()):
            visit((path.parent / name).resolve(), f'{path}: #include "{name}"')

    visit(source.resolve(), "P4 source")
    return sorted(found)


def verify(source: Path, folder: Path) -> CompiledProgram:
    """Return the output of `source` that `folder` holds; InputError when it is missing, or not that of the sources."""
    program = _program(source, folder)
    path = _manifest_path(program)
    try:
        manifest = json.loads(_read(path, "compiled P4 program"))
        recorded = {**manifest["sources"], **manifest["outputs"]}
    except (ValueError, KeyError, TypeError):
        raise InputError(str(path), "something else", "a manifest as `make p4` writes it") from None
    present = {**_hashes(sources_of(source)), **_hashes([program.json_path, program.p4info_path])}
    for name in sorted(recorded.keys() | present.keys()):
        if recorded.get(name) != present.get(name):
            state = "changed since" if name in recorded and name in present else "not the same set of files as when"
            raise InputError(
                f"compiled P4 program {program.name}", f"{name} {state} p4c ran", "`make p4` with p4c installed"
            )
    return program


def build(source: Path, folder: Path) -> CompiledProgram:
    """Compile `source` into `folder`, outputs and manifest; InputError when p4c, which prints why, fails or warns."""
    program = _program(source, folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        fresh = _compile(source, Path(scratch))
        manifest = {
            "compiler": f"p4c-bm2-ss {version('p4c-bm2-ss')}",
            "arguments": list(_ARGUMENTS),
            "sources": _hashes(sources_of(source)),
            "outputs": {
                _name(program.json_path): _sha256(fresh.json_path),
                _name(program.p4info_path): _sha256(fresh.p4info_path),
            },
        }
        fresh.json_path.replace(program.json_path)
        fresh.p4info_path.replace(program.p4info_path)
    _manifest_path(program).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return program


def is_reproduced(source: Path, folder: Path) -> bool | None:
    """Whether p4c makes the same bytes from `source` again; None when the manifest names another version of it."""
    program = verify(source, folder)
    manifest: dict[str, Any] = json.loads(_manifest_path(program).read_bytes())
    if manifest["compiler"] != f"p4c-bm2-ss {version('p4c-bm2-ss')}":
        return None
    with tempfile.TemporaryDirectory() as scratch:
        fresh = _compile(source, Path(scratch))
        pairs = ((fresh.json_path, program.json_path), (fresh.p4info_path, program.p4info_path))
        return all(new.read_bytes() == old.read_bytes() for new, old in pairs)


def _program(source: Path, folder: Path) -> CompiledProgram:
    return CompiledProgram(source.stem, folder / f"{source.stem}.json", folder / f"{source.stem}.p4info.txtpb")


def _manifest_path(program: CompiledProgram) -> Path:
    return program.json_path.with_name(f"{program.name}.manifest.json")


def _compile(source: Path, folder: Path) -> CompiledProgram:
    program = _program(source, folder)
    # The JSON names its source as the command line does: relative to the clone, it is the same on every machine.
    result = subprocess.run(
        [
            require("p4c-bm2-ss"),
            *_ARGUMENTS,
            "--p4runtime-files",
            program.p4info_path,
            "-o",
            program.json_path,
            _name(source.resolve()),
        ],
        cwd=ROOT,
        check=False,
    )
    if result.returncode:
        raise InputError(
            str(source), f"exit code {result.returncode} of p4c", "no error or warning; its messages are above"
        )
    return program


def _hashes(paths: list[Path]) -> dict[str, str]:
    return {_name(path): _sha256(path) for path in paths}


def _sha256(path: Path) -> str:
    return hashlib.sha256(_read(path, "compiled P4 program")).hexdigest()


def _name(path: Path) -> str:
    path = path.resolve()
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()


def _read(path: Path, where: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(where, f"{path}: {error.strerror}", "a readable file; `make p4` makes compiled ones") from None
