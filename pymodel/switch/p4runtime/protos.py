"""The generated P4Runtime code, imported in one place because it carries no types."""

from __future__ import annotations

from google.protobuf import any_pb2, text_format
from google.rpc import code_pb2, status_pb2  # type: ignore[import-untyped]
from p4.config.v1 import p4info_pb2  # type: ignore[import-untyped]
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc  # type: ignore[import-untyped]

__all__ = ["any_pb2", "code_pb2", "p4info_pb2", "p4runtime_pb2", "p4runtime_pb2_grpc", "status_pb2", "text_format"]
