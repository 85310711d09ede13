"""The overview's figures from counted cells: spans and their bins, shares with intervals, what has changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import log10, sqrt

from monitor.core.model import Verdict
from monitor.core.proportions import wilson
from monitor.core.verdict_counts import Verdicts
from monitor.report.charts.rates import Answers, RatePoint
from monitor.store.interaction.overview import Cell

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_SHOWN = 60  # rows of a table
NAMES = {Verdict.REFUSAL: "refusal", Verdict.SELF_GENERATED: "self-generated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A length of time that people may choose, cut into bins."""

    name: str
    length: timedelta
    bin: timedelta

    @property
    def days(self) -> bool:
        """Whether its times are told by day."""
        return self.length > timedelta(days=1)

    def around(self, now: datetime) -> tuple[datetime, datetime]:
        """Start and end: whole bins, the last of which `now` lies in."""
        end = now - (now - _EPOCH) % self.bin + self.bin
        return end - self.length, end


SPANS: Mapping[str, Span] = {
    "1h": Span(name="1 hour", length=timedelta(hours=1), bin=timedelta(minutes=5)),
    "24h": Span(name="24 hours", length=timedelta(days=1), bin=timedelta(hours=1)),
    "7d": Span(name="7 days", length=timedelta(days=7), bin=timedelta(hours=6)),
    "28d": Span(name="28 days", length=timedelta(days=28), bin=timedelta(days=1)),
}
USUAL = "24h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How a share differs from the span before; `clear` where chance alone would rarely do that."""

    difference: float
    clear: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One row of a table: what it is of, now and before."""

    key: tuple[str, ...]
    now: Verdicts
    before: Verdicts

    def change(self, name: str) -> Change | None:
        """See `changed`."""
        return changed(self.now, self.before, name)


def changed(now: Verdicts, before: Verdicts, name: str) -> Change | None:
    """Of the share `name`, now less before; None where one of them is of nothing.

    It is clear where Newcombe's interval at 95 % leaves 0 out: d − √((p₁ − l₁)² + (u₂ − p₂)²) to
    d + √((u₁ − p₁)² + (p₂ − l₂)²) from the Wilson intervals of both (Statistics in Medicine 17 (1998), 873–890).
    """
    one, other = now.interval(name), before.interval(name)
    p1, p2 = now.share(name), before.share(name)
    if one is None or other is None or p1 is None or p2 is None:
        return None
    d = p1 - p2
    low = d - sqrt((p1 - one[0]) ** 2 + (other[1] - p2) ** 2)
    high = d + sqrt((one[1] - p1) ** 2 + (p2 - other[0]) ** 2)
    return Change(difference=d, clear=low > 0 or high < 0)


def summed(cells: Iterable[Cell]) -> Verdicts:
    """All of them together."""
    return sum((_counts(cell) for cell in cells), Verdicts())


def groups(cells: Iterable[Cell], split: datetime, key: Callable[[Cell], tuple[str, ...]]) -> list[Group]:
    """By `key`, what came from `split` on against what came before it; most answers first, at most `_MOST_SHOWN`."""
    now: defaultdict[tuple[str, ...], Verdicts] = defaultdict(Verdicts)
    before: defaultdict[tuple[str, ...], Verdicts] = defaultdict(Verdicts)
    for cell in cells:
        side = now if cell.at >= split else before
        side[key(cell)] += _counts(cell)
    found = [Group(key=its, now=now[its], before=before[its]) for its in {*now, *before}]
    return sorted(found, key=lambda group: (-group.now.total, group.key))[:_MOST_SHOWN]


def points(cells: Sequence[Cell], bin_: timedelta) -> tuple[tuple[RatePoint, ...], tuple[Answers, ...]]:
    """What the charts draw, in the middle of each bin.

    Shares are in per mille, totals have two digits, so that small news need no new drawing.
    """
    by_bin: defaultdict[datetime, Verdicts] = defaultdict(Verdicts)
    for cell in cells:
        by_bin[cell.at + bin_ / 2] += _counts(cell)
    rates = [
        RatePoint(
            told(at), NAMES[verdict], *(round(1000 * value) for value in (counts.share(verdict) or 0.0, low, high))
        )
        for at, counts in sorted(by_bin.items())
        if counts.total
        for verdict in NAMES
        for low, high in [wilson(getattr(counts, verdict), counts.total)]
    ]
    return tuple(rates), tuple(Answers(told(at), _rough(counts.total)) for at, counts in sorted(by_bin.items()))


def told(moment: datetime) -> str:
    """As the charts read times."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"


def _counts(cell: Cell) -> Verdicts:
    return Verdicts(grounded=cell.grounded, refusal=cell.refusal, self_generated=cell.self_generated)


def _rough(number: int) -> int:
    """To two digits, more than can be told apart on a bar."""
    unit = 10 ** max(int(log10(number)) - 1, 0) if number > 0 else 1
    return round(number / unit) * unit
