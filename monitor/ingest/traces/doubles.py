"""Traces that only repeat the model call of another: two instrumentations saw it, and the second knew no parent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from monitor.ingest.traces.reading.documents import squeezed
from monitor.ingest.traces.reading.kinds import Kind
from monitor.ingest.traces.reading.step import Step
from monitor.ingest.traces.steps import Steps


def doubles(traces: Sequence[Steps]) -> Mapping[str, str]:
    """The id of the trace that each double repeats: a larger one, within whose time it gave the same answer."""
    calls: dict[str, list[tuple[Steps, Step]]] = defaultdict(list)
    single = [steps for steps in traces if len(steps.by_id) == 1 and steps.models]
    if not single:
        return {}
    wanted = {key for steps in single for key in _keys(steps.models[0])}
    for steps in traces:
        if len(steps.by_id) > 1:
            for step in steps.of(Kind.MODEL):
                for key in _keys(step):
                    if key in wanted:
                        calls[key].append((steps, step))
    found = {}
    for steps in single:
        alone = steps.models[0]
        around = {
            other.trace.trace_id
            for key in _keys(alone)
            for other, _ in calls.get(key, ())
            if other.trace.started <= alone.span.started and alone.span.ended <= other.trace.ended
        }
        if around:
            found[steps.trace.trace_id] = min(around)
    return found


def _keys(step: Step) -> list[str]:
    """What two spans of one call share: the id of the response, and the text."""
    response = step.span.attributes.get("gen_ai.response.id")
    keys = [f"id {response}"] if isinstance(response, str) and response else []
    return [*keys, f"text {squeezed(step.text)}"] if step.text else keys
