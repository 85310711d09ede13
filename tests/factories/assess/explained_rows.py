"""A stored row as `Queries.explained` gives it, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.assess.score.features import FEATURES
from monitor.core.model import RefusalKind
from tests.factories.assess.interactions import NOON

QUESTION = "What does parking cost?"
ANSWER = "Great question! Parking costs two euros per hour. Dogs may come in. The Elm Street gate opens at 7."
DOCUMENTS = (
    "Dogs may not come in. Cats may.",
    "Parking costs two euros per hour, also at night. It is paid at the gate.",
)


def place(text: str, piece: str) -> tuple[int, int]:
    """Where `piece` stands in `text`."""
    start = text.index(piece)
    return start, start + len(piece)


def pair(answer: str, piece: str, document: int, passage: str, score: float, **more: Any) -> dict[str, Any]:
    """One entry of the alignment, by what it says."""
    (answer_start, answer_end), (start, end) = place(answer, piece), place(DOCUMENTS[document], passage)
    found = {"answer_start": answer_start, "answer_end": answer_end, "start": start, "end": end, "score": score}
    return {**found, "document": document, "document_id": f"d{document}", "contradicts": False, **more}


def lacking(answer: str, kind: str, text: str) -> dict[str, Any]:
    """One missing fact, by what it says."""
    start, end = place(answer, text)
    return {"kind": kind, "start": start, "end": end, "text": text}


EVIDENCE: Mapping[str, Any] = {
    "features": {**dict.fromkeys(FEATURES), "grounding": -0.5, "content_overlap": 0.75, "missing_names": 1.0},
    "alignment": [
        pair(ANSWER, "Parking costs two euros per hour.", 1, "Parking costs two euros per hour, also at night.", 0.96),
        pair(ANSWER, "Dogs may come in.", 0, "Dogs may not come in.", 0.9, contradicts=True),
        pair(ANSWER, "The Elm Street gate opens at 7.", 1, "It is paid at the gate.", 0.41),
    ],
    "missing": [lacking(ANSWER, "name", "Elm Street"), lacking(ANSWER, "number", "7")],
}
ROW: Mapping[str, Any] = {
    "app": "shop",
    "id": "q-1",
    "occurred_at": NOON,
    "question": QUESTION,
    "answer": ANSWER,
    "retrieved_documents": [{"id": f"d{n}", "text": text} for n, text in enumerate(DOCUMENTS)],
    "verdict": "grounded",
    "profile_name": "minilm",
    "profile_hash": "0123456789abcdef",
    "rule_verdict": "grounded",
    "rank": None,
    "reference": None,
    "reference_frozen_at": None,
    "reference_size": None,
    "p_grounded": 0.9,
    "p_refusal": 0.04,
    "p_self_generated": 0.06,
    "uncalibrated": True,
    "refusal_kind": RefusalKind.NONE.value,
    "refusal_correct": None,
    "support": {
        "origin": "extractive",
        "documents": [{"document_id": "d1", "start": 0, "end": 32, "text": "Parking costs two euros per hour"}],
    },
    "reasons": [],
    "evidence": EVIDENCE,
    "features": {"undefined": {}},
    "sdq": 0.81,
    "sdrd": 0.82,
    "sda": 0.79,
    "qrd": 0.84,
    "qa": 0.85,
}
