"""LangSmith's runs, as its SDK, its API and its bulk export write them (docs/start/forms.md).

Field names after LangSmith's run data format; attributes of the spans as LangSmith's OpenTelemetry exporter writes
them. A trace's runs may stand on several lines, or each within its parent as `child_runs`.
"""

from __future__ import annotations

import re

from monitor.core.model import Json
from monitor.core.trace import Collected, Span
from monitor.ingest.dialects.dialect import Context, Dialect
from monitor.ingest.dialects.spans import (
    collected,
    given,
    json_object,
    json_value,
    nanoseconds,
    nested,
    records,
    span_id,
    text,
    trace_id,
)
from monitor.ingest.parse import JsonObject

_OPERATIONS = {"llm": "chat", "tool": "execute_tool", "retriever": "embeddings", "embedding": "embeddings"}
# dotted_order: the start and the id of each run from the root down, `20260503T090000000000Z<uuid>.…`
_STEP = re.compile(r"[0-9]{8}T[0-9]+Z(?P<id>[0-9a-f-]{36})")


def read(event: JsonObject, context: Context) -> Collected:
    """The spans of the runs in an export.

    Raises:
        InvalidMessage: an id or time is missing or wrong.
    """
    spans: list[Span] = []
    for path, record in records(event, "runs"):
        spans += nested(record, path, "child_runs", _run)
    return collected(spans, context)


DIALECT = Dialect(
    name="langsmith",
    signs=frozenset({"run_type", "inputs"}),
    also=(frozenset({"run_type", "dotted_order"}), frozenset({"runs", "cursors"})),
    read=read,
)


def _run(run: JsonObject, path: str) -> Span:
    order = run.get("dotted_order")
    above = _STEP.findall(order) if isinstance(order, str) else []
    parent = run.get("parent_run_id") or (above[-2] if len(above) > 1 else None)
    own_trace = run.get("trace_id") or (above[0] if above else None) or (None if parent else run.get("id"))
    extra = json_object(run.get("extra"))
    metadata = {**json_object(extra.get("metadata")), **json_object(run.get("metadata"))}
    kind = text(run.get("run_type") or "chain")
    error = run.get("error")
    outputs = json_object(run.get("outputs"))
    usage = json_object(metadata.get("usage_metadata")) or json_object(outputs.get("usage_metadata"))
    attributes: dict[str, Json] = {
        "langsmith.span.kind": kind,
        "langsmith.trace.name": run.get("name"),
        "langsmith.trace.session_name": run.get("session_name"),
        "gen_ai.operation.name": _OPERATIONS.get(kind, kind),
        "gen_ai.system": metadata.get("ls_provider") or "langchain",
        "gen_ai.request.model": metadata.get("ls_model_name"),
        "gen_ai.usage.input_tokens": _count(run.get("prompt_tokens"), usage.get("input_tokens")),
        "gen_ai.usage.output_tokens": _count(run.get("completion_tokens"), usage.get("output_tokens")),
        "gen_ai.prompt": _content(run.get("inputs")),
        "gen_ai.completion": _content(run.get("outputs")),
        **{f"langsmith.metadata.{name}": _plain(value) for name, value in metadata.items()},
    }
    return Span(
        trace_id=trace_id(own_trace, f"{path}trace_id"),
        span_id=span_id(run.get("id"), f"{path}id"),
        parent_id=span_id(parent, f"{path}parent_run_id") if parent else None,
        name=text(run.get("name") or ""),
        started=nanoseconds(run.get("start_time"), f"{path}start_time"),
        ended=nanoseconds(run.get("end_time"), f"{path}end_time"),
        scope="langsmith",
        failed=bool(error) or run.get("status") == "error",
        problem=text(error or ""),
        attributes=given(attributes),
    )


def _content(value: Json) -> str | None:
    held = json_value(value)
    return None if held is None or held == {} else text(held)


def _count(*counts: Json) -> Json:
    """The first that is a number of tokens; a run that calls no model has 0."""
    return next((count for count in counts if isinstance(count, int) and count > 0), None)


def _plain(value: Json) -> Json:
    return value if isinstance(value, str | int | float | bool | None) else text(value)
