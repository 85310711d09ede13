"""What surrounds a turn: conversation, user, service, model and tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from monitor.core.model import Json, TokenUsage
from monitor.core.trace import LogRecord, Span
from monitor.ingest.traces.assembly.steps import Steps
from monitor.ingest.traces.conventions.facts import conversation_of, response_id_of, usage_of, usage_within, user_of
from monitor.ingest.traces.conventions.kinds import Kind
from monitor.ingest.traces.conventions.step import Step
from monitor.ingest.traces.conventions.values import first_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """None stands for what the trace does not say."""

    conversation_id: str | None
    user: str | None
    service: str | None
    environment: str | None
    model: str | None
    usage: TokenUsage | None


def background_of(steps: Steps) -> Background:
    """From the outermost span that says it, else a log record, and the resource of the first span."""
    spans = sorted(
        steps.trace.by_id.values(), key=lambda s: (steps.trace.depth_of.get(s.span_id, 0), s.started, s.span_id)
    )
    resource = spans[0].resource if spans else {}
    records: list[Span | LogRecord] = [*spans]
    records += [log for span in spans for log in steps.trace.logs_of.get(span.span_id, ())]
    return Background(
        conversation_id=_first(records, conversation_of),
        user=_first(records, user_of),
        service=_service(resource),
        environment=first_text(resource.get("deployment.environment.name"), resource.get("deployment.environment")),
        model=next((step.model for step in reversed(steps.models) if step.model and not step.failed), None),
        usage=_usage(steps),
    )


def _service(resource: Mapping[str, Json]) -> str | None:
    """The name of the service, or of the project that a package names in its place."""
    named = first_text(resource.get("service.name"))
    if named is not None and not named.startswith("unknown_service"):
        return named
    return first_text(resource.get("openinference.project.name"))


def _first(records: Sequence[Span | LogRecord], read: Callable[[Span | LogRecord], str | None]) -> str | None:
    return next((found for record in records if (found := read(record)) is not None), None)


def _usage(steps: Steps) -> TokenUsage | None:
    """The sum over the model calls.

    Of calls within calls the outer one counts, of those that share the id of a response the first.
    """
    counting = {step.span.span_id: usage for step in steps.of(Kind.MODEL) if (usage := _own_usage(step))}
    inner = steps.below(set(counting))
    given: list[int] = []
    made: list[int] = []
    responses: set[str] = set()
    for span_id, usage in counting.items():
        response = response_id_of(steps.by_id[span_id].span)
        if span_id in inner or response in responses:
            continue
        if response is not None:
            responses.add(response)
        given += [usage.input] if usage.input is not None else []
        made += [usage.output] if usage.output is not None else []
    if not given and not made:
        return None
    return TokenUsage(input=sum(given) if given else None, output=sum(made) if made else None)


def _own_usage(step: Step) -> TokenUsage | None:
    return usage_of(step.span) or usage_within(step.output)
