"""The rate of a verdict in a period, from what people said of the answers that were drawn for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from monitor.core.figures.proportions import clopper_pearson
from monitor.core.model import Verdict
from monitor.review.rates import judged, stratified
from monitor.review.rates.plan import Draw, Plan

# The classes whose rates are told, each with the labels that count for it.
CLASSES = {
    "self_generated": frozenset({Verdict.SELF_GENERATED}),
    "refusal": frozenset({Verdict.REFUSAL}),
    "negative": frozenset({Verdict.SELF_GENERATED, Verdict.REFUSAL}),
}
# Of each item (app and id), by person: missing if nobody has labelled it yet, empty if nobody can any more.
Labels = Mapping[tuple[str, str], Mapping[str, Verdict]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Of one part: the answers with a label, those that count as positive, and those that people are divided on."""

    labels: int
    positive: int
    divided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The share of answers of a class, in [0, 1], with the bounds of its interval at 95 %.

    `value` is None until every part of the plan has a label; without any label the bounds are 0 and 1. `labels` counts
    the answers with a label, `divided` those of them that people are divided on.
    """

    value: float | None
    lower: float
    upper: float
    labels: int
    divided: int


def tallies(plan: Plan, labels: Labels, class_: str) -> list[Tally]:
    """Counts the labels of the plan's items for a class of `CLASSES`, part by part.

    In each part the labels count up to the first item that has none: an answer that somebody labelled out of turn,
    since a user complained about it, say, is no random one until its turn comes. Items that nobody can label any more
    are passed over. The majority counts. People are divided on an answer that as many call positive as not.
    """
    positive = CLASSES[class_]
    counts = [[0, 0, 0] for _ in plan.parts]
    over: set[int] = set()
    for item in plan.items:
        people = labels.get((item.app, item.id))
        if people is None:
            over.add(item.part)
        if not people or item.part in over:
            continue
        given = people.values()
        for_ = sum(label in positive for label in given)
        against = len(given) - for_
        counts[item.part][0] += 1
        counts[item.part][1] += for_ > against
        counts[item.part][2] += for_ == against
    return [Tally(labels=n, positive=x, divided=d) for n, x, d in counts]


def rate(plan: Plan, labels: Labels, class_: str) -> Rate:
    """The rate of a class of `CLASSES`.

    Of the answers that people are divided on, half count as positive in the estimate, none in the lower bound and all
    in the upper one.
    """
    counted = tallies(plan, labels, class_)
    value, _ = _estimate(plan, counted, [tally.positive + tally.divided / 2 for tally in counted])
    _, (lower, _) = _estimate(plan, counted, [tally.positive for tally in counted])
    _, (_, upper) = _estimate(plan, counted, [tally.positive + tally.divided for tally in counted])
    return Rate(
        value=value,
        lower=lower,
        upper=upper,
        labels=sum(tally.labels for tally in counted),
        divided=sum(tally.divided for tally in counted),
    )


def _estimate(
    plan: Plan, counted: Sequence[Tally], positive: Sequence[float]
) -> tuple[float | None, tuple[float, float]]:
    """The estimate and the interval if so many labels of each part were `positive`."""
    if plan.draw is Draw.RANDOM:
        labels = counted[0].labels
        return (positive[0] / labels if labels else None), clopper_pearson(int(positive[0]), labels)
    parts = list(zip(plan.parts, counted, positive, strict=True))
    if plan.draw is Draw.STRATA:
        strata = [stratified.Stratum(answers=p.answers, labels=t.labels, positive=x) for p, t, x in parts]
        return stratified.estimate(strata), stratified.interval(strata)
    sampled = []
    for _, group in groupby(parts, key=lambda part: part[0].stratum):
        cells = [
            (p.answers, judged.Cell(judged=p.size, labels=t.labels, positive=x, expected=p.expected))
            for p, t, x in group
        ]
        sampled.append(judged.JudgedStratum(answers=cells[0][0], cells=[cell for _, cell in cells]))
    unread = plan.answers - sum(stratum.answers for stratum in sampled)
    if unread:  # no answer of a stratum is in the judge's random sample
        sampled.append(judged.JudgedStratum(answers=unread, cells=[]))
    return judged.estimate(sampled), judged.interval(sampled)
