"""Reads documents from a value in no agreed form: a list, JSON or a Python list in a text, or plain text."""

from __future__ import annotations

import ast
import re

from monitor.core.model import Json
from monitor.ingest.dialects.spans import given, json_value
from monitor.ingest.parse import JsonObject
from monitor.ingest.traces.conventions.documents import documents_of

_LISTS = ("documents", "retrieved_documents", "contexts", "results")
_MOST_ITEMS = 10_000  # of a Python list
_PYTHON_ITEM = re.compile(
    r"""\s*('[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")\s*(,|(?=['"])|\]\s*\Z)""",
    re.DOTALL,
)


def documents(value: Json, separator: str | None = None) -> list[Json]:
    """Items of `retrieved_documents` of a native event.

    A text that holds a list is read as that; another is split at `separator`, if there is one. Empty texts are left
    out. What is no document stays as it is, so that reading the event names it.
    """
    held = json_value(value)
    if isinstance(held, str) and held.startswith(("['", '["')):
        held = _python_list(held)
    if isinstance(held, str):
        parts = held.split(separator) if separator else [held]
        return [part.strip() for part in parts if part.strip()]
    if isinstance(held, list):
        return [found for item in held for found in (_items(item) if isinstance(item, dict) else [item])]
    if isinstance(held, dict):
        return _items(held)
    return [] if held is None else [held]


def _items(value: JsonObject) -> list[Json]:
    listed = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
    if listed is not None:
        return documents(listed)
    found = documents_of(value) or documents_of(value, bare=True)
    if not found:
        return [value]
    return [
        given(
            {
                "id": one.id,
                "text": one.text,
                "score": one.score,
                "source": one.source,
                "metadata": dict(one.metadata) or None,
            }
        )
        for one in found
    ]


def _python_list(text: str) -> Json:
    """The list of texts that pandas writes into a cell, with or without commas; the text itself if it is none.

    Read item by item: the syntax tree of a whole list would take a hundred times its bytes.
    """
    held: list[Json] = []
    place, more = 1, True
    while more:
        item = _PYTHON_ITEM.match(text, place)
        if item is None or len(held) == _MOST_ITEMS:
            return text
        try:
            held.append(ast.literal_eval(item[1]))
        except (ValueError, SyntaxError):
            return text
        place, more = item.end(), not item[2].startswith("]")
    return held
