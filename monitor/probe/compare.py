"""Compares two runs question by question: is one version of the chatbot better than the other?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monitor.core.model import Json
from monitor.probe.figures import student_quantile
from monitor.probe.golden import GoldenSet
from monitor.probe.result import ItemState, Scored
from monitor.review.evaluate.bootstrap import portions

Floats: TypeAlias = NDArray[np.float64]
Outcome: TypeAlias = Literal["better", "worse", "no_difference_shown", "too_few"]

CONFIDENCE: Final = 0.99  # a probe asks several times a day: at 95 %, one run in 20 would differ by chance
FEWEST: Final = 10  # pairs; fewer show nothing
DRAWS: Final = 10_000
SEED: Final = 20
COMPARED: Final = ("correctness", "wscore", "unsure")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The mean of `after` less `before` over the questions that both runs have, with its 99 % interval.

    Positive is better, but for `unsure`, the share of answers that are not sure. Without pairs `mean` is None; with
    fewer than `FEWEST` there is no interval.
    """

    pairs: int
    mean: float | None
    lower: float | None
    upper: float | None
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """An item whose correctness differs between the runs; an answer that is not sure counts as 0."""

    item: str
    before: float
    after: float

    @property
    def by(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two runs compared. `unpaired` is the number of items that only one of them has judged.

    `moved` are the items whose correctness differs, the one that fell most first.
    """

    differences: Mapping[str, Difference]
    unpaired: int
    moved: Sequence[Moved]

    def to_json(self) -> dict[str, Json]:
        return {
            "confidence": CONFIDENCE,
            "unpaired": self.unpaired,
            "differences": {name: asdict(one) for name, one in self.differences.items()},
            "moved": [{**asdict(one), "by": one.by} for one in self.moved],
        }


def compare(
    before: Sequence[Scored],
    after: Sequence[Scored],
    *,
    same: Collection[str] | None = None,
    same_turns: bool = True,
) -> Compared:
    """Compares by the bootstrap over questions; `same` are the items whose texts are alike in both golden sets.

    Each question is drawn with both of its values, so what makes a question hard for both versions drops out. Means are
    over questions that both runs graded; the share of answers that are not sure is over those that both judged. Unless
    the conversations of both may take equally many turns (`same_turns`), wscore means two things and is left out.
    """
    earlier, later = _judged(before, same), _judged(after, same)
    both = [item for item in later if item in earlier]
    values = {
        name: [
            (x, y)
            for item in both
            if (x := _value(earlier[item], name)) is not None and (y := _value(later[item], name)) is not None
        ]
        for name in COMPARED
        if same_turns or name != "wscore"
    }
    moved = [Moved(item=i, before=_correctness(earlier[i]), after=_correctness(later[i])) for i in both]
    return Compared(
        differences={name: _difference(pairs, less_is_better=name == "unsure") for name, pairs in values.items()},
        unpaired=len({*earlier} ^ {*later}),
        moved=sorted((one for one in moved if one.by), key=lambda one: (one.by, one.item)),
    )


def alike(before: GoldenSet | None, after: GoldenSet | None) -> frozenset[str]:
    """The items with the same question and reference in both golden sets."""
    first, second = ({(i.id, i.question, i.reference) for i in one.items} if one else set() for one in (before, after))
    return frozenset(item for item, _, _ in first & second)


def _judged(scores: Sequence[Scored], same: Collection[str] | None) -> dict[str, Scored]:
    return {one.item: one for one in scores if one.is_judged and (same is None or one.item in same)}


def _value(one: Scored, name: str) -> float | None:
    if name == "unsure":
        return float(one.is_unsure)
    found: float | None = getattr(one, name)
    return None if one.state is ItemState.UNSURE else found


def _correctness(one: Scored) -> float:
    return one.correctness or 0.0


def _difference(pairs: Sequence[tuple[float, float]], *, less_is_better: bool) -> Difference:
    changes = np.array([after - before for before, after in pairs])
    if not len(changes):
        return Difference(pairs=0, mean=None, lower=None, upper=None, outcome="too_few")
    mean = float(changes.mean())
    if len(changes) < FEWEST:
        return Difference(pairs=len(changes), mean=mean, lower=None, upper=None, outcome="too_few")
    lower, upper = _interval(changes)
    outcome: Outcome = "no_difference_shown"
    if lower > 0 or upper < 0:
        outcome = "better" if (mean > 0) != less_is_better else "worse"
    return Difference(pairs=len(changes), mean=mean, lower=lower, upper=upper, outcome=outcome)


def _interval(changes: Floats) -> tuple[float, float]:
    """The expanded percentiles of the mean over resampled questions; seeded, so that the same runs compare alike.

    Plain percentiles are too narrow for few questions: the normal distribution's share beyond √(n/(n-1)) · t is taken
    in place of (1 - CONFIDENCE) / 2. Source: T. Hesterberg, What Teachers Should Know About the Bootstrap, The American
    Statistician 69(4), 2015, §3.3.
    """
    rng, number = np.random.default_rng(SEED), len(changes)
    means = np.concatenate(
        [changes[rng.integers(0, number, (size, number), np.int32)].mean(axis=1) for size in portions(DRAWS, number)]
    )
    beyond = NormalDist().cdf(-sqrt(number / (number - 1)) * student_quantile(number - 1, CONFIDENCE))
    lower, upper = np.quantile(means, [beyond, 1 - beyond])
    return float(lower), float(upper)
