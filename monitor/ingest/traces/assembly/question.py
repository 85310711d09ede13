"""The question of a turn: what the outermost chain was asked, else the last message of the user to the model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monitor.core.model import Json
from monitor.ingest.traces.assembly.prompt import HEADING
from monitor.ingest.traces.assembly.steps import Steps
from monitor.ingest.traces.conventions.documents import squeezed
from monitor.ingest.traces.conventions.kinds import Kind
from monitor.ingest.traces.conventions.messages import last_of, messages_of
from monitor.ingest.traces.conventions.step import Step
from monitor.ingest.traces.conventions.values import MAX_DEPTH, is_cut, is_plain_text, is_repr, understood, walk
from monitor.ingest.traces.turn import TurnDocument

_KEYS = (
    "question", "user_question", "query", "user_query", "query_str", "user_input", "user_message", "user_msg", "input",
    "inputs", "message", "prompt", "str_or_query_bundle", "query_bundle", "input_str", "q", "task", "text", "content",
)  # fmt: skip
_WRAPPERS = ("inputs", "input", "data", "kwargs", "args", "state", "message", "body", "payload", "request")
_HEAD = 60  # characters of a document that are looked for
_MOST_COMPARED = 50
_LEAST_CHARS = 4  # of a text that is looked for in a prompt: shorter ones are codes
_MARKED = re.compile(r"^[ \t*#]*(?:user )?(?:question|query)[ \t*]*:[ \t*]*(.+)$", re.IGNORECASE | re.MULTILINE)
_AT_END = re.compile(r"\s*(?:[\w ]{0,20}\banswer\b[\W_]*)?", re.IGNORECASE)
_INTRODUCED = re.compile(
    r"^[ \t*#]*(?:(?:new )?context|documents?|sources?|passages?|snippets?)[ \t*]*:"
    r"|^.{0,40}\bcontext information\b.{0,60}\bbelow\b",
    re.IGNORECASE | re.MULTILINE,
)


def question_of(steps: Steps, documents: Sequence[TurnDocument]) -> str | None:
    """The question; None where it was not captured. Redaction is the caller's to respect."""
    heard = _heard(steps)
    rendered = heard is not None and _is_rendered(heard, documents)
    texts = {document.text for document in documents}
    for step in steps.around:
        if isinstance(text := step.input, str) and (is_cut(text) or is_repr(text)):
            continue
        asked = _asked(step, heard or "")
        if asked is not None and asked not in texts and not (rendered and asked == heard):
            return asked
    if heard is None:
        return _only_query(steps)
    return _within_prompt(heard, steps) if rendered else heard


def _only_query(steps: Steps) -> str | None:
    """What was looked up, where a limit cut the prompt: with one model call, nothing can have reworded it."""
    prompt_is_cut = steps.final is not None and steps.final.prompt_is_cut
    if not prompt_is_cut or len(steps.of(Kind.MODEL, Kind.TOOL)) > 1:
        return None
    queries = {query for step in steps.of(Kind.RETRIEVER) if (query := asked_in(step.input, ""))}
    return queries.pop() if len(queries) == 1 else None


def _asked(step: Step, heard: str) -> str | None:
    """What a chain was asked: in what it was given, or by the last message of the user to it."""
    if step.input is not None:
        return asked_in(step.input, heard)
    spoken = last_of(step.input_messages, "user")
    return None if spoken is None else asked_in(spoken.text, heard)


def _is_rendered(heard: str, documents: Sequence[TurnDocument]) -> bool:
    """Whether the user's message is a prompt that was put together: it holds a document, or a heading for them."""
    if "\n" not in heard.strip():
        return False
    evened = squeezed(heard)
    heads = (squeezed(d.text)[:_HEAD] for d in documents[:_MOST_COMPARED] if d.text)
    if HEADING.search(heard) is not None or (_INTRODUCED.search(heard) and _MARKED.search(heard)):
        return True
    return any(head in evened for head in heads)


def _within_prompt(heard: str, steps: Steps) -> str:
    """The question in a prompt: the only query of the retrievers, or the line that is marked as question.

    Of several such lines, as prompts with examples have them, it is the last if nothing but the answer follows it.
    """
    asked = {asked_in(_query(step), heard) for step in steps.retrieval_steps}
    queries = [query for query in asked if query]
    if len(queries) == 1 and queries[0] in heard:
        return queries[0]
    marked = list(_MARKED.finditer(heard))
    if len(marked) == 1 or (marked and _AT_END.fullmatch(heard, marked[-1].end())):
        return marked[-1][1].strip()
    return heard


def asked_in(value: Json, heard: str, depth: int = 0) -> str | None:
    """The question in what a step was given; `heard` is what the model was told last, in which it should stand."""
    value = understood(value)
    if depth > MAX_DEPTH or value is None:
        return None
    if isinstance(value, str):
        return value if is_plain_text(value) else None
    if isinstance(value, list):
        return _asked_in_list(value, heard, depth)
    return _asked_in_object(value, heard, depth) if isinstance(value, dict) else None


def _asked_in_object(value: dict[str, Json], heard: str, depth: int) -> str | None:
    for name in _KEYS:
        inner = value.get(name)
        if isinstance(inner, str | dict) and (asked := asked_in(inner, heard, depth + 1)):
            return asked
    spoken = last_of(messages_of(value), "user")
    if spoken is not None:
        return spoken.text or None
    inners = (understood(value.get(name)) for name in _WRAPPERS)
    asked_within = (asked_in(inner, heard, depth + 1) for inner in inners if isinstance(inner, dict | list))
    return next((asked for asked in asked_within if asked), None) or _of_parts(value, heard, depth)


def _asked_in_list(value: list[Json], heard: str, depth: int) -> str | None:
    spoken = last_of(messages_of(value), "user")
    if spoken is not None:
        return spoken.text or None
    texts = [text for text in value if is_plain_text(text)]
    if len(texts) > 1:
        return _fitting(texts, heard) or texts[0]
    return texts[0] if texts else next((a for one in value if (a := asked_in(one, heard, depth + 1))), None)


def _of_parts(value: dict[str, Json], heard: str, depth: int) -> str | None:
    """The question where every part of a pipeline got its own, or where no name tells which text it is."""
    asked = [a for part in value.values() if isinstance(part, dict) and (a := asked_in(part, heard, depth + 1))]
    if not heard:
        texts = [text for text in value.values() if is_plain_text(text)]
        return max(asked, key=asked.count) if asked else texts[0] if len(texts) == 1 == len(value) else None
    texts = [text for _, text in walk(value) if is_plain_text(text)]
    return _fitting(asked, heard) or _fitting(texts, heard)


def _fitting(texts: Sequence[str], heard: str) -> str | None:
    """The text that the model heard, as a whole or within its prompt: the last of several there."""
    if heard in texts:
        return heard
    within = [
        (heard.rfind(text), len(text), text)
        for text in texts[:_MOST_COMPARED]
        if len(text) >= _LEAST_CHARS and text in heard
    ]
    return max(within)[2] if within else None


def _heard(steps: Steps) -> str | None:
    """The last message of the user to the final model call, else to any call before it."""
    final = [steps.final] if steps.final else []
    calls = sorted(steps.of(Kind.MODEL), key=lambda s: (s.span.ended, s.span.span_id), reverse=True)
    for step in [*final, *calls]:
        spoken = last_of(step.input_messages, "user")
        if spoken is not None and is_plain_text(spoken.text):
            return spoken.text
    return None


def _query(step: Step) -> Json:
    return step.span.attributes.get("reranker.query") or step.input
