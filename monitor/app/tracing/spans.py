"""Makes a span of each stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanContext, StatusCode, TraceFlags, Tracer, set_span_in_context
from opentelemetry.util.types import AttributeValue
from typing_extensions import override

from monitor.app.tracing.names import AS_TEXT, ATTRIBUTES, KINDS, Kind
from monitor.core.stage import Observation, Observer, StageName, Value


class SpanObservation(Observation):
    """One stage as a span. An error marks it with its type only, since its text may quote what a chatbot said."""

    def __init__(self, span: Span) -> None:
        self.span = span
        context = span.get_span_context()
        self._fields = {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}

    @property
    @override
    def log_fields(self) -> Mapping[str, str]:
        return self._fields

    @override
    def add(self, attributes: Mapping[str, Value]) -> None:
        self.span.set_attributes(dict(_named(attributes)))

    @override
    def end(self, error: BaseException | None) -> None:
        if error is not None:
            self.span.set_attribute("error.type", type(error).__name__)
            self.span.set_status(StatusCode.ERROR)
        self.span.end()


class SpanObserver(Observer):
    """Begins spans. A batch's span links to the producers' spans, since it cannot be part of all of them."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @override
    def begin(self, name: StageName, attributes: Mapping[str, Value], parent: Observation | None) -> SpanObservation:
        kind = KINDS.get(name) or Kind(name=name)
        of = attributes.get(kind.of) if kind.of is not None else None
        context = Context()  # without a parent, a trace begins
        if isinstance(parent, SpanObservation):
            context = set_span_in_context(parent.span, context)
        span = self._tracer.start_span(
            kind.name if of is None else f"{kind.name} {_encodable(str(of))}",
            context=context,
            kind=kind.kind,
            attributes={**kind.always, **dict(_named(attributes))},
            links=list(_links(attributes.get("producers", ()))),
            record_exception=False,
            set_status_on_exception=False,
        )
        return SpanObservation(span)


def _named(attributes: Mapping[str, Value]) -> Iterator[tuple[str, AttributeValue]]:
    for ours, value in attributes.items():
        if (name := ATTRIBUTES.get(ours)) is None:
            continue
        if isinstance(value, (bool, int, float)):
            yield name, str(value) if ours in AS_TEXT else value
        elif isinstance(value, str):
            yield name, _encodable(value)
        else:
            yield name, [_encodable(each) for each in value]


def _encodable(text: str) -> str:
    """`text` without lone surrogates, which would keep a whole batch of spans from being sent."""
    return text.encode(errors="replace").decode()


def _links(producers: Value) -> Iterator[Link]:
    """Links to what well-formed `traceparent` headers name."""
    for parent in producers if isinstance(producers, (list, tuple)) else ():
        _, trace, span, flags = parent.split("-")
        yield Link(SpanContext(int(trace, 16), int(span, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16))))
