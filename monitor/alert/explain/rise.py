"""Finds where bad answers have risen: everywhere, or for one value of a few dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitor.alert.explain.answer import AnswerRow
from monitor.alert.explain.dimensions import Dimension, Rows
from monitor.alert.explain.finding import Value
from monitor.core.figures.proportions import Share, greater_in_strata

DIMENSIONS = ("topic", "model", "prompt_version", "environment", "app")  # a tie goes to the first
FALSE_NAMING = 0.001  # accepted chance of finding a rise anywhere when nothing changed
FEWEST = 10  # answers of a place, and of the past of a topic
LEAST_RISE = 0.03  # of the answers of a place; a smaller rise is no incident
_CONFINED = 0.7  # of the whole rise: a place with less does not explain it
_OUTSIDE = 0.25  # of the rise within: a place outside which answers got worse by more is not the place

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The answers of one value, or of all: indexes into the window, and into the baseline those to compare with.

    `where` is None for all answers. `new`: the value hardly occurred before, so that they are compared with the past of
    all. `rise` is the number of bad answers beyond those that the same topics had before; `p` is its chance.
    """

    where: Value | None
    new: bool
    rows: Rows
    before: Rows
    rise: float
    p: float

    @property
    def rate(self) -> float:
        """The rise as a share of the answers."""
        return self.rise / len(self.rows) if len(self.rows) else 0.0


def place_of_rise(
    window: Sequence[AnswerRow], baseline: Sequence[AnswerRow], dimensions: Iterable[Dimension]
) -> tuple[Place | None, int]:
    """The place to which a clear rise of bad answers is confined, if there is one, and how many places were looked at.

    Each place is tested exactly, topic by topic, so that a change of topics is no rise. With m places, Bonferroni's
    inequality bounds the chance of finding any at `FALSE_NAMING` if nothing changed: m · p ≤ `FALSE_NAMING`.
    """
    now, then = _Side(window), _Side(baseline)
    if not len(now.bad) or len(then.bad) < FEWEST:
        return None, 0
    everything = _place(None, now, then, np.arange(len(now.bad)), np.arange(len(then.bad)))
    places = [everything, *_places(dimensions, now, then)]
    clear = [each for each in places if each.p * len(places) <= FALSE_NAMING]
    confined = [each for each in clear if each.where is not None and _is_confined(each, everything)]
    if confined:
        return min(confined, key=lambda each: len(each.rows)), len(places)
    if everything in clear:
        return everything, len(places)
    return max(clear, key=lambda each: each.rise, default=None), len(places)


class _Side:
    """What the test reads of the answers of one side."""

    def __init__(self, rows: Sequence[AnswerRow]) -> None:
        self.bad: Bools = np.array([is_bad(row) for row in rows], bool)
        self.topics = np.array([row.topic or "" for row in rows], object)

    def share(self, rows: Rows) -> Share:
        return Share(matching=int(self.bad[rows].sum()), total=len(rows))


def is_bad(row: AnswerRow) -> bool:
    """Whether the answer is a refusal or self-generated, whatever the signal of the alert is."""
    return row.verdict != "grounded"


def _places(dimensions: Iterable[Dimension], now: _Side, then: _Side) -> Iterator[Place]:
    known = {dimension.name: dimension for dimension in dimensions}
    for name in DIMENSIONS:
        for value, rows in known[name].rows.items() if name in known else ():
            if FEWEST <= len(rows) < len(now.bad):
                yield _place(Value(dimension=name, value=value), now, then, rows, known[name].earlier(value))


def _place(where: Value | None, now: _Side, then: _Side, rows: Rows, before: Rows) -> Place:
    new = len(before) < FEWEST
    if new:
        before = np.arange(len(then.bad))
    strata = list(_strata(now, then, rows, before))
    rise = sum(part.matching - part.total * past.rate for part, past in strata)
    p = greater_in_strata(strata) if rise >= LEAST_RISE * len(rows) else 1.0
    return Place(where=where, new=new, rows=rows, before=before, rise=rise, p=p)


def _strata(now: _Side, then: _Side, rows: Rows, before: Rows) -> Iterator[tuple[Share, Share]]:
    """Each topic now and before; those without a past are one stratum, compared with the past of all."""
    others = []
    topics, topics_before = now.topics[rows], then.topics[before]
    for topic in sorted(set(topics)):
        part, past = rows[topics == topic], before[topics_before == topic]
        if len(past) >= FEWEST:
            yield now.share(part), then.share(past)
        else:
            others.append(part)
    if others:
        yield now.share(np.concatenate(others)), then.share(before)


def _is_confined(place: Place, everything: Place) -> bool:
    outside = (everything.rise - place.rise) / (len(everything.rows) - len(place.rows))
    return place.rise >= _CONFINED * everything.rise and outside <= _OUTSIDE * place.rate
