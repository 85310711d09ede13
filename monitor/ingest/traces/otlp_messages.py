"""The messages of OTLP, and those of gRPC's errors, as classes of protobuf.

They come from the published descriptors in otlp.descriptors, a file a line, which tools/build_otlp.py builds. These are
kept in a pool of their own, so that they do not clash with the packages that hold the same messages, whatever release
is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.duration_pb2 import Duration
    from google.rpc.code_pb2 import Code
    from google.rpc.error_details_pb2 import RetryInfo
    from google.rpc.status_pb2 import Status
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
        ExportLogsServiceRequest,
        ExportLogsServiceResponse,
    )
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
        ExportTraceServiceRequest,
        ExportTraceServiceResponse,
    )
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs, ScopeLogs, SeverityNumber
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource
    from opentelemetry.proto.trace.v1.trace_pb2 import Span
else:
    from base64 import b64decode
    from enum import IntEnum
    from importlib import resources

    from google.protobuf import any_pb2, duration_pb2
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClassesForFiles

    _imported = [module.DESCRIPTOR.serialized_pb for module in (any_pb2, duration_pb2)]
    _published = map(b64decode, (resources.files(__package__) / "otlp.descriptors").read_bytes().splitlines())
    _pool = DescriptorPool()
    _files = [_pool.AddSerializedFile(file).name for file in (*_imported, *_published)]
    _messages = GetMessageClassesForFiles(_files, _pool)

    def _enum(name: str) -> type[IntEnum]:
        values = _pool.FindEnumTypeByName(name).values
        return IntEnum(name.rpartition(".")[2], {value.name: value.number for value in values})

    Duration = _messages["google.protobuf.Duration"]
    Code = _enum("google.rpc.Code")
    RetryInfo = _messages["google.rpc.RetryInfo"]
    Status = _messages["google.rpc.Status"]
    AnyValue = _messages["opentelemetry.proto.common.v1.AnyValue"]
    InstrumentationScope = _messages["opentelemetry.proto.common.v1.InstrumentationScope"]
    KeyValue = _messages["opentelemetry.proto.common.v1.KeyValue"]
    Resource = _messages["opentelemetry.proto.resource.v1.Resource"]
    Span = _messages["opentelemetry.proto.trace.v1.Span"]
    LogRecord = _messages["opentelemetry.proto.logs.v1.LogRecord"]
    ResourceLogs = _messages["opentelemetry.proto.logs.v1.ResourceLogs"]
    ScopeLogs = _messages["opentelemetry.proto.logs.v1.ScopeLogs"]
    SeverityNumber = _enum("opentelemetry.proto.logs.v1.SeverityNumber")
    ExportTraceServiceRequest = _messages["opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest"]
    ExportTraceServiceResponse = _messages["opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse"]
    ExportLogsServiceRequest = _messages["opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest"]
    ExportLogsServiceResponse = _messages["opentelemetry.proto.collector.logs.v1.ExportLogsServiceResponse"]

__all__ = [
    "AnyValue",
    "Code",
    "Duration",
    "ExportLogsServiceRequest",
    "ExportLogsServiceResponse",
    "ExportTraceServiceRequest",
    "ExportTraceServiceResponse",
    "InstrumentationScope",
    "KeyValue",
    "LogRecord",
    "Resource",
    "ResourceLogs",
    "RetryInfo",
    "ScopeLogs",
    "SeverityNumber",
    "Span",
    "Status",
]
