"""Chunk relevance: how well each retrieved chunk answers the question, scored three times (ChunkRAG; metrics.md §3).

The three stages are those of Singh et al. (2024, arXiv:2410.19572): a first score, a self-reflection that may revise
it, and a critic that may adjust it. The threshold is taken from the distribution of the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Final

from monitor.assess.judge.inputs import documents, missing, numbered, question, undefined
from monitor.assess.judge.metric import Asker, Case, Outcome
from monitor.assess.judge.model_verdicts import Numbered, by_number, incomplete
from monitor.assess.llm.exchange import Block, Form, Prompt, load_prompt
from monitor.assess.threshold import dynamic_threshold
from monitor.core.diagnosis import Chunk
from monitor.core.model import Json

MOST: Final = 40  # chunks of a case; of more, those that are the most relevant without a model
LONGEST: Final = 500  # characters of a chunk
_LONGEST_QUERY = 500
_LONGEST_REASON = 200  # of what the model says in one call, as it goes into the next


class Verdict(Numbered):
    """How well a chunk answers the question."""

    why: str
    score: float


class Verdicts(Form):
    """One verdict for each chunk."""

    chunks: list[Verdict]


class Query(Form):
    """The question, rewritten."""

    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Characters `[start, end)` of the document with this index, which the model reads."""

    document: int
    start: int
    end: int


REWRITTEN: Final = load_prompt("monitor.assess.judge", "chunk_relevance_query.v1", Query)
FIRST: Final = load_prompt("monitor.assess.judge", "chunk_relevance_first.v1", Verdicts)
REFLECTED: Final = load_prompt("monitor.assess.judge", "chunk_relevance_reflection.v1", Verdicts)
CRITIC: Final = load_prompt("monitor.assess.judge", "chunk_relevance_critic.v1", Verdicts)
STAGES: Final[tuple[tuple[str, Prompt[Verdicts]], ...]] = (
    ("first", FIRST),
    ("reflected", REFLECTED),
    ("score", CRITIC),
)


def chunk_relevance(case: Case, asker: Asker) -> Outcome:
    """Chunks whose score reaches the dynamic threshold / chunks that were scored.

    `parts` has all three scores of each chunk with the critic's reason, the threshold, the rewritten question if
    `asker.rewrites`, and how many chunks were left out, since a case has at most `MOST`.
    """
    if reason := missing(case, question, documents):
        return undefined(reason)
    passages = passages_of(case)
    chosen = _best(passages, case.chunks)
    query = _query(case, asker) if asker.rewrites else None
    blocks = (
        Block(name="question", text=query or case.question),
        numbered("chunks", [case.documents[p.document][p.start : p.end] for p in chosen]),
    )
    stages: dict[str, dict[int, Verdict]] = {}
    before: tuple[Block, ...] = ()
    for stage, prompt in STAGES:
        asked = asker.ask(prompt, *blocks, *before).chunks
        verdicts = by_number(asked, range(1, len(chosen) + 1))
        if verdicts is None or not all(_is_score(verdict.score) for verdict in asked):
            return incomplete(asked, stage=stage, query=query)
        stages[stage] = verdicts
        before = (_scores_block(verdicts),)
    scores = [stages["score"][n].score for n in range(1, len(chosen) + 1)]
    threshold = dynamic_threshold(scores, case.prior)
    judged: list[Json] = [
        {**asdict(passage), **{stage: found[n].score for stage, found in stages.items()}, "why": stages["score"][n].why}
        for n, passage in enumerate(chosen, start=1)
    ]
    return Outcome(
        score=sum(score >= threshold for score in scores) / len(scores),
        parts={
            "chunks": judged,
            "threshold": round(threshold, 6),
            "query": query,
            "left_out": len(passages) - len(chosen),
            "prior": {"mean": round(case.prior.mean, 6), "sd": round(case.prior.sd, 6)},
        },
    )


def passages_of(case: Case) -> list[Passage]:
    """The case's chunks, or its documents where it has none, each up to `LONGEST` characters; at least one.

    Chunks that are not in the documents, or only white space, are left out.
    """
    found = [Passage(document=c.document, start=c.start, end=c.end) for c in case.chunks if _holds_text(case, c)]
    if not found:  # a row of an earlier release, or chunks that belong to other documents
        found = [Passage(document=n, start=0, end=len(text)) for n, text in enumerate(case.documents) if text.strip()]
    return [
        Passage(
            document=p.document, start=p.start, end=p.start + len(case.documents[p.document][p.start : p.end][:LONGEST])
        )
        for p in found
    ]


def _holds_text(case: Case, chunk: Chunk) -> bool:
    if not 0 <= chunk.document < len(case.documents) or not 0 <= chunk.start < chunk.end:
        return False
    text = case.documents[chunk.document]
    return chunk.end <= len(text) and bool(text[chunk.start : chunk.end][:LONGEST].strip())


def _best(passages: Sequence[Passage], chunks: Sequence[Chunk]) -> list[Passage]:
    """The `MOST` passages of the highest relevance, in the order in which they were retrieved."""
    relevance = {(c.document, c.start): c.relevance for c in chunks}
    by_relevance = sorted(passages, key=lambda p: -relevance.get((p.document, p.start), 0.0))  # stable
    kept = {*by_relevance[:MOST]}
    return [passage for passage in passages if passage in kept][:MOST]


def _query(case: Case, asker: Asker) -> str:
    """The question as the model rewrites it; as it was asked, if the model gives nothing."""
    given = asker.ask(REWRITTEN, Block(name="question", text=case.question)).query
    return " ".join(given.split())[:_LONGEST_QUERY] or case.question


def _is_score(value: float) -> bool:
    return isfinite(value) and 0 <= value <= 1


def _scores_block(verdicts: dict[int, Verdict]) -> Block:
    return numbered(
        "scores", [f"{verdicts[n].score:.2f} {verdicts[n].why[:_LONGEST_REASON]}" for n in range(1, len(verdicts) + 1)]
    )
