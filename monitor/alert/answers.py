"""Single answers for methods that judge them one by one, in the order in which they were listed as new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from itertools import pairwise
from math import log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

BINS = 256  # of a history; ties within a bin are broken by chance, so a coarse bin costs power, never the promise
_LOGIT_LIMIT = 6.4  # probabilities beyond ±6.4 on the logit scale share the last bins
_SIXTY_FOUR_BITS = 2.0**64
OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAnswer:
    """One new answer. Answers of one conversation share a `place`; places rise in the order of the list.

    `value` is the signal's: a probability (score), 0 or 1 (refusal), a similarity (sdq, qrd). `chance` is uniform in
    [0, 1) and breaks ties; it follows from the identity of the answer, so that reading again gives it again.
    """

    place: int
    labels: Mapping[str, str]
    topic: str
    at: datetime
    value: float
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAnswers:
    """New answers in the order of their places, whole conversations only; `through` is the last place read."""

    answers: Sequence[ListedAnswer]
    through: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBatch:
    """Answers of one source as columns of equal length n; rows of one unit (a conversation, or an answer) are adjacent.

    `bins` rise with how bad the answer is, `units` are 0, 0, 1, 2, …, `weights` add up to 1 in each unit, `at` is in
    seconds since 1970.
    """

    bins: Ints
    units: Ints
    weights: Floats
    chances: Floats
    topics: tuple[str, ...]
    at: Floats

    def __len__(self) -> int:
        return len(self.bins)

    def part(self, start: int, end: int) -> AnswerBatch:
        """The rows from `start` to before `end`, which cut no unit in two."""
        return AnswerBatch(
            bins=self.bins[start:end],
            units=self.units[start:end] - self.units[start],
            weights=self.weights[start:end],
            chances=self.chances[start:end],
            topics=self.topics[start:end],
            at=self.at[start:end],
        )


def chance_of(app: str, interaction_id: str) -> float:
    """A number in [0, 1) that follows from the identity of an answer."""
    digest = blake2b(f"{app}\0{interaction_id}".encode(errors="surrogatepass"), digest_size=8).digest()
    return min(int.from_bytes(digest) / _SIXTY_FOUR_BITS, 1 - 2**-53)


def bin_of(name: str, value: float) -> int:
    """The bin of a value of the signal `name`; a higher bin is worse."""
    match name:
        case "refusal":
            return int(value >= 0.5) * (BINS - 1)  # noqa: PLR2004  a refusal is 1, any other answer 0
        case "score":
            p = min(max(value, 1e-9), 1 - 1e-9)
            place = (log(p / (1 - p)) + _LOGIT_LIMIT) / (2 * _LOGIT_LIMIT)
        case _:
            place = (1 - value) / 2
    return min(max(int(place * BINS), 0), BINS - 1)


def by_source(
    answers: Sequence[ListedAnswer], by: Sequence[str], name: str, *, known: Collection[tuple[str, ...]], most: int
) -> dict[tuple[str, ...], AnswerBatch]:
    """The answers of each source: of each combination of the `by` labels, of which there are at most `most`.

    Where `known` and new ones together would be more, the answers of further ones count under `OTHER`.
    """
    places = set(known)
    rows: dict[tuple[str, ...], list[ListedAnswer]] = {}
    for answer in answers:
        source = tuple(answer.labels[label] for label in by)
        if source not in places:
            if len(places) >= most:
                source = (OTHER,) * len(by)
            places.add(source)
        rows.setdefault(source, []).append(answer)
    return {source: _batch(of_source, name) for source, of_source in rows.items()}


def _batch(rows: Sequence[ListedAnswer], name: str) -> AnswerBatch:
    sizes = Counter(row.place for row in rows)
    units = np.cumsum([0, *(int(after.place != row.place) for row, after in pairwise(rows))])
    return AnswerBatch(
        bins=np.array([bin_of(name, row.value) for row in rows], dtype=np.int64),
        units=units.astype(np.int64),
        weights=np.array([1 / sizes[row.place] for row in rows]),
        chances=np.array([row.chance for row in rows]),
        topics=tuple(row.topic for row in rows),
        at=np.array([row.at.timestamp() for row in rows]),
    )
