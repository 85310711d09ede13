"""Traces that only repeat the model call of another: two instrumentations saw it, and the second knew no parent."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from monitor.ingest.traces.assembly.steps import Steps
from monitor.ingest.traces.conventions.documents import squeezed
from monitor.ingest.traces.conventions.facts import response_id_of, usage_of
from monitor.ingest.traces.conventions.kinds import Kind
from monitor.ingest.traces.conventions.messages import last_of
from monitor.ingest.traces.conventions.step import Step

_LATE = 1_000_000_000  # nanoseconds by which the repeat of a streamed call may end after the other trace


def duplicates(traces: Sequence[Steps]) -> Mapping[str, str]:
    """For each duplicate the id of the trace that it repeats: a larger one, within whose time the same call was made.

    Of two that consist of the same call alone, told by the id of its response, the later one is the duplicate.
    """
    alone: list[Steps] = []
    larger: list[Steps] = []
    for steps in traces:
        only_calls = steps.models and all(step.kind is Kind.MODEL for step in steps.by_id.values())
        (alone if only_calls else larger).append(steps)
    keys = {steps.trace.trace_id: set(_keys(steps.models[-1])) for steps in alone}
    spans_of_time = _times(larger, set().union(*keys.values()))
    first: dict[str, tuple[int, str]] = {}
    for steps in alone:
        for key in keys[steps.trace.trace_id]:
            if key.startswith("id "):
                first[key] = min(first.get(key, _begin(steps)), _begin(steps))
    found = {}
    for steps in alone:
        own = steps.trace.trace_id
        originals = [original for key in keys[own] if (original := _around(spans_of_time.get(key), steps))]
        originals += [first[key][1] for key in keys[own] if first.get(key, ("", own))[1] != own]
        if originals:
            found[own] = min(originals)
    return found


def _times(larger: Sequence[Steps], wanted: set[str]) -> Mapping[str, Sequence[tuple[int, int, str]]]:
    """For each key the traces with such a call by their start: the start, the latest end so far, and whose it is."""
    found: dict[str, set[tuple[int, int, str]]] = defaultdict(set)
    for steps in larger if wanted else ():
        for step in steps.of(Kind.MODEL):
            for key in wanted.intersection(_keys(step)):
                found[key].add((steps.trace.started, steps.trace.ended, steps.trace.trace_id))
    return {key: _latest(sorted(times)) for key, times in found.items()}


def _latest(times: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    latest = []
    end, whose = -1, ""
    for started, ended, trace_id in times:
        if ended > end:
            end, whose = ended, trace_id
        latest.append((started, end, whose))
    return latest


def _around(times: Sequence[tuple[int, int, str]] | None, steps: Steps) -> str | None:
    """A trace within whose time `steps` lie."""
    if not times:
        return None
    place = bisect_right(times, steps.trace.started, key=lambda one: one[0]) - 1
    return times[place][2] if place >= 0 and steps.trace.ended <= times[place][1] + _LATE else None


def _begin(steps: Steps) -> tuple[int, str]:
    return steps.trace.started, steps.trace.trace_id


def _keys(step: Step) -> Iterator[str]:
    """What two spans of one call share: the id of the response, and the text; else what was asked; else the tokens."""
    response = response_id_of(step.span)
    if response is not None:
        yield f"id {response}"
    if step.text:
        yield f"text {squeezed(step.text)}"
    elif asked := last_of(step.input_messages, "user"):
        yield f"asked {squeezed(asked.text)}"
    elif usage := usage_of(step.span):
        yield f"tokens {step.model} {usage.input} {usage.output}"
