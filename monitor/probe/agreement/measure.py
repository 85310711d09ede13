"""Judges answers that people have scored, with the contexts found in several ways, and compares the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from monitor.assess.judge.correctness.grade import Contexts, Grade, Grader
from monitor.assess.llm.exchange import Spend
from monitor.probe.agreement.coefficients import Agreement, agreement
from monitor.probe.agreement.labels import ScoredAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The agreement of the judge with people when it sees the contexts of one kind.

    `ungraded` answers have no score of the judge and are in no figure. `tilt` is the mean score with the scores listed
    from 5 down, less that with them listed from 0 up; None where answers are judged once only.
    """

    contexts: str
    agreement: Agreement
    ungraded: int
    tilt: float | None
    spend: Spend


def measure(
    labels: Sequence[ScoredAnswer], contexts: Mapping[str, Contexts], grader: Grader, *, repeats: int, concurrency: int
) -> list[Measured]:
    """The agreement for each kind of contexts, in their order; `concurrency` answers are judged at a time.

    `repeats` is how often `grader` judges each answer, with the scores listed from 5 down at first.

    Raises:
        BudgetSpent, Retriable, Fatal: as grader and contexts do; what is judged until then is lost.
    """
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="agreement")
    try:
        return [
            _measured(kind, labels, list(pool.map(partial(_grade, grader, source), labels)), repeats)
            for kind, source in contexts.items()
        ]
    finally:
        pool.shutdown(cancel_futures=True)


def _grade(grader: Grader, contexts: Contexts, label: ScoredAnswer) -> Grade:
    found = contexts.find(label.question, label.reference)
    return grader.grade(question=label.question, contexts=found, reference=label.reference, answer=label.answer)


def _measured(kind: str, labels: Sequence[ScoredAnswer], grades: Sequence[Grade], repeats: int) -> Measured:
    pairs = [(g.score, label.score) for g, label in zip(grades, labels, strict=True) if g.score is not None]
    return Measured(
        contexts=kind,
        agreement=agreement([given for given, _ in pairs], [human for _, human in pairs]),
        ungraded=len(labels) - len(pairs),
        tilt=_tilt([grade.scores for grade in grades], repeats),
        spend=sum((grade.spend for grade in grades), Spend()),
    )


def _tilt(scores: Sequence[Sequence[int]], repeats: int) -> float | None:
    """Of answers whose judgings all have a score: only there it is known which order each score had."""
    whole = [judged for judged in scores if len(judged) == repeats]
    if repeats == 1 or not whole:
        return None
    return fmean(fmean(judged[::2]) - fmean(judged[1::2]) for judged in whole)
