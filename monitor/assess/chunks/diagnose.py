"""Names what is wrong with an interaction: the retriever, the generator, or nothing.

- A *refusal* is `retrieval_missed` if no chunk is relevant, else `generator_ignored`.
- A *self-generated* answer is `generator_invented` if it rests on a chunk that is on the question. If it does not, it
  is judged like a refusal.
- A *grounded* answer never counts as missed, since the documents carry it. It is `retrieval_redundant` if much of what
  was retrieved repeats the rest, `retrieval_noisy` if most is off the question, else `healthy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.core.diagnosis import Chunk, Diagnosis
from monitor.core.model import Verdict

# Relevance below which a chunk is off the question, in whatever app. Chosen by the worst families, of seven labelled
# sets and the made-up support bot: hardly one in twenty questions has its answer in documents that are all below.
OFF_QUESTION: Final = 0.33
NOISY: Final = 0.75  # share of the retrieved text that is off the question and not used
REDUNDANT: Final = 0.3  # share of the retrieved text that repeats the rest
FEWEST: Final = 3  # chunks from which on there is a share to speak of


def diagnose(verdict: Verdict, chunks: Sequence[Chunk], threshold: float) -> Diagnosis:
    """The diagnosis of an interaction with this verdict.

    `threshold` is the relevance from which on a chunk is relevant.
    """
    if verdict is Verdict.GROUNDED:
        return _of_grounded(chunks)
    rests = any(chunk.used and chunk.relevance >= OFF_QUESTION for chunk in chunks)
    if verdict is Verdict.SELF_GENERATED and rests:
        return Diagnosis.GENERATOR_INVENTED
    answered = any(chunk.relevance >= threshold for chunk in chunks)
    return Diagnosis.GENERATOR_IGNORED if answered else Diagnosis.RETRIEVAL_MISSED


def _of_grounded(chunks: Sequence[Chunk]) -> Diagnosis:
    if len(chunks) < FEWEST:
        return Diagnosis.HEALTHY
    size = sum(map(_size, chunks))
    if sum(_size(chunk) for chunk in chunks if chunk.repeats is not None) >= REDUNDANT * size:
        return Diagnosis.RETRIEVAL_REDUNDANT
    if sum(_size(chunk) for chunk in chunks if chunk.relevance < OFF_QUESTION and not chunk.used) >= NOISY * size:
        return Diagnosis.RETRIEVAL_NOISY
    return Diagnosis.HEALTHY


def _size(chunk: Chunk) -> int:
    return chunk.end - chunk.start
