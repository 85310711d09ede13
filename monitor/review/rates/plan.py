"""The plan of a period's labels: which answers it is about, how they were divided, and which of them were drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitor.review.rates import judged, strata

FEWEST = 500  # answers; of fewer, labels are drawn at random
SPEAKS = 2  # the judge is of use if it has spoken of so many answers for each label,
FEWEST_JUDGED = 200  # and of so many altogether


class Draw(StrEnum):
    """How the labels of a plan are drawn."""

    STRATA = "strata"  # at random within strata of the score
    JUDGE = "judge"  # at random within strata of the score and what the judge says of a random sample
    RANDOM = "random"  # at random from all answers


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What a person asks for: at most `labels` of the app's answers of [since, until).

    `guaranteed` draws at random from all answers. `judge_share` is the share of answers, in [0, 1], that the judge
    reads by chance alone.
    """

    app: str
    since: datetime
    until: datetime
    labels: int
    guaranteed: bool
    judge_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of the frame, from which its own number of answers is drawn at random.

    `answers` counts those of its stratum, `lowest` is the lowest score there. With `Draw.JUDGE` the part is a cell:
    `judged` of the stratum's random sample, of which the judge `says` the same.
    """

    stratum: int
    answers: int
    lowest: float
    says: str | None = None
    judged: int | None = None

    @property
    def size(self) -> int:
        """How many answers there are to draw from."""
        return self.answers if self.judged is None else self.judged

    @property
    def expected(self) -> float:
        """The rate that the allocation of labels reckons with."""
        if self.says is None:
            return strata.EXPECTED[self.stratum]
        return judged.EXPECTED[self.stratum][judged.SAYS.index(self.says)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An answer to label: its place in the draw and its part."""

    place: int
    part: int
    app: str
    id: str
    occurred_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Labels drawn for the answers of `app` in [since, until), as they were assessed when it was made.

    `frame` is the SHA-256 of the frame's answers in the order of the draw; together with `seed`, which decides that
    order, and `parts` it lets anyone draw the same `items` again.
    """

    number: int
    app: str
    since: datetime
    until: datetime
    draw: Draw
    seed: str
    frame: str
    answers: int
    parts: Sequence[Part]
    items: Sequence[Item]
    made_by: str
    made_at: datetime

    @property
    def judged(self) -> int:
        """The answers of the judge's random sample of which it has spoken, where labels are drawn by what it says."""
        return sum(part.judged or 0 for part in self.parts if part.says != "nothing")

    @property
    def judged_share(self) -> float:
        """`judged` as a share of all answers, in [0, 1]."""
        return self.judged / self.answers if self.answers else 0.0


def way(answers: int, judged_answers: int, labels: int, *, guaranteed: bool) -> Draw:
    """How to draw so many `labels`; `judged_answers` of the judge's random sample have its word."""
    if guaranteed or answers < FEWEST:
        return Draw.RANDOM
    return Draw.JUDGE if judged_answers >= max(SPEAKS * labels, FEWEST_JUDGED) else Draw.STRATA


def turns(draw: Draw, parts: Sequence[Part], labels: int) -> list[int]:
    """The part of each of at most `labels` items, in the order in which they are to be labelled."""
    room = [part.size for part in parts]
    if draw is Draw.RANDOM:
        return [0] * min(labels, sum(room))
    sampled = Counter[int]()
    for part in parts:
        sampled[part.stratum] += part.size
    weights = [part.answers * part.size / sampled[part.stratum] for part in parts]
    return strata.turns(labels, room, weights, [part.expected for part in parts])
