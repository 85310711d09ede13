"""How one claim goes through a model: units of its answer against windows of its documents, and the conclusion."""

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
    """One input of the model, without special tokens: the parts of the first sequence, and the second sequence."""

    first: tuple[TokenIds, ...]
    second: TokenIds

    @property
    def size(self) -> int:
        """The number of tokens of both sequences."""
        return sum(map(len, self.first)) + len(self.second)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitGroup:
    """Units that are judged together: their offsets in the answer and their tokens. An empty unit cannot be wrong."""

    units: tuple[Span, ...]
    tokens: TokenIds


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimInputs:
    """Every group against every window: input i holds group `i // len(windows)` and window `i % len(windows)`.

    `joined` says whether neighbouring units that are not carried make one span.
    """

    groups: tuple[UnitGroup, ...]
    windows: tuple[tuple[TokenIds, ...], ...]
    joined: bool

    @property
    def count(self) -> int:
        return len(self.groups) * len(self.windows)

    @property
    def inputs(self) -> list[Input]:
        return [Input(first=window, second=group.tokens) for group in self.groups for window in self.windows]


def conclude(claim: ClaimInputs, uncarried: Sequence[Probabilities]) -> Detection | None:
    """The detection for one claim; None if the model returned a value that is not a number.

    A unit is carried if any window carries it: its probability is the minimum over the windows. The probability of the
    answer is the maximum over its units.

    Args:
        claim: the inputs, with at least one window and at least one unit that is not empty.
        uncarried: for each input, the probability of each of its units that the window does not carry it.
    """
    count = len(claim.windows)
    by_group = [np.min(uncarried[start : start + count], axis=0) for start in range(0, claim.count, count)]
    found = np.concatenate(by_group)
    units = [unit for group in claim.groups for unit in group.units]
    judged = [(unit, float(value)) for unit, value in zip(units, found, strict=True) if unit[1] > unit[0]]
    score = float(np.max([value for _, value in judged]))  # NaN if any is
    if np.isnan(score):
        return None
    return Detection(score=score, spans=tuple(_spans(judged, joined=claim.joined)))


def _spans(judged: Sequence[tuple[Span, float]], *, joined: bool) -> list[DetectedSpan]:
    spans: list[DetectedSpan] = []
    continues = False
    for (start, end), value in judged:
        if value > _HALF:
            span = DetectedSpan(start=start, end=end, probability=value)
            # byte-level tokenisers make several tokens of one character, which share its offsets
            if spans and ((continues and joined) or start < spans[-1].end):
                span = _joined(spans.pop(), span)
            spans.append(span)
        continues = value > _HALF
    return spans


def _joined(left: DetectedSpan, right: DetectedSpan) -> DetectedSpan:
    return DetectedSpan(
        start=left.start, end=max(left.end, right.end), probability=max(left.probability, right.probability)
    )
