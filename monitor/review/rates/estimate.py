"""The rate of each label in a period, from what people said of the answers that were drawn for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from monitor.core.model import Verdict
from monitor.core.proportions import clopper_pearson
from monitor.review.rates import judged, stratified
from monitor.review.rates.plan import Draw, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The share of answers that people would give a label, in [0, 1], with the bounds of its interval at 95 %.

    `value` is None until every part of the plan has a label; without any label the bounds are 0 and 1.
    """

    value: float | None
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Of one part: the answers with a label, those that count as positive, and those that people are divided on."""

    labels: int
    positive: int
    divided: int


def tallies(plan: Plan, labels: Mapping[tuple[str, str], Sequence[Verdict]], positive: Verdict) -> list[Tally]:
    """Counts the labels of the plan's items, part by part; `labels` has each person's, by app and id.

    The majority counts. People are divided on an answer that as many call positive as not.
    """
    counts = [[0, 0, 0] for _ in plan.parts]
    for item in plan.items:
        given = labels.get((item.app, item.id), ())
        for_, against = given.count(positive), len(given) - given.count(positive)
        if given:
            counts[item.part][0] += 1
            counts[item.part][1] += for_ > against
            counts[item.part][2] += for_ == against
    return [Tally(labels=n, positive=x, divided=d) for n, x, d in counts]


def rate(plan: Plan, counted: Sequence[Tally]) -> Rate:
    """The rate of a label, whose `tallies` of the plan are given.

    Of answers that people are divided on, half count as positive in the estimate, none in the lower bound and all in
    the upper one.
    """
    half = [tally.positive + tally.divided / 2 for tally in counted]
    least = [tally.positive for tally in counted]
    most = [tally.positive + tally.divided for tally in counted]
    return Rate(
        value=_rate(plan, counted, half).value,
        lower=_rate(plan, counted, least).lower,
        upper=_rate(plan, counted, most).upper,
    )


def _rate(plan: Plan, counted: Sequence[Tally], positive: Sequence[float]) -> Rate:
    """The rate if so many labels of each part were `positive`."""
    if plan.draw is Draw.RANDOM:
        labels = counted[0].labels
        lower, upper = clopper_pearson(int(positive[0]), labels)
        return Rate(value=positive[0] / labels if labels else None, lower=lower, upper=upper)
    parts = list(zip(plan.parts, counted, positive, strict=True))
    if plan.draw is Draw.STRATA:
        strata = [stratified.Stratum(answers=p.answers, labels=t.labels, positive=x) for p, t, x in parts]
        lower, upper = stratified.interval(strata)
        return Rate(value=stratified.estimate(strata), lower=lower, upper=upper)
    sampled = []
    for _, group in groupby(parts, key=lambda part: part[0].stratum):
        cells = [
            (p.answers, judged.Cell(judged=p.size, labels=t.labels, positive=x, expected=p.expected))
            for p, t, x in group
        ]
        sampled.append(judged.JudgedStratum(answers=cells[0][0], cells=[cell for _, cell in cells]))
    lower, upper = judged.interval(sampled)
    return Rate(value=judged.estimate(sampled), lower=lower, upper=upper)
