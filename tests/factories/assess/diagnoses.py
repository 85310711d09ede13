"""Diagnoses of retrieved documents, one for each name, with the two chunks that they rest on."""

from __future__ import annotations

from typing import Any

from monitor.core.diagnosis import Chunk, ChunkDiagnosis, Diagnosis, Repeated

CHUNKS = (
    Chunk(document=0, start=0, end=26, relevance=0.75, bm25=1.0, semantic=0.5, rank=1, used=True),
    Chunk(
        document=0,
        start=27,
        end=52,
        relevance=0.25,
        bm25=0.0,
        semantic=0.5,
        rank=2,
        repeats=Repeated(chunk=0, cosine=0.9375, tfidf=0.625),
    ),
)


def a_diagnosis(diagnosis: Diagnosis | str = Diagnosis.HEALTHY, **over: Any) -> ChunkDiagnosis:
    known: dict[str, Any] = {"chunks": CHUNKS, "threshold": 0.5, "relevance": 0.75, "tau": None, "used_rank": 1}
    return ChunkDiagnosis(diagnosis=Diagnosis(diagnosis), **{**known, **over})


EACH_DIAGNOSIS = {diagnosis: a_diagnosis(diagnosis) for diagnosis in Diagnosis}


def a_chunk(document: int = 0, start: int = 0, end: int = 26, **over: Any) -> Chunk:
    known: dict[str, Any] = {"relevance": 0.5, "bm25": 0.5, "semantic": 0.5, "rank": 1}
    return Chunk(document=document, start=start, end=end, **{**known, **over})
