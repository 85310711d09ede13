"""Where a supporting document stands in the retrieved ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monitor.model import Document, SupportingDocument


def locate(piece: SupportingDocument, documents: Sequence[Document]) -> SupportingDocument:
    """The piece with the document and the character offsets of its first exact occurrence, where it has one.

    The document that the event names is looked at first. A position that the event itself gave is kept when the
    document's text there is the piece's.
    """
    if not piece.text:
        return piece
    if piece.start is not None and piece.end == piece.start + len(piece.text):
        for document in documents:
            if document.id == piece.document_id and document.text[piece.start : piece.end] == piece.text:
                return piece
    named_first = sorted(documents, key=lambda document: document.id != piece.document_id)
    for document in named_first:
        start = document.text.find(piece.text)
        if start >= 0:
            return replace(piece, document_id=document.id, start=start, end=start + len(piece.text))
    return replace(piece, start=None, end=None)
