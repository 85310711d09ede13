"""Writes a labelled interaction as `evaluate` and `calibrate` read it: a native event with its label."""

from __future__ import annotations

import hashlib
import unicodedata
from datetime import UTC, datetime

from monitor.core.assessment_json import piece_json
from monitor.core.model import Document, Interaction
from monitor.review.label import Consensus


def labelled_json(it: Interaction, consensus: Consensus) -> dict[str, object]:
    """The native event of the interaction (docs/start/events.md) with its label, and how the label came about.

    `labelled_by` lists the people who gave this label, `labelled_at` is when the newest of them did.
    """
    return {
        **native_event(it),
        "label": consensus.newest.label,
        "group": group_of(it.question),
        "drawn": consensus.newest.drawn,
        "labelled_by": list(consensus.people),
        "labelled_at": _time(consensus.newest.at),
    }


def native_event(it: Interaction) -> dict[str, object]:
    """The event that the native dialect reads as this interaction, except its marks and position; without nulls."""
    support, usage = it.supporting_documents, it.usage
    fields = {
        "id": it.id,
        "app": it.app,
        "environment": it.environment,
        "occurred_at": _time(it.occurred_at),
        "conversation_id": it.conversation_id,
        "turn": it.turn,
        "question": it.question,
        "retrieved_documents": [_document(document) for document in it.retrieved_documents],
        "answer": it.answer,
        "supporting_documents": None if support is None else [piece_json(piece) for piece in support],
        "reference_answer": it.reference_answer,
        "model": it.model,
        "prompt_version": it.prompt_version,
        "tags": dict(it.tags) or None,
        "trace_id": it.trace_id,
        "latency_ms": it.latency_ms,
        "usage": None if usage is None else {"input": usage.input, "output": usage.output},
    }
    return {name: value for name, value in fields.items() if value is not None}


def group_of(question: str) -> str:
    """16 hex digits of the SHA-256 of the question, ignoring case, white space and the forms of characters.

    It keeps answers to the same question on one side of every split.
    """
    folded = " ".join(unicodedata.normalize("NFKC", question).casefold().split())
    return hashlib.sha256(folded.encode()).hexdigest()[:16]


def _document(document: Document) -> dict[str, object]:
    optional = {"score": document.score, "source": document.source, "metadata": document.metadata or None}
    given = {name: value for name, value in optional.items() if value is not None}
    return {"id": document.id, "text": document.text, **given}


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
