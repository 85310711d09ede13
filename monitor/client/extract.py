"""Finds question, answer and documents in the arguments and the return value of an observed call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Extractor: TypeAlias = Callable[[Any], Any]
QUESTIONS = ("question", "query", "user_input", "input", "prompt", "message", "text")
ANSWERS = ("answer", "result", "response", "output", "output_text", "text", "content")
DOCUMENTS = ("retrieved_documents", "source_documents", "documents", "docs", "context", "contexts", "source_nodes")
SUPPORT = ("supporting_documents",)


def question_of(given: Mapping[str, Any], how: str | Extractor | None) -> Any:
    if isinstance(how, str):
        return given[how]
    if how is not None:
        return how(given)
    for name in QUESTIONS:
        if isinstance(value := given.get(name), str) and value:
            return value
    return next(value for value in given.values() if isinstance(value, str))


def answer_of(result: Any) -> Any:
    """The text of the answer; of a list of pieces, their texts in a row."""
    if isinstance(result, str):
        return result
    if isinstance(result, tuple) and result and isinstance(result[0], str):
        return result[0]
    if isinstance(result, list):
        return "".join(_text_of(piece) for piece in result)
    if (found := found_in(result, ANSWERS)) is not None:
        return found if isinstance(found, str) else answer_of(found)
    raise TypeError(f"no answer is found in a {type(result).__name__}: give observe_rag(answer=…)")


def _text_of(piece: Any) -> str:
    found = piece if isinstance(piece, str) else found_in(piece, ANSWERS)
    return found if isinstance(found, str) else ""


def documents_of(result: Any) -> Sequence[Any] | None:
    if isinstance(result, tuple) and len(result) > 1 and isinstance(result[1], list | tuple):
        return result[1]
    if isinstance(found := found_in(result, DOCUMENTS), Sequence):
        return found
    return None


def found_in(result: Any, names: Sequence[str]) -> Any:
    """The value under the first of the names that is there; of a list, the last one that has any."""
    if isinstance(result, str | tuple):
        return None
    if isinstance(result, list):
        values = (found_in(piece, names) for piece in reversed(result) if not isinstance(piece, list))
        return next((value for value in values if value is not None), None)
    if isinstance(result, Mapping):
        return next((result[name] for name in names if result.get(name) is not None), None)
    values = (getattr(result, name, None) for name in names)
    # a method of that name is no value; LangChain's `text` is a text that can be called
    return next((value for value in values if isinstance(value, str) or not (value is None or callable(value))), None)
