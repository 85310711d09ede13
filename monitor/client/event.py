"""What a chatbot has at hand, as the fields of a native event (docs/start/events.md): documents, tokens, JSON, size."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from sys import getsizeof
from typing import Any

_TEXTS = ("text", "page_content", "content")  # ours and LlamaIndex's; LangChain's; Haystack's
_IDS = ("id", "node_id")
_METADATA = ("metadata", "meta")
_PAIR = 2  # as of `similarity_search_with_score`
_TOKENS = ("input", "output", "prompt_tokens", "completion_tokens", "input_tokens", "output_tokens")
_LISTS = ("retrieved_documents", "supporting_documents")
_TURN = frozenset({"question", "retrieved_documents", "answer"})  # of an unscored turn, what is unknown is null
_OVERHEAD = 512  # bytes for names, id and time of an event
_ENTRY = 100  # bytes for a mapping or an object without its values
_LEVELS = 2  # a node, and its metadata
_SMALL = frozenset({int, float, bool})
_MOST_LEVELS, _MOST_VALUES = 30, 100_000


def taken(documents: Iterable[Any] | str) -> list[Any]:
    """The documents as they stand now, as far as the chatbot may go on to change them. They are read later."""
    if isinstance(documents, str):
        return [documents]
    return [dict(one) if type(one) is dict else one for one in documents]


def document(given: Any) -> Any:
    """`{text, id, score, metadata, …}` from a mapping or from a document of LangChain, LlamaIndex or Haystack.

    A pair is a document with its score. What looks like none of them becomes its text by `str`.
    """
    if isinstance(given, Mapping):
        fields = dict(given)
        name = next((name for name in _TEXTS if isinstance(fields.get(name), str)), None)
        return fields if name is None else {"text": fields.pop(name), **fields}
    if isinstance(given, tuple) and len(given) == _PAIR and isinstance(given[1], int | float):
        return {**_fields(document(given[0])), "score": given[1]}
    node = getattr(given, "node", given)  # LlamaIndex's NodeWithScore
    text = _first(node, _TEXTS, str)
    if text is None:
        return str(given)
    fields = {
        "text": text,
        "id": _first(node, _IDS, str),
        "score": _first(given, ("score",), int | float),
        "metadata": dict(_first(node, _METADATA, Mapping) or {}) or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _first(given: Any, names: Iterable[str], kind: Any) -> Any:
    """The first of the attributes that is of that kind."""
    return next((value for name in names if isinstance(value := getattr(given, name, None), kind)), None)


def _fields(given: Any) -> dict[str, Any]:
    return {"text": given} if isinstance(given, str) else given


def tokens(usage: Any) -> dict[str, int] | None:
    """Counts of tokens from a mapping, or from the object that a provider's client returns."""
    if usage is None:
        return None
    given = usage if isinstance(usage, Mapping) else {name: getattr(usage, name, None) for name in _TOKENS}
    return {name: count for name in _TOKENS if type(count := given.get(name)) is int} or None


def size(event: Mapping[str, Any]) -> int:
    """About how many bytes of memory the event holds; the work does not grow with the length of its texts."""
    total = _OVERHEAD + _held(event)
    for name in _LISTS:
        for document in event.get(name) or ():
            total += _held(document)
    return total


def _held(given: Any, level: int = 0) -> int:
    """Of a text, or of the values of a mapping or an object, down to its metadata and the node that it may be around.

    The chatbot waits for this, so it is written to be quick: `getsizeof` takes longer than `len`.
    """
    if type(given) is str:
        return len(given) if given.isascii() else getsizeof(given)
    fields = given if type(given) is dict else getattr(given, "__dict__", None)
    if fields is None:
        return getsizeof(given)
    total = _ENTRY
    for value in fields.values():
        kind = type(value)
        if kind is str:
            total += len(value) if value.isascii() else getsizeof(value)
        elif value is not None and kind not in _SMALL:
            total += _held(value, level + 1) if level < _LEVELS else getsizeof(value)
    return total


def encoded(event: dict[str, Any]) -> bytes:
    """The event as JSON in one line; `occurred_at` is given in seconds since 1970, or as a `datetime`.

    Values that JSON does not know become their text, and figures that it does not know become null.

    Raises:
        Exception: a value cannot be written, such as one whose `__str__` fails.
    """
    for name in _LISTS:
        if event.get(name) is not None:
            event[name] = [one if isinstance(one, str) else document(one) for one in event[name]]
    event = {name: value for name, value in event.items() if value is not None or name in _TURN}
    if isinstance(at := event.get("occurred_at"), int | float):
        at = datetime.fromtimestamp(at, UTC)
    if isinstance(at, datetime):
        event["occurred_at"] = at.astimezone(UTC).isoformat()
    try:
        return json.dumps(event, default=_plain, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError):  # a name that is no text, a NaN, a structure that holds itself
        return json.dumps(_finite(event), default=_plain, allow_nan=False, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    item: Any = getattr(value, "item", None)  # NumPy's scalars
    if callable(item) and getattr(value, "ndim", None) == 0:
        plain: Any = item()
        return None if isinstance(plain, float) and not math.isfinite(plain) else plain
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return list(value)
    return str(value)


def _finite(value: Any) -> Any:
    """`value` with names that are texts and with null for figures that JSON does not know, and for circles.

    Raises:
        ValueError: it has too many values, such as things that all name each other.
    """
    left = _MOST_VALUES
    around: list[int] = []

    def written(value: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise ValueError(f"more than {_MOST_VALUES} values")
        if isinstance(value, float) and not math.isfinite(value):
            return None
        if not isinstance(value, Mapping | list | tuple):
            return value
        if id(value) in around or len(around) == _MOST_LEVELS:
            return None
        around.append(id(value))
        if isinstance(value, Mapping):
            plain: Any = {str(name): written(inner) for name, inner in value.items()}
        else:
            plain = [written(inner) for inner in value]
        around.pop()
        return plain

    return written(value)
