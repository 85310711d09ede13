"""Chunks of retrieved documents."""

from __future__ import annotations

from dataclasses import replace

from monitor.core.diagnosis import Chunk, ChunkDiagnosis, Diagnosis

CHUNK = Chunk(document=0, start=0, end=1, relevance=0.5, bm25=0.5, semantic=0.5, rank=1)


def a_chunk(document=0, start=0, end=1, **given) -> Chunk:
    return replace(CHUNK, document=document, start=start, end=end, **given)


def a_diagnosis(*chunks: Chunk, **given) -> ChunkDiagnosis:
    known = {"diagnosis": Diagnosis.HEALTHY, "threshold": 0.5, "relevance": 0.5}
    return ChunkDiagnosis(**{**known, "chunks": chunks, **given})
