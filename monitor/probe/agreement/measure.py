"""Judges answers that people have scored, with the contexts found in several ways, and compares the scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from monitor.assess.judge.correctness.grade import UNSURE, Contexts, Grade, Grader
from monitor.assess.llm.exchange import Spend
from monitor.probe.agreement.coefficients import Agreement, agreement, table
from monitor.probe.agreement.difference import Difference, Paired, difference
from monitor.probe.agreement.labels import ScoredAnswer
from monitor.probe.golden import question_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The answers with the judge's grades when it sees the contexts of one kind."""

    labels: Sequence[ScoredAnswer]
    grades: Sequence[Grade]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The agreement of the judge with people when it sees the contexts of one kind.

    `agreement` is over all answers that have a score of the judge, 0 as a score like others; `above_0` over those that
    neither calls not sure; `unsure` is the agreement on that alone, with 1 for *not sure* and 0 for any other score.
    `table` counts answers by the person's score and by the judge's. `ungraded` answers have no score of the judge and
    are in no figure; they are counted by reason. `tilt` is the mean score with the scores listed from 5 down, less that
    with them listed from 0 up; None where no answer has all its judgings, or there is one only.
    """

    agreement: Agreement
    above_0: Agreement
    unsure: Agreement
    table: Sequence[Sequence[int]]
    ungraded: Mapping[str, int]
    tilt: float | None
    spend: Spend


def judge_all(
    labels: Sequence[ScoredAnswer], contexts: Mapping[str, Contexts], grader: Grader, *, concurrency: int
) -> dict[str, Judged]:
    """The grades for each kind of contexts, in their order; `concurrency` answers are judged at a time.

    Raises:
        BudgetSpent, Retriable, Fatal: as grader and contexts do; what is judged until then is for the grader to keep.
    """
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="agreement")
    try:
        return {
            kind: Judged(labels=labels, grades=list(pool.map(partial(_grade, grader, source), labels)))
            for kind, source in contexts.items()
        }
    finally:
        pool.shutdown(cancel_futures=True)


def measure(judged: Judged, *, repeats: int) -> Measured:
    """The figures; `repeats` is how often each answer was judged, with the scores listed from 5 down at first."""
    pairs = [
        (g.score, label.score) for label, g in zip(judged.labels, judged.grades, strict=True) if g.score is not None
    ]
    sure = [pair for pair in pairs if UNSURE not in pair]
    return Measured(
        agreement=_agreement(pairs),
        above_0=_agreement(sure),
        unsure=_agreement([(float(given == UNSURE), float(human == UNSURE)) for given, human in pairs]),
        table=table([given for given, _ in pairs], [human for _, human in pairs]),
        ungraded=Counter(g.reason or "" for g in judged.grades if g.score is None),
        tilt=_tilt([grade.scores for grade in judged.grades], repeats),
        spend=sum((grade.spend for grade in judged.grades), Spend()),
    )


def compared(before: Judged, after: Judged, *, above_0: bool) -> Difference:
    """How far the agreement with contexts `after` differs from that with `before`, on what both have scored.

    With `above_0`, without the answers that a person or either judging calls not sure.
    """
    pairs = [
        Paired(question_key(label.question), first.score, second.score, label.score)
        for label, first, second in zip(before.labels, before.grades, after.grades, strict=True)
        if first.score is not None and second.score is not None
    ]
    return difference([pair for pair in pairs if not above_0 or UNSURE not in pair[1:]])


def _grade(grader: Grader, contexts: Contexts, label: ScoredAnswer) -> Grade:
    found = contexts.find(label.question, label.reference)
    return grader.grade(question=label.question, contexts=found, reference=label.reference, answer=label.answer)


def _agreement(pairs: Sequence[tuple[float, float]]) -> Agreement:
    return agreement([given for given, _ in pairs], [human for _, human in pairs])


def _tilt(scores: Sequence[Sequence[int]], repeats: int) -> float | None:
    """Of answers whose judgings all have a score: only there it is known which order each score had."""
    whole = [judged for judged in scores if len(judged) == repeats]
    if repeats == 1 or not whole:
        return None
    return fmean(fmean(judged[::2]) - fmean(judged[1::2]) for judged in whole)
