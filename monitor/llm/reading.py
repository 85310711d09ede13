"""From a chat completion to a value of the form asked for; nothing else than that form is ever taken."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from monitor.errors import MonitorError
from monitor.llm.exchange import Form
from monitor.wire import storable

T = TypeVar("T", bound=Form)
_MOST_PROBLEMS = 3  # that are named
_MOST_PLACES = 100  # where an object is looked for: each may cost a look at the whole text


class Unfit(MonitorError):
    """A completion that holds no value of the form; `reason` as in `NoAnswer`, `final` where asking again is vain."""

    def __init__(self, reason: str, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.final = final


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The first choice of a chat completion, and its usage."""

    content: str | None
    refusal: str | None
    finish_reason: str | None
    input_tokens: int
    output_tokens: int


def completion_of(body: object) -> Completion:
    """The completion in the JSON of a response.

    Raises:
        ValueError: it is none.
    """
    match body:
        case {"choices": [{"message": {**message}, **choice}, *_]}:
            usage = body.get("usage") if isinstance(body, Mapping) else None
            counts: Mapping[str, Any] = usage if isinstance(usage, Mapping) else {}
            return Completion(
                content=_text(message.get("content")),
                refusal=_text(message.get("refusal")),
                finish_reason=_text(choice.get("finish_reason")),
                input_tokens=_count(counts.get("prompt_tokens")),
                output_tokens=_count(counts.get("completion_tokens")),
            )
        case _:
            raise ValueError("no chat completion")


def read(completion: Completion, form: type[T]) -> T:
    """The value, from JSON that may stand among other words where a server does not keep to the form.

    Raises:
        Unfit: there is none, or there are different ones, as where a model thinks aloud or repeats what it read.
    """
    if completion.refusal:
        raise Unfit("model_refused", "the model refuses to answer", final=True)
    if completion.finish_reason == "content_filter":
        raise Unfit("content_filter", "the server's content filter stopped the answer", final=True)
    problem, values = "it holds no JSON object", list[T]()
    for found in _objects(completion.content or ""):
        try:
            values.append(form.model_validate(found, strict=True))
        except ValidationError as error:
            named = (f"{'.'.join(map(str, e['loc'])) or 'it'}: {e['msg']}" for e in error.errors()[:_MOST_PROBLEMS])
            problem = storable("; ".join(named))
    if values and all(value == values[0] for value in values):
        return values[0]
    if values:
        problem = "it holds several JSON objects that differ"
    if completion.finish_reason == "length":
        raise Unfit("truncated", "the answer does not fit into MONITOR_LLM__MAX_OUTPUT_TOKENS")
    raise Unfit("malformed", problem)


def _objects(text: str) -> Iterator[object]:
    """The JSON objects in a text, outermost first: the text itself, or what stands between other words."""
    decoder, place = json.JSONDecoder(), text.find("{")
    for _ in range(_MOST_PLACES):
        if place < 0:
            return
        try:
            found, end = decoder.raw_decode(text, place)
            found = _storable(found)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield found
        place = text.find("{", end)


def _storable(value: Any) -> Any:
    """Postgres keeps no U+0000 and no lone surrogates, and a model may write either."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {name: _storable(item) for name, item in value.items()}
    return value


def _text(value: object) -> str | None:
    return storable(value) if isinstance(value, str) else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
