"""Fills in the texts of documents that a turn knows by id only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from monitor.core.assessment_json import storable
from monitor.core.model import Unscored
from monitor.ingest.lookup.lookup import DocumentLookup
from monitor.ingest.traces.turn import Turn, TurnDocument

_ABOUT_TEXTS = (None, Unscored.NO_DOCUMENT_TEXT)


def resolve(turns: Sequence[tuple[str, Turn]], lookup: DocumentLookup | None) -> list[Turn]:
    """The turns, given with their apps, with the texts of their documents as far as they can be found.

    A missing text is taken from `lookup`, else from the prompt of the model call. `unscored` is `no_document_text` if
    a text is still missing, and no longer if none is. Turns that are unscored for another reason stay as they are, so
    what was redacted is not looked up.

    Raises:
        Retriable: the look-up is down; nothing was changed.
    """
    wanted: dict[str, dict[str, None]] = {}
    for app, turn in turns:
        for document in _to_find(turn):
            wanted.setdefault(app, {})[document] = None
    texts = {} if lookup is None else {app: lookup.texts(app, list(ids)) for app, ids in wanted.items()}
    return [_resolved(turn, texts.get(app, {})) for app, turn in turns]


def _to_find(turn: Turn) -> Iterator[str]:
    if turn.unscored in _ABOUT_TEXTS:
        for document in turn.documents or ():
            if document.text is None and document.id:
                yield storable(document.id)  # JSON within an attribute may hold what no source can be asked for


def _resolved(turn: Turn, texts: Mapping[str, str]) -> Turn:
    if turn.unscored not in _ABOUT_TEXTS or not turn.documents:
        return turn
    documents = tuple(_with_text(document, texts) for document in turn.documents)
    unscored: Unscored | None = None
    if any(document.text is None for document in documents):
        unscored = Unscored.NO_DOCUMENT_TEXT
    elif turn.question is None or turn.answer is None:
        unscored = Unscored.CONTENT_NOT_CAPTURED
    return replace(turn, documents=documents, unscored=unscored)


def _with_text(document: TurnDocument, texts: Mapping[str, str]) -> TurnDocument:
    if document.text is not None:
        return document
    text = texts.get(storable(document.id)) if document.id else None
    return replace(document, text=document.in_prompt if text is None else storable(text))
