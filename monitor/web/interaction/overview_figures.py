"""Computes the overview's figures from counted cells: spans and bins, shares with intervals, and changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import log10
from typing import TypeAlias

from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.proportions import Share, two_sided, wilson
from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Verdict
from monitor.report.charts.rates import Answers, RatePoint, TrueRate
from monitor.report.weekly.compare import UNCLEAR, as_full, judged
from monitor.review.rates.estimate import Rate
from monitor.review.rates.plan import Plan
from monitor.store.database import TakesTooLong
from monitor.store.interaction.overview import Cell, OverviewStore
from monitor.store.tables.interactions import OTHER

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE = timedelta(minutes=1)
_FULLNESS = timedelta(minutes=5)  # finer bins are often empty by chance, and say less of how full a span was
Groups: TypeAlias = Mapping[tuple[str, ...], Verdicts]
Key: TypeAlias = Callable[[tuple[str, ...]], tuple[str, ...]]
Bins: TypeAlias = defaultdict[tuple[str, ...], set[datetime]]
MAX_GROUPS = 60  # rows of a table or list
_MAX_TOPICS = 12
NAMES = {Verdict.REFUSAL: "refusal", Verdict.SELF_GENERATED: "self-generated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A length of time that people can choose, divided into 24 to 30 bins: in the shortest, ten minutes are five."""

    name: str
    length: timedelta
    bin: timedelta

    @property
    def last(self) -> str:
        """As a sentence says it: the last hour, the last 7 days."""
        return "last " + self.name.removeprefix("1 ")

    @property
    def days(self) -> bool:
        """Whether charts label its times by day."""
        return self.length > timedelta(days=1)

    def until(self, now: datetime) -> tuple[datetime, datetime]:
        """Start and end of the span, which ends now: its whole length, and the seconds of the minute that has begun."""
        return now - (now - _EPOCH) % _MINUTE - self.length, now

    def drawn(self, now: datetime) -> tuple[datetime, datetime]:
        """The whole bins that hold the span, for charts; the last one contains `now`."""
        start, _ = self.until(now)
        return start - (start - _EPOCH) % self.bin, now - (now - _EPOCH) % self.bin + self.bin


SPANS: Mapping[str, Span] = {
    "1h": Span(name="1 hour", length=timedelta(hours=1), bin=timedelta(minutes=2)),
    "24h": Span(name="24 hours", length=timedelta(days=1), bin=timedelta(hours=1)),
    "7d": Span(name="7 days", length=timedelta(days=7), bin=timedelta(hours=6)),
    "28d": Span(name="28 days", length=timedelta(days=28), bin=timedelta(days=1)),
}
DEFAULT_SPAN = "24h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The difference of a share of negatives from the span before; `verdict` is that of `compare.changed`."""

    difference: float
    verdict: str

    @property
    def clear(self) -> bool:
        return self.verdict != UNCLEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCounts:
    """Counts of a group of answers, now and in the span before; `as_full`: the two spans can be compared."""

    key: tuple[str, ...]
    now: Verdicts
    before: Verdicts
    as_full: bool = True

    def change(self, name: str) -> Change | None:
        """None if a span has no answers, or if one of them was much emptier, since then its days differ."""
        return rate_change(self.now, self.before, name) if self.as_full else None


def rate_change(now: Verdicts, before: Verdicts, name: str) -> Change | None:
    """The share `name` now minus before, judged as in the weekly report; None when one of them counts no answers."""
    if not now.total or not before.total:
        return None
    one, other = (Share(matching=getattr(side, name), total=side.total) for side in (now, before))
    return Change(difference=one.rate - other.rate, verdict=judged(one, other, two_sided(one, other)))


def group_counts(
    now: Groups,
    before: Groups,
    cells: Iterable[Cell],
    start: datetime,
    key: Callable[[tuple[str, ...]], tuple[str, ...]],
) -> list[GroupCounts]:
    """Counts by `key` of app, environment and model; most answers first.

    `cells` are those of both spans, in bins: they tell how full each was. The span began at `start`.
    """
    sides = (_summed(now, key), _summed(before, key))
    bins: tuple[Bins, Bins] = (defaultdict(set), defaultdict(set))
    for cell in cells:
        if _counts(cell).total:
            at = cell.at - (cell.at - _EPOCH) % _FULLNESS
            bins[cell.at < start][key((cell.app, cell.environment, cell.model))].add(at)
    found = [
        GroupCounts(
            key=name,
            now=sides[0].get(name, Verdicts()),
            before=sides[1].get(name, Verdicts()),
            as_full=as_full(len(bins[0][name]), len(bins[1][name])),
        )
        for name in {*sides[0], *sides[1]}
    ]
    return sorted(found, key=lambda group: (-group.now.total, group.key))


def answers_by_app(groups: Groups) -> dict[str, int]:
    """How many answers of each app have a verdict; `groups` are by app first."""
    return {app: counts.total for (app,), counts in _summed(groups, lambda name: name[:1]).items()}


def counted_topics(
    store: OverviewStore,
    span: Span,
    now: datetime,
    app: str | None,
    whole: GroupCounts | None,
) -> list[GroupCounts] | None:
    """The leading topics of the span up to `now` against the span before; None if counting them takes too long.

    The rest of the overview is worth showing without them. `whole` counts all answers, and tells whether the spans can
    be compared.
    """
    start, _ = span.until(now)
    _, end = span.drawn(now)
    try:
        here = store.topics(start, end, now=now, app=app)
        before = store.topics(start - span.length, start, now=now, app=app)
    except TakesTooLong:
        return None
    return leading_topics(here, before, as_full=whole is not None and whole.as_full)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisCounts:
    """The diagnosed answers of an app by diagnosis, now and in the span before."""

    app: str
    now: Counter[Diagnosis]
    before: Counter[Diagnosis]

    def share(self, diagnosis: Diagnosis) -> float:
        return self.now[diagnosis] / self.now.total()

    def share_before(self, diagnosis: Diagnosis) -> float | None:
        """None if no answer before was diagnosed."""
        return self.before[diagnosis] / self.before.total() if self.before else None


def counted_diagnoses(store: OverviewStore, span: Span, now: datetime, app: str | None) -> list[DiagnosisCounts] | None:
    """The apps with diagnosed answers in the span up to `now`, the busiest first, against the span before.

    None if counting them takes too long: the rest of the overview is worth showing without them.
    """
    start, _ = span.until(now)
    _, end = span.drawn(now)
    try:
        here = store.diagnoses(start, end, now=now, app=app)
        before = store.diagnoses(start - span.length, start, now=now, app=app)
    except TakesTooLong:
        return None
    found = [DiagnosisCounts(app=name, now=some, before=before.get(name, Counter())) for name, some in here.items()]
    return sorted(found, key=lambda one: (-one.now.total(), one.app))


def leading_topics(
    now: Mapping[str, Verdicts], before: Mapping[str, Verdicts], *, as_full: bool = True
) -> list[GroupCounts]:
    """The topics with the most negative answers now, at most `_MAX_TOPICS`, and all others as `OTHER`.

    Answers without a topic are the group of the key ''. Empty if no answer has a topic.
    """

    def group(name: str, topics: Iterable[str]) -> GroupCounts:
        listed = list(topics)
        sides = [sum((side.get(topic, Verdicts()) for topic in listed), Verdicts()) for side in (now, before)]
        return GroupCounts(key=(name,), now=sides[0], before=sides[1], as_full=as_full)

    known = {topic for topic in {*now, *before} if topic not in ("", OTHER)}
    if not known:
        return []
    groups = [group(topic, [topic]) for topic in known]
    groups.sort(key=lambda one: (-one.now.negative, -one.now.total, one.key))
    rest = [*(one.key[0] for one in groups[_MAX_TOPICS:]), OTHER]
    others = [group(OTHER, rest), group("", [""])]
    return [*groups[:_MAX_TOPICS], *(one for one in others if one.now.total or one.before.total)]


def _summed(groups: Groups, key: Key) -> dict[tuple[str, ...], Verdicts]:
    found: defaultdict[tuple[str, ...], Verdicts] = defaultdict(Verdicts)
    for name, counts in groups.items():
        if counts.total:
            found[key(name)] += counts
    return dict(found)


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
