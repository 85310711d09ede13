"""Diagnoses of made-up chunks, and stored rows that have one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.core.assessment_json import retrieval_json
from monitor.core.diagnosis import Chunk, ChunkDiagnosis, Diagnosis, Repeated
from tests.factories.assess.explained_rows import ROW, place

TEXTS = (
    "Dogs may not come in. Cats may.",
    "Parking costs two euros per hour, also at night. It is paid at the gate.",
    "An hour in the garage is two euros, day and night.",
)


def chunk(document: int, piece: str, relevance: float, rank: int, **more: Any) -> Chunk:
    """The chunk of `TEXTS` that reads `piece`."""
    start, end = place(TEXTS[document], piece)
    given = {"bm25": relevance / 2, "semantic": relevance, "used": False, "repeats": None, **more}
    return Chunk(document=document, start=start, end=end, relevance=relevance, rank=rank, **given)


DIAGNOSED = ChunkDiagnosis(
    diagnosis=Diagnosis.GENERATOR_INVENTED,
    threshold=0.5,
    relevance=0.9,
    tau=-0.333333,
    used_rank=2,
    chunks=(
        chunk(0, "Dogs may not come in.", 0.2, 4),
        chunk(0, "Cats may.", 0.1, 5),
        chunk(1, "Parking costs two euros per hour, also at night.", 0.9, 1, used=True),
        chunk(1, "It is paid at the gate.", 0.6, 3),
        chunk(2, TEXTS[2], 0.8, 2, repeats=Repeated(chunk=2, cosine=0.93, tfidf=0.41)),
    ),
)


def diagnosed_row(found: ChunkDiagnosis = DIAGNOSED, **changed: Any) -> Mapping[str, Any]:
    """A row of `with_assessments` with this diagnosis and `TEXTS` as its documents."""
    return {
        **ROW,
        "retrieved_documents": [{"id": f"d{n}", "text": text} for n, text in enumerate(TEXTS)],
        "evidence": {**ROW["evidence"], "retrieval": retrieval_json(found)},
        "diagnosis": found.diagnosis.value,
        **changed,
    }
