"""What a switch says of a Write that it did not carry out whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pymodel.switch.p4runtime.protos import code_pb2, p4runtime_pb2, status_pb2

__all__ = ["Fault", "faults_of"]


@dataclass(frozen=True, slots=True)
class Fault:
    """An update that the switch refused: its place in the batch, the name of the google.rpc code, its sentence."""

    index: int
    code: str
    message: str


def faults_of(error: Any) -> list[Fault] | None:
    """Return the refused updates of a failed Write, or None when the call itself failed.

    P4Runtime 12.3: the status has one p4.v1.Error for each update, in order, OK for those that went well. (The reader
    of p4runtime-shell 0.0.6 never returns when one of them is OK.)
    """
    for key, value in error.trailing_metadata() or ():
        if key != "grpc-status-details-bin":
            continue
        status = status_pb2.Status()
        status.ParseFromString(value)
        faults = []
        for index, detail in enumerate(status.details):
            one = p4runtime_pb2.Error()
            if detail.Unpack(one) and one.canonical_code != code_pb2.OK:
                faults.append(Fault(index, code_pb2.Code.Name(one.canonical_code), one.message))
        return faults or None
    return None
