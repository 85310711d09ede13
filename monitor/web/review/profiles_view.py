"""Figures of the profile pages: charts from labels, weights in words, two profiles side by side. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from monitor.assess.classify.profile import Profile
from monitor.assess.score.features import FEATURES
from monitor.core.model import Verdict
from monitor.report.charts.drawing import reliability_chart, roc_chart
from monitor.review.agreement import Agreement, agreement
from monitor.review.evaluate.profile_agreement import Row, Standing, enough, standing
from monitor.store.review.profiles import LabelledVerdict, VerdictPair

MAX_CHANGED = 50  # listed interactions whose verdicts differ


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFigures:
    """A profile measured against labels: those drawn at random if there are enough of them, else all; charts as SVG.

    `labels` and `at_random` count the stored labels, `negative` the negative ones among those used. `standing` is None
    when there are too few.
    """

    labels: int
    at_random: int
    negative: int
    unbiased: bool
    standing: Standing | None = None
    roc: str = ""
    reliability: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureWeight:
    """A feature, its description, and its weight in log-odds for each `scale` above `center`."""

    name: str
    words: str
    weight: float
    center: float
    scale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileComparison:
    """Two profiles on the same interactions: counts by both verdicts, their agreement, and the changed verdicts."""

    total: int
    counts: Mapping[tuple[Verdict, Verdict], int]
    agreement: Agreement
    changed: tuple[VerdictPair, ...]
    number_changed: int


def label_figures(judged: Sequence[LabelledVerdict]) -> LabelFigures:
    """The figures and charts of answers that people have labelled."""
    random = [answer for answer in judged if answer.at_random]
    unbiased = enough(len(random), sum(answer.label.negative for answer in random))
    used = random if unbiased else list(judged)
    rows = tuple(Row(1 - answer.p_grounded, answer.verdict.negative, answer.label.negative) for answer in used)
    negative = sum(row.negative for row in rows)
    counted = LabelFigures(labels=len(judged), at_random=len(random), negative=negative, unbiased=unbiased)
    return _drawn(rows, counted) if enough(len(rows), negative) else counted


@lru_cache(maxsize=32)
def _drawn(rows: tuple[Row, ...], counted: LabelFigures) -> LabelFigures:
    measured = standing(rows)
    name = "by the probability"
    return LabelFigures(
        labels=counted.labels,
        at_random=counted.at_random,
        negative=counted.negative,
        unbiased=counted.unbiased,
        standing=measured,
        roc=roc_chart({name: measured.curve}, here={name: measured.here}, description=""),
        reliability=reliability_chart(measured.bins, description=""),
    )


def feature_weights(profile: Profile) -> list[FeatureWeight]:
    """The features of the profile, the heaviest first."""
    weights = [
        FeatureWeight(name=name, words=FEATURES.get(name, name), weight=w.weight, center=w.center, scale=w.scale)
        for name, w in profile.groundedness.features.items()
    ]
    return sorted(weights, key=lambda weight: -abs(weight.weight))


def compare_profiles(both: Sequence[VerdictPair]) -> ProfileComparison:
    """Compares the verdicts of two profiles on the same interactions."""
    changed = [pair for pair in both if pair.first is not pair.second]
    return ProfileComparison(
        total=len(both),
        counts=Counter((pair.first, pair.second) for pair in both),
        agreement=agreement([(pair.first, pair.second) for pair in both]),
        changed=tuple(changed[:MAX_CHANGED]),
        number_changed=len(changed),
    )
