"""Langfuse's exports: traces with their observations, and observations or traces by themselves (docs/start/forms.md).

Field names after Langfuse's public API (camelCase) and its blob storage export (snake_case); attributes of the spans
as Langfuse's SDK writes them. An observation becomes a span. A trace becomes one above its observations if it holds
input or output of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from monitor.core.model import Json
from monitor.core.trace import Collected, Span
from monitor.ingest.dialects.dialect import Context, Dialect
from monitor.ingest.dialects.spans import (
    collected,
    given,
    items,
    json_object,
    json_value,
    nanoseconds,
    records,
    span_id,
    text,
    trace_id,
)
from monitor.ingest.parse import JsonObject

_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SCOPE = "langfuse-export"
# A trace's row in the blob storage export.
_TRACE_ROW = frozenset({"id", "timestamp", "project_id", "session_id", "user_id"})


def read(event: JsonObject, context: Context) -> Collected:
    """The spans of the traces and observations in an export.

    Raises:
        InvalidMessage: an id or time is missing or wrong.
    """
    spans: list[Span] = []
    for path, record in records(event, "data", "traces"):
        names = _snake(record)
        if isinstance(names.get("observations"), list):
            spans += _of_trace(names, path)
        elif "trace_id" in names:
            spans.append(_observation(names, {}, path, None))
        else:
            spans.append(_trace(names, path, 0))
    return collected(spans, context)


DIALECT = Dialect(
    name="langfuse",
    signs=frozenset({"traceId", "parentObservationId"}),
    also=(
        frozenset({"trace_id", "parent_observation_id"}),
        frozenset({"id", "timestamp", "observations"}),
        frozenset({"trace", "observations"}),
        _TRACE_ROW,
        frozenset({"data", "meta"}),
    ),
    read=read,
)


def _of_trace(record: JsonObject, path: str) -> Iterator[Span]:
    """The spans of a trace that holds its observations."""
    own = record.get("trace")
    trace = _snake(own) if isinstance(own, dict) else record
    spans: list[Span] = []
    root = None
    if trace.get("input") is not None or trace.get("output") is not None:
        root = span_id(f"trace {trace.get('id')}", f"{path}id")
    for where, item in items(record, "observations", path):
        names = _snake(item)
        names.setdefault("trace_id", trace.get("id"))
        spans.append(_observation(names, trace, where, root))
    if root is not None or not spans:
        yield _trace(trace, path, max((span.ended for span in spans), default=0))
    yield from spans


def _trace(trace: JsonObject, path: str, ended: int) -> Span:
    started = nanoseconds(trace.get("timestamp"), f"{path}timestamp")
    return Span(
        trace_id=trace_id(trace.get("id"), f"{path}id"),
        span_id=span_id(f"trace {trace.get('id')}", f"{path}id"),
        parent_id=None,
        name=text(trace.get("name") or "trace"),
        started=started,
        ended=max(started, ended),
        scope=_SCOPE,
        attributes=given({"langfuse.observation.type": "span", **_content(trace), **_whose(trace, {})}),
        resource=_resource(trace, {}),
    )


def _observation(record: JsonObject, trace: JsonObject, path: str, root: str | None) -> Span:
    own, parent = record.get("id"), record.get("parent_observation_id")
    usage = json_object(record.get("usage_details")) or json_object(record.get("usage"))
    parameters = json_value(record.get("model_parameters"))
    attributes: dict[str, Json] = {
        "langfuse.observation.type": text(record.get("type") or "span").lower(),
        **_content(record),
        **_whose(record, trace),
        "langfuse.observation.model.name": record.get("model") or record.get("provided_model_name"),
        "langfuse.observation.model.parameters": text(parameters) if parameters else None,
        "langfuse.observation.usage_details": text(usage) if usage else None,
        "langfuse.observation.level": record.get("level"),
        "langfuse.observation.status_message": record.get("status_message"),
    }
    return Span(
        trace_id=trace_id(record.get("trace_id"), f"{path}trace_id"),
        span_id=span_id(own, f"{path}id"),
        parent_id=span_id(parent, f"{path}parent_observation_id") if parent else root,
        name=text(record.get("name") or ""),
        started=nanoseconds(record.get("start_time"), f"{path}start_time"),
        ended=nanoseconds(record.get("end_time"), f"{path}end_time"),
        scope=_SCOPE,
        failed=record.get("level") == "ERROR",
        problem=text(record.get("status_message") or ""),
        attributes=given(attributes),
        resource=_resource(record, trace),
    )


def _content(record: JsonObject) -> dict[str, Json]:
    return {
        f"langfuse.observation.{name}": None if record.get(name) is None else text(record[name])
        for name in ("input", "output")
    }


def _whose(record: JsonObject, trace: JsonObject) -> dict[str, Json]:
    return {
        "session.id": record.get("session_id") or trace.get("session_id"),
        "user.id": record.get("user_id") or trace.get("user_id"),
        "langfuse.trace.name": record.get("trace_name") or trace.get("name"),
    }


def _resource(record: JsonObject, trace: JsonObject) -> dict[str, Json]:
    return given({"deployment.environment.name": record.get("environment") or trace.get("environment")})


def _snake(record: JsonObject) -> JsonObject:
    """The record with its names in snake_case, as the blob storage export writes them."""
    return {_CAPITAL.sub("_", name).lower(): value for name, value in record.items()}
