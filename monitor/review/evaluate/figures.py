"""The figures of an evaluation. Its JSON has these names, and others rely on them (docs/quality/evaluation.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Positive(StrEnum):
    """What counts as positive: a negative label, or a question whose answer the documents do not hold."""

    NEGATIVE = "negative"
    UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure with its 95% interval, if it has one; `reason` says why there is no value."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What one way of flagging achieves, and for comparison the F1 of flagging every row."""

    rows: int
    positives: int
    flagged: int
    accuracy: Figure
    precision: Figure
    recall: Figure
    f1: Figure
    f2: Figure
    f1_flag_everything: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The rates of flagging rows with any of the metrics below `threshold`; None means the profile's thresholds."""

    threshold: float | None
    metrics: str
    rates: Rates


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point of a ROC curve. The first point flags nothing and has no threshold.

    A ranking by probability flags the rows at or above `threshold`, one by the rule those at or below it.
    """

    fpr: float
    tpr: float
    threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindsight:
    """The best that one threshold achieves on these very rows: an upper bound, not what to expect of new rows."""

    value: float | None
    threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How well a score puts positive rows before the others.

    `by` is `probability`, 1 - P(grounded), or `rule`, the lowest primary metric. `points` are the corners of the ROC
    curve; empty if it is undefined.
    """

    positive: str
    by: str
    positives: int
    others: int
    auc: Figure
    average_precision: Figure
    best_f1: Hindsight
    recall_at_precision_90: Hindsight
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfModel:
    """The figures for the rows of one generator, None for rows that name none."""

    model: str | None
    verdict: Rates
    rule: Rates
    auc: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Refusals found `by` the verdict or the rule, `among` all rows or only those with a negative label."""

    by: str
    among: str
    rates: Rates


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """Rows whose probability is in [low, high), with their mean probability and the share observed."""

    low: float
    high: float
    rows: int
    mean_probability: float | None
    observed: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How well the probability of `outcome` matches what is observed."""

    outcome: str
    mean_probability: float | None
    observed: float | None
    brier: Figure
    brier_of_observed: float | None  # Brier score of giving every row the observed share
    ece: float | None
    ece_if_perfect: float | None
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """All figures for one set of rows. `confusion` is {verdict|rule: {label: {verdict: rows}}}."""

    rows: int
    groups: int
    labels: Mapping[str, int]
    verdict: Rates
    rule: Rates
    ranking: tuple[Ranking, ...]
    thresholds: tuple[Threshold, ...]
    metrics_alone: tuple[Threshold, ...]
    models: tuple[OfModel, ...]
    refusals: tuple[Refusals, ...]
    confusion: Mapping[str, Mapping[str, Mapping[str, int]]]
    calibration: tuple[Calibration, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileUsed:
    """The profile that gave the verdicts."""

    name: str
    hash: str
    embedding_model: str
    calibrated: bool
    on_its_own_labels: bool  # it was fitted to the very rows that it is measured on


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """One run of `monitor evaluate`.

    `left_out` counts rows that do not tell whether they are answerable, if that is asked. `drawn` counts the rows that
    `monitor review` offered, by reason. `random` covers only the rows drawn at random; None if there are none, or no
    others.
    """

    files: tuple[str, ...]
    positive: Positive
    profile: ProfileUsed
    draws: int
    seed: int
    left_out: int
    drawn: Mapping[str, int]
    all: Evaluation
    random: Evaluation | None


XY: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityPoint:
    """One bin: its mean probability `said`, the share `observed` with its interval if there is one, and its rows."""

    said: float
    observed: float
    low: float | None
    high: float | None
    rows: int
