"""Reads a chat completion as a value of the form asked for, and accepts nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from monitor.assess.llm.exchange import Form
from monitor.core.assessment_json import storable
from monitor.core.errors import MonitorError
from monitor.core.text.plain import without_prefix

T = TypeVar("T", bound=Form)
_MOST_PROBLEMS = 3  # named in an error message
_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)  # from models that write down their reasoning


class InvalidCompletion(MonitorError):
    """A completion that holds no value of the form.

    `reason` is as in `NoAnswer`; `final` says that asking again is pointless. The message is part of the repair prompt.
    """

    def __init__(self, reason: str, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.final = final


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The first choice of a chat completion, with the token counts that the server tells."""

    content: str | None
    refusal: str | None
    finish_reason: str | None
    input_tokens: int | None
    output_tokens: int | None


def completion_of(body: object) -> Completion:
    """The completion in the JSON of a response.

    Raises:
        ValueError: the JSON is not a chat completion.
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
    """The value in the completion's JSON, which may be among other words if the server does not enforce the form.

    Raises:
        InvalidCompletion: there is no such JSON, or more than one, as when a model repeats its input.
    """
    if completion.refusal:
        raise InvalidCompletion("model_refused", "the model refuses to answer", final=True)
    if completion.finish_reason == "content_filter":
        raise InvalidCompletion("content_filter", "the server's content filter stopped the answer", final=True)
    if completion.finish_reason == "length":
        raise InvalidCompletion("truncated", "the answer does not fit into MONITOR_LLM__MAX_OUTPUT_TOKENS")
    try:
        return form.model_validate(_object(_THOUGHTS.sub("", completion.content or "")), strict=True)
    except ValidationError as error:
        named = (
            f"{'.'.join(map(str, e['loc'])) or 'it'}: {without_prefix(e['msg'])}"
            for e in error.errors()[:_MOST_PROBLEMS]
        )
        raise InvalidCompletion("malformed", storable("; ".join(named))) from None
    except (ValueError, RecursionError) as error:
        raise InvalidCompletion("malformed", str(error)) from None


def _object(text: str) -> object:
    """The single JSON object in a text, alone or among other words.

    With a second object, or another brace, the answer could not be distinguished from a quotation of the input.

    Raises:
        ValueError, RecursionError: the text holds no JSON object, or other braces as well.
    """
    start = text.find("{")
    if start < 0 or "<think>" in text:
        raise ValueError("it holds no JSON object")
    try:
        found, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise ValueError(f"it holds no JSON object, or braces before it: {error.msg}") from None
    if "{" in text[end:]:
        raise ValueError("it holds several JSON objects")
    return _storable(found)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("it holds a name twice in one object")
    return found


def _storable(value: Any) -> Any:
    """Replaces U+0000 and lone surrogates, which a model may write and Postgres cannot store."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable(item) for item in value]
    if isinstance(value, dict):
        return {name: _storable(item) for name, item in value.items()}
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_once)


def _text(value: object) -> str | None:
    return storable(value) if isinstance(value, str) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
