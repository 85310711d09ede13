"""Context precision and utilization: whether the useful documents come first in the ranking (RAGAS; metrics.md §2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.assess.judge.inputs import answer, document_blocks, documents, missing, question, reference, undefined
from monitor.assess.judge.metric import Asker, Case, Outcome
from monitor.assess.judge.model_verdicts import Numbered, by_number, incomplete
from monitor.assess.llm.exchange import Block, Form, load_prompt


class Verdict(Numbered):
    """Whether a document is useful."""

    why: str
    useful: bool


class Verdicts(Form):
    """One verdict for each document."""

    verdicts: list[Verdict]


PROMPT: Final = load_prompt("monitor.assess.judge", "context_usefulness.v1", Verdicts)


def context_precision(case: Case, asker: Asker) -> Outcome:
    """Average precision of the ranked documents; a document is useful if it helps to arrive at the reference answer."""
    reason = missing(case, question, documents, reference)
    return undefined(reason) if reason else _precision(case, case.reference or "", asker)


def context_utilization(case: Case, asker: Asker) -> Outcome:
    """Context precision with the answer in place of the reference."""
    reason = missing(case, question, answer, documents)
    return undefined(reason) if reason else _precision(case, case.answer, asker)


def average_precision(useful: Sequence[bool]) -> float:
    """Σₖ precision@k · vₖ / Σₖ vₖ over the ranks k."""
    ranks = [rank for rank, verdict in enumerate(useful, start=1) if verdict]
    if not ranks:
        return 0.0  # by definition: to retrieve nothing useful is a known result, and the worst
    return sum(count / rank for count, rank in enumerate(ranks, start=1)) / len(ranks)


def _precision(case: Case, target: str, asker: Asker) -> Outcome:
    blocks = document_blocks(case)
    asked = asker.ask(
        PROMPT, Block(name="question", text=case.question), Block(name="answer", text=target), *blocks
    ).verdicts
    ranks = [rank for rank, text in enumerate(case.documents, start=1) if text.strip()]
    verdicts = by_number(asked, ranks)
    if verdicts is None:
        return incomplete(asked)
    # A document of white space keeps its rank and is not useful; no call is needed to know that.
    empty = Verdict(number=0, why="it is empty", useful=False)
    judged = [verdicts.get(rank, empty) for rank in range(1, len(case.documents) + 1)]
    return Outcome(
        score=average_precision([verdict.useful for verdict in judged]),
        parts={
            "documents": [
                {"document": index, "why": verdict.why, "useful": verdict.useful}
                for index, verdict in enumerate(judged)
            ]
        },
    )
