"""Names what is wrong with an interaction: the retriever, the generator, or nothing.

- A *refusal* that is known to be right is `retrieval_missed`, a wrong one `generator_ignored` if there was anything to
  ignore. Where that is unknown, it is missed if no chunk is relevant, else ignored.
- A *self-generated* answer is `generator_invented` if it rests on a chunk that is on the question. If it does not, a
  relevant chunk was ignored, and without one the retriever missed.
- A *grounded* answer never counts as missed, since the documents carry it. It is `retrieval_redundant` if much of what
  was retrieved repeats the rest, `retrieval_noisy` if most is off the question, else `healthy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.core.diagnosis import Chunk, Diagnosis
from monitor.core.model import Verdict

# Relevance below which a chunk is off the question. Of seven sets of documents that answer a question, at most 11 % in
# any set have three quarters of their text below it. Most answers of the choosing set that rest on nothing better had
# nothing better to rest on (benchmarks/chunks/run.py).
OFF_QUESTION: Final = 0.36
NOISY: Final = 0.75  # share of the retrieved text that is off the question and not used
REDUNDANT: Final = 0.3  # share of the retrieved text that repeats the rest
FEWEST: Final = 3  # chunks from which on there is a share to speak of


def diagnose(verdict: Verdict, chunks: Sequence[Chunk], threshold: float, *, correct: bool | None = None) -> Diagnosis:
    """The diagnosis of an interaction with this verdict.

    `threshold` is the relevance from which on a chunk is relevant; `correct` says of a refusal whether it was right.
    """
    if verdict is Verdict.GROUNDED:
        return _of_grounded(chunks)
    rests = any(chunk.used and chunk.relevance >= OFF_QUESTION for chunk in chunks)
    if verdict is Verdict.SELF_GENERATED and rests:
        return Diagnosis.GENERATOR_INVENTED
    answered = any(chunk.relevance >= threshold for chunk in chunks)
    if verdict is Verdict.REFUSAL and correct is not None:
        answered = not correct and len(chunks) > 0
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
