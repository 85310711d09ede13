"""The replies of OTLP, in protobuf and JSON: what was rejected, and why a request failed.

Source: the specification of OTLP in opentelemetry-proto, "OTLP/HTTP Response" and "OTLP/gRPC Response". Failures are
google.rpc.Status; where the sender may try again, with a RetryInfo.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from typing import Any

from monitor.ingest.traces.otlp_messages import (
    Code,
    Duration,
    ExportLogsServiceResponse,
    ExportTraceServiceResponse,
    RetryInfo,
    Status,
)
from monitor.web.collect.refusal import Refused

PROTOBUF, JSON = "application/x-protobuf", "application/json"
NO_METRICS = "metrics are not read here, only traces and logs; switch them off: OTEL_METRICS_EXPORTER=none"
_CODES = {
    HTTPStatus.BAD_REQUEST: Code.INVALID_ARGUMENT,
    HTTPStatus.UNAUTHORIZED: Code.UNAUTHENTICATED,
    HTTPStatus.FORBIDDEN: Code.PERMISSION_DENIED,
    HTTPStatus.NOT_FOUND: Code.UNIMPLEMENTED,
    HTTPStatus.METHOD_NOT_ALLOWED: Code.UNIMPLEMENTED,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: Code.INVALID_ARGUMENT,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: Code.INVALID_ARGUMENT,
    HTTPStatus.TOO_MANY_REQUESTS: Code.RESOURCE_EXHAUSTED,  # to be tried again, since a RetryInfo goes with it
    HTTPStatus.SERVICE_UNAVAILABLE: Code.UNAVAILABLE,
    HTTPStatus.INTERNAL_SERVER_ERROR: Code.INTERNAL,
}


class Signal(Enum):
    """What a request of OTLP carries."""

    TRACES = "traces"
    LOGS = "logs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A request was kept; `rejected` of its spans or log records were not, and never will be, because of `problem`."""

    rejected: int = 0
    problem: str = ""


def reply(signal: Signal, receipt: Receipt, *, as_json: bool) -> bytes:
    """The body of a response to a request that was kept."""
    if as_json:
        if not receipt.rejected:
            return b"{}"
        name = "rejectedSpans" if signal is Signal.TRACES else "rejectedLogRecords"
        partial = {name: str(receipt.rejected), "errorMessage": receipt.problem}  # 64 bits are a string in JSON
        return json.dumps({"partialSuccess": partial}).encode()
    if signal is Signal.TRACES:
        traces = ExportTraceServiceResponse()
        if receipt.rejected:
            traces.partial_success.rejected_spans = receipt.rejected
            traces.partial_success.error_message = receipt.problem
        return traces.SerializeToString()
    logs = ExportLogsServiceResponse()
    if receipt.rejected:
        logs.partial_success.rejected_log_records = receipt.rejected
        logs.partial_success.error_message = receipt.problem
    return logs.SerializeToString()


def code(refused: Refused) -> int:
    """The code of gRPC for a refusal."""
    return int(_CODES[refused.status])


def status(refused: Refused, *, as_json: bool) -> bytes:
    """The body of a response to a request that was not kept."""
    if as_json:
        body: dict[str, Any] = {"code": code(refused), "message": refused.problem}
        if refused.retry_after is not None:
            delay = f"{retry_seconds(refused.retry_after)}s"
            body["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]
        return json.dumps(body).encode()
    found = Status(code=code(refused), message=refused.problem)
    if refused.retry_after is not None:
        wait = Duration(seconds=retry_seconds(refused.retry_after))
        found.details.add().Pack(RetryInfo(retry_delay=wait))
    body_of_status: bytes = found.SerializeToString()
    return body_of_status


def retry_seconds(seconds: float) -> int:
    """Whole seconds, as the header `Retry-After` has them."""
    return max(1, math.ceil(seconds))
