"""What a run leaves behind: `result.json` (`schema: mrc.result/1`), keys sorted, no float but `wall_s`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pymodel.base.errors import InputError

__all__ = ["Result", "WriteResult", "check_folder", "save", "to_json"]


class WriteResult(BaseModel):
    """One write: what it took, when it completed (ps; None if never), and whether memory is the same at both ends."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    bytes: int
    packets: int
    retransmissions: int
    nacks: int
    timeouts: int
    completion_ps: int | None
    src_sha256: str
    dst_sha256: str
    match: bool


class Result(BaseModel):
    """A whole run. `ok` is true only if every memory matches and every completion came exactly once, with success."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_name: Literal["mrc.result/1"] = Field(alias="schema", default="mrc.result/1")
    ok: bool
    switch: str
    seed: int
    virtual_time_ps: int
    wall_s: float
    warnings: list[str]
    writes: list[WriteResult]
    packets_by_plane: dict[str, int]
    packets_by_ev: dict[str, int]
    switches: dict[str, dict[str, int]]


def to_json(result: Result) -> str:
    """Return `result` as JSON text with sorted keys and a newline at its end."""
    return json.dumps(result.model_dump(by_alias=True), indent=2, sort_keys=True) + "\n"


def check_folder(folder: Path) -> None:
    """InputError unless `folder` is, or can become, a folder that can be written; creates nothing."""
    nearest = folder
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        raise InputError(f"output folder {folder}", f"{nearest}, which is a file", "a folder")
    if not os.access(nearest, os.W_OK):
        raise InputError(f"output folder {folder}", f"{nearest}, which cannot be written", "a folder that can")


def save(result: Result, folder: Path) -> Path:
    """Write `folder`/result.json in one step (written beside, then renamed) and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "result.json"
    beside = folder / f".result.json.{os.getpid()}"
    beside.write_text(to_json(result), encoding="utf-8")
    beside.replace(path)
    return path
