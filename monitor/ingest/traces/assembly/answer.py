"""The answer of a turn: what the outermost chain gave back, else the text of the model call that ended last."""

from __future__ import annotations

import re

from monitor.core.model import Json
from monitor.ingest.traces.assembly.steps import Steps
from monitor.ingest.traces.conventions.documents import squeezed
from monitor.ingest.traces.conventions.messages import messages_of
from monitor.ingest.traces.conventions.values import MAX_DEPTH, is_cut, is_plain_text, is_repr, understood, walk

_KEYS = (
    "answer", "final_answer", "final_output", "final_result", "response", "reply", "output", "outputs", "result",
    "generation", "completion", "answer_text", "output_text",
)  # fmt: skip
_FIELD = re.compile(r"\[\[ ## (\w+) ## \]\]")
_WEAK_KEYS = ("text", "content", "message")
_WRAPPERS = ("outputs", "output", "result", "data", "kwargs", "response", "update", "message", "return_value")


def answer_of(steps: Steps) -> tuple[str | None, str]:
    """The answer, and the id of the outermost span that holds it.

    None if the last call failed, or where the answer was not captured.
    """
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
    if isinstance(value, str):
        whole = spoken if spoken is not None and _is_cut_from(value, spoken) else value
        return whole if is_plain_text(value) else None
    if depth > MAX_DEPTH or not isinstance(value, dict | list):
        return None
    messages = messages_of(value)
    if messages:
        last = messages[-1]
        return last.text if last.role == "assistant" and last.text.strip() and not last.calls else None
    named = _named(value, _KEYS)
    if named is not None:
        return given_in(named, spoken, depth + 1)
    if spoken is not None and _holds(value, spoken):
        return spoken
    inners = [understood(value.get(name)) for name in _WRAPPERS] if isinstance(value, dict) else []
    given = (given_in(inner, spoken, depth + 1) for inner in inners if isinstance(inner, dict | list))
    return next((one for one in given if one), None) or _named(value, _WEAK_KEYS)


def _named(value: Json, names: tuple[str, ...]) -> str | None:
    """The first text under one of the names."""
    texts = [value.get(name) for name in names] if isinstance(value, dict) else []
    return next((text for text in texts if is_plain_text(text)), None)


def _holds(value: Json, spoken: str) -> bool:
    same = squeezed(spoken)
    return any(isinstance(text, str) and squeezed(text) == same for _, text in walk(value))


def _field(text: str) -> str:
    """The answer where a model writes several fields: `[[ ## answer ## ]]` and its like."""
    _, *pieces = _FIELD.split(text)
    fields = {name.lower(): piece.strip() for name, piece in zip(pieces[::2], pieces[1::2], strict=True)}
    return next((fields[name] for name in _KEYS if fields.get(name)), text)


def _is_cut_from(text: str, whole: str) -> bool:
    """Whether a text is the beginning of the whole one, as a limit of the length leaves it."""
    head = text.rstrip().removesuffix("...").removesuffix("…")
    return len(head) < len(whole) and len(head) >= min(20, len(whole) // 2) and whole.startswith(head)
