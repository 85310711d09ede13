"""Phoenix's spans: `GET /v1/projects/{project}/spans`, and its dataframe of spans as JSON (docs/start/forms.md).

Field names after Phoenix's OpenAPI schema `Span` and the columns of `get_spans_dataframe`. The attributes are
OpenInference's; exports hold them flat, nested, or as columns, and here they are flat.
"""

from __future__ import annotations

from collections.abc import Iterator

from monitor.core.errors import InvalidMessage
from monitor.core.model import Json
from monitor.core.trace import Collected, Span, SpanEvent
from monitor.ingest.dialects.dialect import Context, Dialect
from monitor.ingest.dialects.spans import (
    collected,
    given,
    json_object,
    json_value,
    nanoseconds,
    records,
    span_id,
    text,
    trace_id,
)
from monitor.ingest.parse import JsonObject

_COLUMN = "attributes."
_LONGEST_NAME = 256  # characters of a name that stands before each of those below it
# OpenInference has these as JSON in a text.
_TEXTS = (
    "input.value",
    "output.value",
    "metadata",
    "llm.invocation_parameters",
    "llm.prompt_template.variables",
    "tool.parameters",
    "tool_call.function.arguments",
)


def read(event: JsonObject, context: Context) -> Collected:
    """The spans of an export.

    Raises:
        InvalidMessage: an id or time is missing or wrong.
    """
    return collected([_span(record, path) for path, record in records(event, "data", "spans")], context)


DIALECT = Dialect(
    name="phoenix",
    signs=frozenset({"context", "span_kind"}),
    also=(frozenset({"context.trace_id", "context.span_id"}), frozenset({"data", "next_cursor"})),
    read=read,
)


def _span(record: JsonObject, path: str) -> Span:
    context = json_object(record.get("context"))
    own = context.get("span_id") or record.get("context.span_id")
    parent = record.get("parent_id")
    columns = {name.removeprefix(_COLUMN): value for name, value in record.items() if name.startswith(_COLUMN)}
    attributes = dict(_flat(columns or json_object(record.get("attributes")), path))
    attributes.setdefault("openinference.span.kind", record.get("span_kind"))
    return Span(
        trace_id=trace_id(context.get("trace_id") or record.get("context.trace_id"), f"{path}context.trace_id"),
        span_id=span_id(own, f"{path}context.span_id"),
        parent_id=span_id(parent, f"{path}parent_id") if parent else None,
        name=text(record.get("name") or ""),
        started=nanoseconds(record.get("start_time"), f"{path}start_time"),
        ended=nanoseconds(record.get("end_time"), f"{path}end_time"),
        scope="phoenix-export",
        failed=record.get("status_code") == "ERROR",
        problem=text(record.get("status_message") or ""),
        attributes=given(attributes),
        events=tuple(_events(record.get("events"), f"{path}events")),
    )


def _flat(attributes: JsonObject, path: str) -> Iterator[tuple[str, Json]]:
    """Attributes without objects in them: names joined by dots, items of lists of objects by their numbers.

    Raises:
        InvalidMessage: a name that is to stand before each of several others is too long.
    """
    left: list[tuple[str, Json]] = list(attributes.items())
    while left:
        name, value = left.pop()
        if name.endswith(_TEXTS) and isinstance(value, dict | list):
            yield name, text(value)
        elif isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value)):
            if len(name) > _LONGEST_NAME:
                problem = f"has a name of {len(name):,} characters with others below it; the limit is {_LONGEST_NAME}"
                raise InvalidMessage(f"{path}attributes", problem)
            below = value.items() if isinstance(value, dict) else enumerate(value)
            left += [(f"{name}.{place}", item) for place, item in below]
        else:
            yield name, value


def _events(value: Json, path: str) -> Iterator[SpanEvent]:
    items = json_value(value)
    for i, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            at = nanoseconds(item.get("timestamp"), f"{path}[{i}].timestamp")
            yield SpanEvent(name=text(item.get("name") or ""), at=at, attributes=json_object(item.get("attributes")))
