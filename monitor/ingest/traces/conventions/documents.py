"""Documents in the forms in which packages, vector stores and search tools write them."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from monitor.core.model import Json
from monitor.ingest.traces.conventions.values import MAX_DEPTH, MAX_VALUES, first_text, is_redacted, rescued, understood
from monitor.ingest.traces.turn import TurnDocument

_TEXTS = (
    "page_content",
    "pageContent",
    "content",
    "text",
    "document",
    "chunk",
    "passage",
    "snippet",
    "body",
    "excerpt",
)
_IDS = ("id", "id_", "_id", "doc_id", "document_id", "documentId", "node_id", "chunk_id", "file_id", "uuid", "key")
_SCORES = ("score", "_score", "relevance_score", "relevanceScore", "similarity", "rerank_score", "@search.score")
_METADATA = ("metadata", "meta_data", "meta", "payload", "properties", "attributes")
_SOURCES = ("source", "url", "uri", "doc_uri", "link", "filename", "file_name", "title", "path")
_ROLES = ("role", "_role", "tool_calls", "tool_call_id", "finish_reason", "additional_kwargs")
_MOST_SHOWN = 50_000  # characters of documents as Python shows them
MAX_DOCUMENTS = 2_000  # of one attribute
_FEW = 4  # members of an object that is nothing but an id with a score, or a list
_WRAPPERS = ("node", "document", "doc", "_source", "source_node")
_SIGNS = frozenset({*_TEXTS, *_IDS, *_METADATA, *_WRAPPERS, "lc"})
_NOT_DOCUMENTS = frozenset(
    {"human", "ai", "system", "tool", "function", "tool_call", "function_call", "AIMessageChunk"}
)
_SHOWN = re.compile(r"\bid_?=['\"]?(?P<id>[^,'\")\s]+)|\bscore[=:] ?(?P<score>-?[\d.]+(?:e-?\d+)?)")
_MOST_BETWEEN = 500  # characters between an id and its score


def documents_of(value: Json, *, bare: bool = False) -> list[TurnDocument] | None:
    """The documents that a value holds, in its order; None if it holds none, and no empty list of them either.

    `bare` is for what only documents can stand in, the output of a retriever: there strings and ids alone count too.
    """
    found: list[TurnDocument] = []
    budget = [MAX_VALUES]
    _gather(rescued(value), found, budget, bare=bare, depth=0)
    if found:
        return found
    return [] if bare and _is_empty(understood(value)) else None


def merged(lists: Iterable[Iterable[TurnDocument]]) -> list[TurnDocument]:
    """The documents of several lists, in order, each once: the same id, or the same text, is the same document."""
    found: list[TurnDocument] = []
    places: dict[tuple[str, str], int] = {}
    for document in (document for documents in lists for document in documents):
        keys = [("id", document.id)] if document.id else []
        keys += [("text", squeezed(document.text))] if document.text else []
        place = next((places[key] for key in keys if key in places), None)
        # the same text under two ids is two documents
        if place is None or (document.id and found[place].id and document.id != found[place].id):
            place = len(found)
            found.append(document)
        else:
            found[place] = _completed(found[place], document)
        for key in keys:
            places.setdefault(key, place)
    return found


def completed(documents: Iterable[TurnDocument], known: Iterable[TurnDocument]) -> list[TurnDocument]:
    """The documents with ids, texts and scores that other places of the trace hold for them."""
    by_id: dict[str, TurnDocument] = {}
    by_text: dict[str, TurnDocument] = {}
    for one in known:
        if one.id and one.text and one.id not in by_id:
            by_id[one.id] = one
        if one.text and (one.id or one.score is not None):
            before = by_text.get(squeezed(one.text))
            if before is None or (before.id is None and one.id):
                by_text[squeezed(one.text)] = one
    found = []
    for document in documents:
        other = by_text.get(squeezed(document.text)) if document.text else by_id.get(document.id or "")
        fitting = other is not None and (document.id is None or other.id == document.id)
        found.append(_completed(document, other) if other is not None and fitting else document)
    return found


def squeezed(text: str) -> str:
    """The text with its white space evened out, for comparison."""
    return " ".join(text.split())


def _completed(document: TurnDocument, other: TurnDocument) -> TurnDocument:
    return replace(
        document,
        id=document.id or other.id,
        text=other.text if document.text is None else document.text,
        score=other.score if document.score is None else document.score,
        source=document.source or other.source,
        metadata=document.metadata or other.metadata,
    )


def _gather(value: Json, found: list[TurnDocument], budget: list[int], *, bare: bool, depth: int) -> None:
    budget[0] -= 1
    if depth > MAX_DEPTH or budget[0] < 0 or len(found) >= MAX_DOCUMENTS:
        return
    if isinstance(value, str):
        _from_text(value, found, budget, bare=bare, depth=depth)
    elif isinstance(value, list):
        for item in value:
            _gather(item, found, budget, bare=bare, depth=depth + 1)
    elif isinstance(value, dict):
        document = None if _SIGNS.isdisjoint(value) else _document(value, bare=bare)
        if document is not None:
            found.append(document)
            return
        columns = list(_columns(value))
        if columns:
            found += columns
            return
        for name, item in value.items():
            if isinstance(item, dict | list) or (isinstance(item, str) and name not in {"query", "question", "answer"}):
                _gather(item, found, budget, bare=bare and isinstance(item, list), depth=depth + 1)


def _from_text(text: str, found: list[TurnDocument], budget: list[int], *, bare: bool, depth: int) -> None:
    read = rescued(text)
    if not isinstance(read, str):
        _gather(read, found, budget, bare=bare, depth=depth + 1)
        return
    is_shown = text.lstrip("<[").startswith(("NodeWithScore(", "Document("))
    shown = list(_shown(text[:_MOST_SHOWN])) if is_shown else []
    if shown:
        found += shown
    elif bare and text.strip():
        found.append(TurnDocument(id=None, text=None if is_redacted(text) else text))


def _shown(text: str) -> Iterator[TurnDocument]:
    """Documents as Python shows them: each score belongs to the first id before it that is near and has none yet."""
    ids: deque[re.Match[str]] = deque()
    for found in _SHOWN.finditer(text):
        if found["id"] is not None:
            ids.append(found)
            continue
        while ids and found.start() - ids[0].end() > _MOST_BETWEEN:
            ids.popleft()
        if ids:
            yield TurnDocument(id=ids[0]["id"], text=None, score=_score(found["score"]))
            ids.clear()


def _document(value: Mapping[str, Json], *, bare: bool) -> TurnDocument | None:
    """The document that an object is, if it is one."""
    kwargs = value.get("kwargs")
    if value.get("lc") and isinstance(kwargs, dict):
        kind = value.get("id")
        return _document(kwargs, bare=bare) if isinstance(kind, list) and kind and kind[-1] == "Document" else None
    if any(value.get(name) is not None for name in _ROLES) or str(value.get("type")) in _NOT_DOCUMENTS:
        return None
    for wrapper in _WRAPPERS:
        inner = value.get(wrapper)
        if isinstance(inner, dict) and (document := _document({**inner, "id": _id(inner) or "-"}, bare=bare)):
            own = None if document.id == "-" else document.id
            return replace(
                document, id=own or _id(value), score=_first_score(value) if document.score is None else document.score
            )
    metadata = next((m for name in _METADATA if isinstance(m := rescued(value.get(name)), dict)), {})
    own_id, score = _id(value), _first_score(value)
    text = _text(value)
    if text is None and metadata:
        text = _text(metadata)
    named = (
        own_id is not None
        or score is not None
        or bool(metadata)
        or "meta_data" in value
        or any(value.get(n) for n in _SOURCES)
    )
    if text is None:
        if not (bare and own_id is not None and len(value) <= _FEW and ("score" in value or len(value) == 1)):
            return None
    elif not (named or "page_content" in value):
        return None
    return TurnDocument(
        id=own_id or first_text(*(metadata.get(name) for name in _IDS)),
        text=None if is_redacted(text) else text,
        score=_first_score(metadata) if score is None else score,
        source=first_text(*(value.get(n) for n in _SOURCES), *(metadata.get(n) for n in _SOURCES)),
        metadata={name: item for name, item in metadata.items() if isinstance(item, str | int | float | bool)},
    )


def _columns(value: Mapping[str, Json]) -> Iterator[TurnDocument]:
    """Chroma's answer: `{"ids": [[…]], "documents": [[…]], "metadatas": [[…]]}`."""
    ids, texts = value.get("ids"), value.get("documents")
    if not (isinstance(ids, list) and isinstance(texts, list) and len(ids) == len(texts)):
        return
    for some_ids, some_texts in zip(ids, texts, strict=True):
        if isinstance(some_ids, list) and isinstance(some_texts, list):
            yield from _columns({"ids": some_ids, "documents": some_texts})
        elif isinstance(some_texts, str):
            yield TurnDocument(id=first_text(some_ids), text=some_texts)


def _text(value: Mapping[str, Json]) -> str | None:
    for name in _TEXTS:
        item = value.get(name)
        if isinstance(item, str) and item:
            return item
        if isinstance(item, dict) and isinstance(inner := item.get("text"), str) and inner:
            return inner
    resource = value.get("text_resource")
    return first_text(resource.get("text")) if isinstance(resource, dict) else None


def _id(value: Mapping[str, Json]) -> str | None:
    return first_text(*(value.get(name) for name in _IDS))


def _first_score(value: Mapping[str, Json]) -> float | None:
    return next((s for name in _SCORES if (s := _score(value.get(name))) is not None), None)


def _score(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        score = float(value)
    except (ValueError, OverflowError):
        return None
    return score if math.isfinite(score) else None


def _is_empty(value: Json) -> bool:
    return value in ([], {"documents": []}) or (
        isinstance(value, dict) and len(value) <= _FEW and any(item == [] for item in value.values())
    )
