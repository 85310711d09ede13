"""Sends evaluations as log records over OTLP/HTTP: the event `gen_ai.evaluation.result`, parented to the span judged.

Source: https://github.com/open-telemetry/semantic-conventions-genai (gen-ai-events), and for the transport
https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from datetime import datetime

from google.protobuf.message import DecodeError
from typing_extensions import override

from monitor.alert.receivers.http import Endpoint
from monitor.app.export.destination import AT_ONCE, Destination, Refusal, address, header_pairs, quoted, taken
from monitor.app.export.evaluations import Evaluation, evaluations, revision_id
from monitor.core.pending import Work
from monitor.core.settings.export import Sent
from monitor.ingest.traces.otlp_messages import (
    AnyValue,
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
    InstrumentationScope,
    KeyValue,
    LogRecord,
    Resource,
    ResourceLogs,
    ScopeLogs,
    SeverityNumber,
)
from monitor.store.pending.verdicts import VerdictToSend

log = logging.getLogger(__name__)

EVENT = "gen_ai.evaluation.result"
TRACE_ID, SPAN_ID = re.compile(r"(?!0{32})[0-9a-fA-F]{32}"), re.compile(r"(?!0{16})[0-9a-fA-F]{16}")
_SETTING, _HEADERS = "MONITOR_EXPORT__OTLP__ENDPOINT", "MONITOR_EXPORT__OTLP__HEADERS"
_PATH = "/v1/logs"
_PROTOBUF = {"Content-Type": "application/x-protobuf"}


class OtlpDestination(Destination):
    """A collector or backend that takes logs."""

    kind = Work.SEND_OTLP
    at_once = AT_ONCE

    def __init__(self, *, endpoint: str, headers: str | None, scores: Sequence[Sent]) -> None:
        self._scores = scores
        self._endpoint = Endpoint(
            address(endpoint, _PATH), name="otlp", setting=_SETTING, headers=header_pairs(headers, _HEADERS)
        )

    @override
    def send(self, verdicts: Sequence[VerdictToSend]) -> Sequence[Refusal]:
        records = [record(v, one) for v in verdicts for one in evaluations(v, self._scores)]
        self._post(_request(records))
        return ()

    @override
    def check(self) -> str:
        self._post(ExportLogsServiceRequest())
        return f"otlp at {self._endpoint.host} takes logs"

    @override
    def close(self) -> None:
        """There is nothing to release."""

    def _post(self, request: ExportLogsServiceRequest) -> None:
        answer = self._endpoint.post(request.SerializeToString(), _PROTOBUF)
        body = taken(self._endpoint, answer, "a log record").body
        try:
            partial = ExportLogsServiceResponse.FromString(body).partial_success
        except DecodeError:
            return  # JSON, or a page: the status is what counts
        if partial.rejected_log_records:  # which ones is not said, and the protocol forbids to send them again
            said = quoted(partial.error_message)
            log.warning("otlp: %d evaluations of a batch were rejected: %s", partial.rejected_log_records, said)


def record(verdict: VerdictToSend, one: Evaluation) -> LogRecord:
    """One evaluation as a log record, parented to the span of the answer, or to its trace only where that is unknown.

    `log.record.uid` tells repetitions of one revision, which receivers may drop.
    """
    trace_id, span_id = verdict.trace_id or "", verdict.span_id or ""
    traced = TRACE_ID.fullmatch(trace_id) is not None
    at = _nanoseconds(verdict.at)
    attributes: dict[str, str | float | None] = {
        "gen_ai.evaluation.name": one.name,
        "gen_ai.evaluation.score.value": one.value,
        "gen_ai.evaluation.score.label": one.label,
        "gen_ai.evaluation.explanation": one.explanation,
        "gen_ai.response.id": verdict.response_id,
        "log.record.uid": revision_id(verdict, one.name),
        "monitor.app": verdict.app,
        "monitor.interaction.id": verdict.interaction_id,
        "monitor.profile.hash": verdict.profile,
    }
    return LogRecord(
        time_unix_nano=at,
        observed_time_unix_nano=at,
        severity_number=SeverityNumber.SEVERITY_NUMBER_INFO,
        event_name=EVENT,
        trace_id=bytes.fromhex(trace_id) if traced else b"",
        span_id=bytes.fromhex(span_id) if traced and SPAN_ID.fullmatch(span_id) else b"",
        attributes=[KeyValue(key=name, value=_any(value)) for name, value in attributes.items() if value is not None],
    )


def _request(records: Sequence[LogRecord]) -> ExportLogsServiceRequest:
    scope = ScopeLogs(scope=InstrumentationScope(name="monitor"), log_records=records)
    service = KeyValue(key="service.name", value=_any("rag-monitor"))
    return ExportLogsServiceRequest(
        resource_logs=[ResourceLogs(resource=Resource(attributes=[service]), scope_logs=[scope])]
    )


def _any(value: str | float) -> AnyValue:
    return AnyValue(string_value=value) if isinstance(value, str) else AnyValue(double_value=value)


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp()) * 10**9 + at.microsecond * 1_000
