"""The figures of a run: means of its scores with intervals, and how many items came to what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, sqrt
from statistics import fmean, stdev
from typing import Final

from monitor.alert.methods.proportion_change import student_tail
from monitor.alert.signal import SCORES as PROBED_SCORES
from monitor.core.figures.proportions import CONFIDENCE, wilson
from monitor.core.model import Json
from monitor.probe.result import ItemState, Scored

# The scores with the least and the most that each can be.
SCORES: Final[Mapping[str, tuple[float, float]]] = {
    **PROBED_SCORES,
    "lscore": (1.0, inf),
    "mscore": (0.0, 5.0),
}
_HALVINGS = 60  # of an interval that holds a quantile of Student's t
_HIGHEST_T = 1e4  # Student's t at one degree of freedom and .975 is 12.7
_FEWEST = 2  # values that have a spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over `count` items with its 95 % interval; None without items, or bounds None with only one."""

    mean: float | None
    lower: float | None
    upper: float | None
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures:
    """The figures of a run. Means are over the graded items: answers that are not sure stay out of them.

    `unsure` is the share of the judged items whose first answer is not sure, with Wilson's interval; `states` counts
    all items.
    """

    correctness: Mean
    wscore: Mean
    lscore: Mean
    mscore: Mean
    unsure: Mean
    states: Mapping[ItemState, int]

    def named(self, name: str) -> Mean:
        """The figure of this name: one of `SCORES`, or `unsure`."""
        found: Mean = getattr(self, name)
        return found

    def to_json(self) -> dict[str, Json]:
        """Each figure as `{mean, lower, upper, count}`, and the number of items in each state."""
        named: dict[str, Json] = {name: asdict(self.named(name)) for name in (*SCORES, "unsure")}
        return {**named, "states": {state.value: self.states.get(state, 0) for state in ItemState}}


def figures(scores: Sequence[Scored]) -> RunFigures:
    """The figures of the items of a run."""
    states = Counter(one.state for one in scores)
    graded = [one for one in scores if one.state is ItemState.GRADED]
    means = {
        name: mean([value for one in graded if (value := getattr(one, name)) is not None], scale)
        for name, scale in SCORES.items()
    }
    unsure, judged = (sum(getattr(one, name) for one in scores) for name in ("is_unsure", "is_judged"))
    return RunFigures(**means, unsure=share_of(unsure, judged), states=states)


def mean(values: Sequence[float], scale: tuple[float, float]) -> Mean:
    """The mean of these values with its interval; `scale` is the least and the most that a value can be."""
    count = len(values)
    return mean_of(count, fmean(values) if count else None, stdev(values) if count >= _FEWEST else None, scale)


def mean_of(count: int, middle: float | None, deviation: float | None, scale: tuple[float, float]) -> Mean:
    """A mean with Student's interval, within the scale: x̄ ± t · s / √n with n − 1 degrees of freedom."""
    if middle is None or deviation is None:
        return Mean(mean=middle, lower=None, upper=None, count=count)
    margin, (least, most) = student_quantile(count - 1) * deviation / sqrt(count), scale
    return Mean(mean=middle, lower=max(middle - margin, least), upper=min(middle + margin, most), count=count)


def student_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """The t that Student's t exceeds in absolute value with a chance of 1 − `confidence`, by bisection."""
    low, high = 0.0, _HIGHEST_T
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, freedom) > (1 - confidence) / 2 else (low, middle)
    return high


def share_of(unsure: int, judged: int) -> Mean:
    """The share of the judged items that are not sure, with Wilson's interval."""
    if not judged:
        return Mean(mean=None, lower=None, upper=None, count=0)
    lower, upper = wilson(unsure, judged)
    return Mean(mean=unsure / judged, lower=lower, upper=upper, count=judged)
