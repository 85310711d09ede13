"""What an evaluation consists of; as JSON it has these names, which others rely on (docs/quality/evaluation.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Positive(StrEnum):
    """What counts as positive: a label other than grounded, or a question whose answer the documents do not hold."""

    NEGATIVE = "negative"
    UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure with its 95% interval, where it has one; without a value `reason` says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What one way of flagging reaches, with the F1 of flagging every row beside its own."""

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
    """Flagged when one of the metrics is below `threshold`, None being the profile's own one of each metric."""

    threshold: float | None
    metrics: str
    rates: Rates


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point of a ROC curve. The first one flags nothing and has no threshold.

    Flagged are, by the probability, the rows at or above `threshold`; by the rule, those at or below it.
    """

    fpr: float
    tpr: float
    threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindsight:
    """The best that one threshold reaches on these very rows: an upper bound, not what to expect of new ones."""

    value: float | None
    threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How well a score puts positive rows before the others.

    `by` is `probability`, 1 - P(grounded), or `rule`, the lowest primary metric. `points` are the corners of the ROC
    curve, none where it is undefined.
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
    """The rows of one generator, None for those that name none."""

    model: str | None
    verdict: Rates
    rule: Rates
    auc: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Refusals found `by` the verdict or the rule, `among` all rows or those with a negative label alone."""

    by: str
    among: str
    rates: Rates


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """Rows whose probability is in [low, high), with what was said on average and how often it came true."""

    low: float
    high: float
    rows: int
    mean_probability: float | None
    observed: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How far the probability of `outcome` can be taken at its word."""

    outcome: str
    mean_probability: float | None
    observed: float | None
    brier: Figure
    brier_of_observed: float | None  # of giving every row the observed share
    ece: float | None
    ece_if_perfect: float | None
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Every table for one set of rows. `confusion` is {verdict|rule: {label: {verdict: rows}}}."""

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
    """The profile that the verdicts were given under."""

    name: str
    hash: str
    embedding_model: str
    calibrated: bool
    on_its_own_labels: bool  # it was fitted to the very rows that it is judged on


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """One run of `monitor evaluate`.

    `left_out` rows do not say whether they are answerable where that was asked. `drawn` counts the rows that
    `monitor review` offered, by why it did. `random` has those alone that nothing but chance has chosen, None where
    there are none, or no others.
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
    """One bin: what was said on average, how often it came true (with its interval, if there is one), how many rows."""

    said: float
    observed: float
    low: float | None
    high: float | None
    rows: int
