"""Counts of answers by hour and labels, as arrays, and their sums by the values of one label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

WEEKS: Final = 4  # the last one is the report's
DAY, WEEK = 24, 168  # hours
HOURS: Final = WEEKS * WEEK
WHOLE: Final = "app"  # in place of a label: all answers together
NEGATIVE, OFF_QUESTION = "negative", "retrieval_off_question"
SIGNALS: Final = ("self_generated", "refusal")  # of rises and levels
ALL_SIGNALS: Final = (NEGATIVE, *SIGNALS, OFF_QUESTION)  # of outages; `counts` has them all


class Slice(NamedTuple):
    """The answers with one value of a label, or all where `label` is WHOLE."""

    label: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """n rows of counts. `hour`, shape (n,), counts from the first hour of the four weeks; `counts` are of each signal.

    `labels` holds for each label the values of the rows as places in `values`.
    """

    hour: Ints
    total: Ints
    counts: Mapping[str, Ints]
    labels: Mapping[str, Ints]
    values: Mapping[str, tuple[str, ...]]

    def where(self, kept: Bools) -> Cells:
        """The rows with `kept`, shape (n,)."""
        return replace(
            self,
            hour=self.hour[kept],
            total=self.total[kept],
            counts={name: counts[kept] for name, counts in self.counts.items()},
            labels={name: places[kept] for name, places in self.labels.items()},
        )

    def within(self, its: Slice) -> Bools:
        """Which rows belong to the slice, shape (n,)."""
        if its.label == WHOLE:
            return np.ones(len(self.hour), bool)
        place = self.values[its.label].index(its.value)
        found: Bools = self.labels[its.label] == place
        return found

    def slices(self, label: str) -> list[Slice]:
        """The slices of a label, in the order of the rows of `by`."""
        return [Slice(label, value) for value in self.values[label]] if label != WHOLE else [Slice(WHOLE, "")]

    def by(self, label: str, signal: str, *, hours: int) -> tuple[Ints, Ints]:
        """Answers, and those with the signal: (values of the label, spans of `hours` hours)."""
        size = len(self.slices(label))
        places = self.labels[label] if label != WHOLE else np.zeros(len(self.hour), np.int64)
        spans = HOURS // hours
        cell = places * spans + self.hour // hours

        def summed(counts: Ints) -> Ints:
            return np.bincount(cell, counts, size * spans).astype(np.int64).reshape(size, spans)

        return summed(self.total), summed(self.counts[signal])
