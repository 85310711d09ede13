"""Reads documents out of a value whose form is not agreed on: a list, JSON in a text, or plain text."""

from __future__ import annotations

from monitor.core.model import Json
from monitor.ingest.dialects.spans import json_value
from monitor.ingest.parse import JsonObject

_LISTS = ("documents", "retrieved_documents", "contexts", "results", "chunks", "docs")
_TEXTS = ("text", "page_content", "content", "document", "value")
_IDS = ("id", "document_id", "chunk_id", "doc_id")


def documents(value: Json, separator: str | None = None) -> list[Json]:
    """Items of `retrieved_documents` of a native event.

    A text that holds JSON is read as that; another is split at `separator`, if there is one. Empty texts are left out.
    What is no document stays as it is, so that reading the event names it.
    """
    held = json_value(value)
    if isinstance(held, str):
        parts = held.split(separator) if separator else [held]
        return [part.strip() for part in parts if part.strip()]
    if isinstance(held, dict):
        listed = next((held[name] for name in _LISTS if isinstance(held.get(name), list)), None)
        return [_document(held)] if listed is None else documents(listed)
    if isinstance(held, list):
        return [_document(item) if isinstance(item, dict) else item for item in held]
    return [] if held is None else [held]


def _document(item: JsonObject) -> Json:
    """The object with its text, id, score, source and metadata under our names."""
    metadata = item.get("metadata")
    about = metadata if isinstance(metadata, dict) else {}
    name = next((name for name in _TEXTS if isinstance(item.get(name), str)), None)
    if name is None:
        return item
    key = next((item[own] for own in _IDS if isinstance(item.get(own), str | int)), about.get("id"))
    score, source = item.get("score"), item.get("source") or about.get("source")
    document: JsonObject = {
        "text": item[name],
        "id": key if isinstance(key, str | int) and not isinstance(key, bool) else None,
        "score": score if isinstance(score, int | float) and not isinstance(score, bool) else None,
        "source": source if isinstance(source, str) else None,
        "metadata": about or None,
    }
    return {field: value for field, value in document.items() if value is not None}
