"""The answer of a turn: what the outermost chain gave back, else the text of the model call that ended last."""

from __future__ import annotations

import re

from monitor.core.model import Json
from monitor.ingest.traces.reading.documents import squeezed
from monitor.ingest.traces.reading.messages import messages_of
from monitor.ingest.traces.reading.values import MAX_DEPTH, is_cut, is_repr, understood, walk
from monitor.ingest.traces.assembly.steps import Steps

_KEYS = (
    "answer", "final_answer", "final_output", "final_result", "response", "reply", "output", "outputs", "result", "generation",
    "completion", "answer_text", "output_text",
)  # fmt: skip
_FIELDS = re.compile(r"\[\[ ## (\w+) ## \]\]\s*(.*?)\s*(?=\[\[ ## |\Z)", re.DOTALL)
_WEAK_KEYS = ("text", "content", "message")
_WRAPPERS = ("outputs", "output", "result", "data", "kwargs", "response", "update", "message", "return_value")


def answer_of(steps: Steps) -> tuple[str | None, str]:
    """The answer, and the id of the outermost span that holds it; None if the last call failed or it is not captured."""
    final = steps.final
    if final is None or final.failed:
        return None, "" if final is None else final.span.span_id
    for step in steps.around:
        if isinstance(text := step.output, str) and (is_cut(text) or is_repr(text)):
            continue
        given = step.text if step.output is None else given_in(step.output, final.text)
        if given is not None:
            return given, step.span.span_id
    return None if final.text is None else _field(final.text), final.span.span_id


def given_in(value: Json, spoken: str | None, depth: int = 0) -> str | None:
    """The answer in what a step gave back; `spoken` is the text of the model."""
    value = understood(value)
    if depth > MAX_DEPTH or value is None:
        return None
    if isinstance(value, str):
        if not value.strip() or is_repr(value):
            return None
        return spoken if spoken is not None and _is_cut_from(value, spoken) else value
    messages = messages_of(value)
    if messages:
        last = messages[-1]
        return last.text if last.role == "assistant" and last.text.strip() and not last.calls else None
    if isinstance(value, dict):
        for name in _KEYS:
            inner = value.get(name)
            if isinstance(inner, str) and inner.strip() and not is_repr(inner):
                return given_in(inner, spoken, depth + 1)
    if spoken is not None:
        same = squeezed(spoken)
        if any(isinstance(text, str) and squeezed(text) == same for _, text in walk(value)):
            return spoken
    if isinstance(value, dict):
        for name in _WRAPPERS:
            inner = understood(value.get(name))
            if isinstance(inner, dict | list) and (given := given_in(inner, spoken, depth + 1)):
                return given
        for name in _WEAK_KEYS:
            inner = value.get(name)
            if isinstance(inner, str) and inner.strip() and not is_repr(inner):
                return inner
    return None


def _field(text: str) -> str:
    """The answer where a model writes several fields: `[[ ## answer ## ]]` and its like."""
    fields = {match[1].lower(): match[2].strip() for match in _FIELDS.finditer(text)}
    return next((fields[name] for name in _KEYS if fields.get(name)), text)


def _is_cut_from(text: str, whole: str) -> bool:
    """Whether a text is the beginning of the whole one, as a limit of the length leaves it."""
    head = text.rstrip().removesuffix("...").removesuffix("…")
    return len(head) < len(whole) and len(head) >= min(20, len(whole) // 2) and whole.startswith(head)
