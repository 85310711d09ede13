"""Names what is wrong with an interaction: the retriever or the generator, from its verdict and its chunks.

| verdict | no chunk is relevant | a relevant chunk is there |
| --- | --- | --- |
| refusal | `retrieval_missed` | `generator_ignored` |
| self-generated | `retrieval_missed` | `generator_invented` if the answer uses one, else `generator_ignored` |
| grounded | as on the right | `retrieval_noisy`, `retrieval_redundant`, or `healthy` |

A grounded answer never counts as missed: the documents carry it, whatever they have in common with the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.core.diagnosis import Chunk, Diagnosis
from monitor.core.model import Verdict

NOISY: Final = 0.75  # share of the retrieved text that is neither relevant nor used
REDUNDANT: Final = 0.3  # share of the retrieved text that repeats the rest
FEWEST: Final = 3  # chunks from which on there is a share to speak of


def diagnose(verdict: Verdict, chunks: Sequence[Chunk], threshold: float) -> Diagnosis:
    """The diagnosis of an interaction with this verdict. `threshold` is the least relevance of a relevant chunk."""
    relevant = [chunk for chunk in chunks if chunk.relevance >= threshold]
    if verdict is Verdict.GROUNDED:
        return _of_grounded(chunks, threshold)
    if not relevant:
        return Diagnosis.RETRIEVAL_MISSED
    if verdict is Verdict.SELF_GENERATED and any(chunk.used for chunk in relevant):
        return Diagnosis.GENERATOR_INVENTED
    return Diagnosis.GENERATOR_IGNORED


def _of_grounded(chunks: Sequence[Chunk], threshold: float) -> Diagnosis:
    if len(chunks) < FEWEST:
        return Diagnosis.HEALTHY
    size = sum(map(_size, chunks))
    if sum(_size(chunk) for chunk in chunks if chunk.repeats is not None) >= REDUNDANT * size:
        return Diagnosis.RETRIEVAL_REDUNDANT
    if sum(_size(chunk) for chunk in chunks if chunk.relevance < threshold and not chunk.used) >= NOISY * size:
        return Diagnosis.RETRIEVAL_NOISY
    return Diagnosis.HEALTHY


def _size(chunk: Chunk) -> int:
    return chunk.end - chunk.start
