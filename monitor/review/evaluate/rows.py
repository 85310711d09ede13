"""Holds labelled rows and their assessments as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from monitor.assess.classify.verdict import PRIMARY
from monitor.core.model import Assessment, Verdict
from monitor.review.evaluate.labels import Labelled
from monitor.review.evaluate.statistics import Bools, Floats

METRICS = (*PRIMARY, "qrd", "qa")
RANDOM = "random"  # how `monitor review` marks rows drawn at random

Strings: TypeAlias = NDArray[np.str_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """n rows in order; n is the first dimension of every array.

    `metrics` are the values that the profile compared, in the order of METRICS, NaN if undefined. `probabilities` are
    in the order of `Verdict`. `model` is empty if the event names none. `answerable` is False if it is not known
    (`answerable_known`).
    """

    label: Strings
    verdict: Strings
    rule_verdict: Strings
    metrics: Floats
    probabilities: Floats
    group: Strings
    model: Strings
    answerable: Bools
    answerable_known: Bools
    drawn: Strings

    def __len__(self) -> int:
        return len(self.label)

    @property
    def negative_label(self) -> Bools:
        """Whether each row is labelled refusal or self-generated."""
        return np.asarray(self.label != Verdict.GROUNDED)

    def where(self, keep: Bools) -> Measured:
        return Measured(**{field.name: getattr(self, field.name)[keep] for field in fields(self)})

    def below(self, names: Sequence[str], thresholds: Sequence[float]) -> Bools:
        """Whether at least one of the metrics is below its threshold; undefined metrics are not compared."""
        places = [METRICS.index(name) for name in names]
        return np.asarray((self.metrics[:, places] < np.array(thresholds)).any(axis=1))

    def worst(self, names: Sequence[str]) -> Floats:
        """The lowest of the metrics, 1 if none is defined: such a row is below no threshold."""
        places = [METRICS.index(name) for name in names]
        return np.asarray(np.nan_to_num(self.metrics[:, places], nan=1.0).min(axis=1))


def measure(rows: Sequence[Labelled], assessments: Sequence[Assessment]) -> Measured:
    """One row for each label and its assessment, in order."""
    return Measured(
        label=_strings([row.label for row in rows]),
        verdict=_strings([a.verdict for a in assessments]),
        rule_verdict=_strings([a.rule_verdict for a in assessments]),
        metrics=_table([[getattr(a.metrics, name) for name in METRICS] for a in assessments], len(METRICS)),
        probabilities=_table([[getattr(a.probabilities, v) for v in Verdict] for a in assessments], len(Verdict)),
        group=_strings([row.group for row in rows]),
        model=_strings([row.interaction.model or "" for row in rows]),
        answerable=np.array([row.answerable is True for row in rows], bool),
        answerable_known=np.array([row.answerable is not None for row in rows], bool),
        drawn=_strings([row.drawn or "" for row in rows]),
    )


def _strings(values: Sequence[str]) -> Strings:
    return np.array([str(value) for value in values], np.str_)


def _table(values: Sequence[Sequence[float | None]], width: int) -> Floats:
    return np.array(values, np.float64).reshape(len(values), width)  # None becomes NaN
