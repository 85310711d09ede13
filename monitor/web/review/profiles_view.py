"""What the pages of profiles say: charts from labels, weights in words, two profiles side by side. Pure."""

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

CHANGED = 50  # interactions with another verdict that are listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A profile against labels: of those drawn at random where they are enough, else of all; drawn as SVG.

    `labels` and `at_random` count what there is; without a `standing` there are too few, `negative` of them negative.
    """

    labels: int
    at_random: int
    negative: int
    unbiased: bool
    standing: Standing | None = None
    roc: str = ""
    reliability: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """A feature, how much it weighs in log-odds for each `scale` above `center`, and what it is."""

    name: str
    words: str
    weight: float
    center: float
    scale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two profiles on the same interactions: counts by both verdicts, how far they agree, what changed."""

    total: int
    counts: Mapping[tuple[Verdict, Verdict], int]
    agreement: Agreement
    changed: tuple[VerdictPair, ...]
    number_changed: int


def measured(judged: Sequence[LabelledVerdict]) -> Measured:
    """The figures and charts of what people labelled."""
    random = [its for its in judged if its.at_random]
    unbiased = enough(len(random), sum(its.label.negative for its in random))
    used = random if unbiased else list(judged)
    rows = tuple(
        Row(1 - its.p_grounded, its.verdict.negative, its.label.negative) for its in used
    )  # fmt: skip
    negative = sum(row.negative for row in rows)
    counted = Measured(labels=len(judged), at_random=len(random), negative=negative, unbiased=unbiased)
    return _drawn(rows, counted) if enough(len(rows), negative) else counted


@lru_cache(maxsize=32)
def _drawn(rows: tuple[Row, ...], counted: Measured) -> Measured:
    its = standing(rows)
    name = "by the probability"
    return Measured(
        labels=counted.labels,
        at_random=counted.at_random,
        negative=counted.negative,
        unbiased=counted.unbiased,
        standing=its,
        roc=roc_chart({name: its.curve}, here={name: its.here}, description=""),
        reliability=reliability_chart(its.bins, description=""),
    )


def weights(profile: Profile) -> list[Weight]:
    """Its features, what weighs most first."""
    found = [
        Weight(name=name, words=FEATURES.get(name, name), weight=w.weight, center=w.center, scale=w.scale)
        for name, w in profile.groundedness.features.items()
    ]
    return sorted(found, key=lambda its: -abs(its.weight))


def compared(both: Sequence[VerdictPair]) -> Compared:
    """What two profiles make of the same interactions."""
    changed = [its for its in both if its.first is not its.second]
    return Compared(
        total=len(both),
        counts=Counter((its.first, its.second) for its in both),
        agreement=agreement([(its.first, its.second) for its in both]),
        changed=tuple(changed[:CHANGED]),
        number_changed=len(changed),
    )
