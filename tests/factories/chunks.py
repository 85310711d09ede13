"""Chunks of retrieved documents."""

from __future__ import annotations

from dataclasses import replace

from monitor.core.diagnosis import Chunk

CHUNK = Chunk(document=0, start=0, end=1, relevance=0.5, bm25=0.5, semantic=0.5, rank=1)


def a_chunk(document=0, start=0, end=1, **given) -> Chunk:
    return replace(CHUNK, document=document, start=start, end=end, **given)
