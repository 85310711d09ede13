"""Computes the overview's figures from counted cells: spans and bins, shares with intervals, and changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import log10, sqrt

from monitor.core.model import Verdict
from monitor.core.proportions import wilson
from monitor.core.verdict_counts import Verdicts
from monitor.report.charts.rates import Answers, RatePoint, TrueRate
from monitor.review.rates.estimate import Rate
from monitor.review.rates.plan import Plan
from monitor.store.database import TakesTooLong
from monitor.store.interaction.overview import Cell, OverviewStore
from monitor.store.tables.interactions import OTHER

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_GROUPS = 60  # rows of a table
_MAX_TOPICS = 12
NAMES = {Verdict.REFUSAL: "refusal", Verdict.SELF_GENERATED: "self-generated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A length of time that people can choose, divided into bins."""

    name: str
    length: timedelta
    bin: timedelta

    @property
    def days(self) -> bool:
        """Whether charts label its times by day."""
        return self.length > timedelta(days=1)

    def around(self, now: datetime) -> tuple[datetime, datetime]:
        """Start and end of the span in whole bins; the last bin contains `now`."""
        end = now - (now - _EPOCH) % self.bin + self.bin
        return end - self.length, end


SPANS: Mapping[str, Span] = {
    "1h": Span(name="1 hour", length=timedelta(hours=1), bin=timedelta(minutes=5)),
    "24h": Span(name="24 hours", length=timedelta(days=1), bin=timedelta(hours=1)),
    "7d": Span(name="7 days", length=timedelta(days=7), bin=timedelta(hours=6)),
    "28d": Span(name="28 days", length=timedelta(days=28), bin=timedelta(days=1)),
}
DEFAULT_SPAN = "24h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The difference of a share from the span before; `clear` when chance alone would rarely cause it."""

    difference: float
    clear: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCounts:
    """Counts of a group of answers, now and in the span before."""

    key: tuple[str, ...]
    now: Verdicts
    before: Verdicts

    def change(self, name: str) -> Change | None:
        return rate_change(self.now, self.before, name)


def rate_change(now: Verdicts, before: Verdicts, name: str) -> Change | None:
    """The share `name` now minus before; None when one of them counts no answers.

    A change is clear when Newcombe's 95 % interval excludes 0: d − √((p₁ − l₁)² + (u₂ − p₂)²) to
    d + √((u₁ − p₁)² + (p₂ − l₂)²) from the Wilson intervals of both (Statistics in Medicine 17 (1998), 873–890).
    """
    interval, interval_before = now.interval(name), before.interval(name)
    p1, p2 = now.share(name), before.share(name)
    if interval is None or interval_before is None or p1 is None or p2 is None:
        return None
    d = p1 - p2
    low = d - sqrt((p1 - interval[0]) ** 2 + (interval_before[1] - p2) ** 2)
    high = d + sqrt((interval[1] - p1) ** 2 + (p2 - interval_before[0]) ** 2)
    return Change(difference=d, clear=low > 0 or high < 0)


def total_counts(cells: Iterable[Cell]) -> Verdicts:
    return sum((_counts(cell) for cell in cells), Verdicts())


def group_cells(cells: Iterable[Cell], split: datetime, key: Callable[[Cell], tuple[str, ...]]) -> list[GroupCounts]:
    """Counts by `key`, from `split` on and before it; most answers first, at most `_MAX_GROUPS`."""
    now: defaultdict[tuple[str, ...], Verdicts] = defaultdict(Verdicts)
    before: defaultdict[tuple[str, ...], Verdicts] = defaultdict(Verdicts)
    for cell in cells:
        side = now if cell.at >= split else before
        side[key(cell)] += _counts(cell)
    found = [GroupCounts(key=name, now=now[name], before=before[name]) for name in {*now, *before}]
    return sorted(found, key=lambda group: (-group.now.total, group.key))[:_MAX_GROUPS]


def counted_topics(store: OverviewStore, span: Span, now: datetime, app: str | None) -> list[GroupCounts] | None:
    """The leading topics of the span up to `now` against the span before; None if counting them takes too long.

    The rest of the overview is worth showing without them.
    """
    start, end = span.around(now)
    try:
        here = store.topics(start, end, span.bin, now=now, app=app)
        before = store.topics(start - span.length, start, span.bin, now=now, app=app)
    except TakesTooLong:
        return None
    return leading_topics(here, before)


def leading_topics(now: Mapping[str, Verdicts], before: Mapping[str, Verdicts]) -> list[GroupCounts]:
    """The topics with the most negative answers now, at most `_MAX_TOPICS`, and all others as `OTHER`.

    Answers without a topic are the group of the key ''. Empty if no answer has a topic.
    """
    known = {topic for topic in {*now, *before} if topic not in ("", OTHER)}
    if not known:
        return []
    groups = [_topic((topic,), [topic], now, before) for topic in known]
    groups.sort(key=lambda group: (-group.now.negative, -group.now.total, group.key))
    rest = [*(group.key[0] for group in groups[_MAX_TOPICS:]), OTHER]
    others = [_topic((OTHER,), rest, now, before), _topic(("",), [""], now, before)]
    return [*groups[:_MAX_TOPICS], *(group for group in others if group.now.total or group.before.total)]


def _topic(
    key: tuple[str, ...], topics: Sequence[str], now: Mapping[str, Verdicts], before: Mapping[str, Verdicts]
) -> GroupCounts:
    def total(counted: Mapping[str, Verdicts]) -> Verdicts:
        return sum((counted.get(topic, Verdicts()) for topic in topics), Verdicts())

    return GroupCounts(key=key, now=total(now), before=total(before))


def chart_points(cells: Sequence[Cell], bin_: timedelta) -> tuple[tuple[RatePoint, ...], tuple[Answers, ...]]:
    """The points of the charts, in the middle of each bin.

    Shares are in per mille and totals have two digits, so that small changes need no new drawing.
    """
    by_bin: defaultdict[datetime, Verdicts] = defaultdict(Verdicts)
    for cell in cells:
        by_bin[cell.at + bin_ / 2] += _counts(cell)
    rates = [
        RatePoint(
            chart_time(at),
            NAMES[verdict],
            *(round(1000 * value) for value in (counts.share(verdict) or 0.0, low, high)),
        )
        for at, counts in sorted(by_bin.items())
        if counts.total
        for verdict in NAMES
        for low, high in [wilson(getattr(counts, verdict), counts.total)]
    ]
    return tuple(rates), tuple(Answers(chart_time(at), _rough(counts.total)) for at, counts in sorted(by_bin.items()))


def true_rates(
    known: Iterable[tuple[Plan, Mapping[str, Rate]]], start: datetime, end: datetime
) -> tuple[TrueRate, ...]:
    """The intervals that labels give, by period, cut to [start, end); without those of plans that have no label."""
    return tuple(
        TrueRate(
            chart_time(max(plan.since, start)),
            chart_time(min(plan.until, end)),
            NAMES[verdict],
            *(round(1000 * value) for value in (rates[verdict].lower, rates[verdict].upper)),
        )
        for plan, rates in known
        for verdict in NAMES
        if rates[verdict].labels
    )


def chart_time(moment: datetime) -> str:
    """A time in the format that the charts read."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"


def _counts(cell: Cell) -> Verdicts:
    return Verdicts(grounded=cell.grounded, refusal=cell.refusal, self_generated=cell.self_generated)


def _rough(number: int) -> int:
    """`number` to two digits: nobody can see a smaller difference between bars."""
    unit = 10 ** max(int(log10(number)) - 1, 0) if number > 0 else 1
    return round(number / unit) * unit
