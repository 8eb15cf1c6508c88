"""A scenario: what a run is made of, as YAML (`schema: mrc.scenario/1`).

The models refuse unknown keys. `load` turns every mistake into one `InputError` that names file and key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from pymodel.base.errors import InputError

__all__ = ["LinkModel", "NicModel", "Scenario", "SwitchKind", "TopologyModel", "WriteModel", "load"]

SwitchKind = Literal["embedded", "bmv2"]

Positive = Annotated[int, Field(strict=True, ge=1)]
Natural = Annotated[int, Field(strict=True, ge=0)]
Name = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TopologyModel(_Strict):
    """A multi-plane two-tier fabric; `t0` and `t1` count switches per plane (`mrc-facts.md` 4.3)."""

    planes: Annotated[int, Field(strict=True, ge=1, le=8)]
    t0: Positive
    t1: Positive
    hosts_per_t0: Positive
    parallel_links: Positive = 1


class LinkModel(_Strict):
    """Every link of the fabric, host links included: rate in bit/s, delay in ns, random loss in frames per million."""

    rate_bps: Positive = 100_000_000_000
    delay_ns: Natural = 500
    loss_ppm: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] = 0


class NicModel(_Strict):
    """What both ends of every QP are set to (`mrc-facts.md` 2.4, 2.5).

    `window_bytes` is the fixed congestion window; without it, 1.5 times what all planes together carry in one round
    trip of the idle fabric (2.6).
    """

    mtu: Annotated[int, Field(strict=True, ge=256, le=8192)] = 4096
    evs: Positive = 32
    window_bytes: Positive | None = None
    mpr_units: Annotated[int, Field(strict=True, ge=1, le=255)] = 8
    ack_timeout: Annotated[int, Field(strict=True, ge=0, le=24)] = 6
    linear_retries: Annotated[int, Field(strict=True, ge=0, le=7)] = 7
    backoff_retries: Annotated[int, Field(strict=True, ge=0, le=25)] = 25
    tail_probes: Annotated[int, Field(strict=True, ge=0, le=255)] = 3


class WriteModel(_Strict):
    """One RDMA Write of `bytes` random bytes from host `source` to host `destination`, on a QP of its own."""

    name: Name
    source: Name
    destination: Name
    bytes: Annotated[int, Field(strict=True, ge=0, le=1 << 30)]
    at_ns: Natural = 0


class Scenario(_Strict):
    """A whole scenario. Times are virtual; the seed settles every random choice."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_name: Literal["mrc.scenario/1"] = Field(alias="schema")
    name: Name
    seed: Natural = 1
    switch: SwitchKind = "embedded"
    topology: TopologyModel
    links: LinkModel = LinkModel()
    nic: NicModel = NicModel()
    writes: Annotated[tuple[WriteModel, ...], Field(min_length=1)]
    time_limit_us: Positive = 1_000_000

    @model_validator(mode="after")
    def _names_are_unique(self) -> Scenario:
        names = [write.name for write in self.writes]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two writes named {name}; every write needs a name of its own")
        return self


def _allowed_keys(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """Return the keys of the mapping at `path` under `model`."""
    for step in path:
        if isinstance(step, int):
            continue
        annotation: Any = {field.alias or name: field.annotation for name, field in model.model_fields.items()}[step]
        while not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            annotation = get_args(annotation)[0]
        model = annotation
    return [field.alias or name for name, field in model.model_fields.items()]


def _expectation(error: ErrorDetails) -> str:
    """Say in a few words what would be right, from pydantic's kind of error."""
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "a value for this key"
        case "extra_forbidden":
            return "one of " + ", ".join(_allowed_keys(Scenario, tuple(error["loc"][:-1])))
        case "greater_than_equal":
            return f"a number of at least {context['ge']}"
        case "less_than_equal":
            return f"a number of at most {context['le']}"
        case "int_type":
            return "a whole number"
        case "string_type":
            return "a text"
        case "string_pattern_mismatch":
            return "a name of letters, digits, '_', '.' and '-'"
        case "literal_error":
            return str(context["expected"])
        case "too_short":
            return f"at least {context['min_length']} of them"
        case "model_type" | "dict_type":
            return "a mapping of keys to values"
        case "tuple_type":
            return "a list"
        case _:
            return error["msg"].removeprefix("Value error, ")


def _sentence(path: Path, error: ErrorDetails) -> InputError:
    key = ".".join(str(step) for step in error["loc"])
    found = {"missing": "nothing", "extra_forbidden": "an unknown key"}.get(error["type"], repr(error["input"]))
    if error["type"] == "value_error":
        found = "a contradiction"
    return InputError(f"{path}: {key}" if key else str(path), found, _expectation(error))


def load(path: Path) -> Scenario:
    """Read and check the scenario at `path`; InputError names file and key, what stands there, what would be right."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(str(path), "no such file", "a scenario in YAML") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"a file that cannot be read ({error})", "a scenario in YAML") from None
    try:
        data = YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{path}{line}", str(error.problem).split("\n")[0], "valid YAML") from None
    except (YAMLError, ValueError) as error:
        raise InputError(str(path), str(error).split("\n")[0], "valid YAML") from None
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        raise _sentence(path, error.errors()[0]) from None
