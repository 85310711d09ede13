"""How one claim goes through a model: units of its answer against windows of its documents, and what that comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitor.assess.detect.detection import DetectedSpan, Detection
from monitor.core.text.sentences import Span

TokenIds = NDArray[np.int32]
Probabilities = NDArray[np.float32]

_HALF = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input of the model, without special tokens: the first sequence in parts, and the second."""

    first: tuple[TokenIds, ...]
    second: TokenIds

    @property
    def size(self) -> int:
        """Tokens of both sequences."""
        return sum(map(len, self.first)) + len(self.second)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitGroup:
    """Units that are judged together: their answer offsets, empty for one that cannot be wrong, and their tokens."""

    units: tuple[Span, ...]
    tokens: TokenIds


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimInputs:
    """Every group against every window; input i holds group `i // len(windows)` and window `i % len(windows)`.

    `joined` says whether units in a row that are not carried make one span.
    """

    groups: tuple[UnitGroup, ...]
    windows: tuple[tuple[TokenIds, ...], ...]
    joined: bool

    @property
    def count(self) -> int:
        """How many inputs that makes."""
        return len(self.groups) * len(self.windows)

    @property
    def inputs(self) -> list[Input]:
        """What the model has to read."""
        return [Input(first=window, second=group.tokens) for group in self.groups for window in self.windows]


def conclude(reading: ClaimInputs, uncarried: Sequence[Probabilities]) -> Detection | None:
    """What the model's readings of one claim come to; None where the model gave no number.

    A unit is carried if any window carries it: its probability is the minimum over the windows. The answer's is the
    maximum over its units.

    Args:
        reading: with at least one window, and a unit that is not empty.
        uncarried: for each of the reading's inputs the probability of each of its units not to be carried.
    """
    count = len(reading.windows)
    by_group = [np.min(uncarried[start : start + count], axis=0) for start in range(0, reading.count, count)]
    found = np.concatenate(by_group)
    units = [unit for group in reading.groups for unit in group.units]
    judged = [(unit, float(value)) for unit, value in zip(units, found, strict=True) if unit[1] > unit[0]]
    score = float(np.max([value for _, value in judged]))  # NaN if any is
    if np.isnan(score):
        return None
    return Detection(score=score, spans=tuple(_spans(judged, joined=reading.joined)))


def _spans(judged: Sequence[tuple[Span, float]], *, joined: bool) -> list[DetectedSpan]:
    spans: list[DetectedSpan] = []
    going_on = False
    for (start, end), value in judged:
        if value > _HALF:
            # two tokens of one character, as byte-level tokenisers make them, share its offsets
            if spans and ((going_on and joined) or start < spans[-1].end):
                last = spans.pop()
                start, end, value = last.start, max(end, last.end), max(value, last.probability)  # noqa: PLW2901
            spans.append(DetectedSpan(start=start, end=end, probability=value))
        going_on = value > _HALF
    return spans
