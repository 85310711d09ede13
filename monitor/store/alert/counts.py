"""Counts over spans of time from the rollups: a rule reads a bounded number of rows, however many answers there are.

A span is read by whole hours. Each of its ends is read by minutes: those inside the span are added, or the rest of the
hour is taken away, whichever are fewer. Ends that spans have in common are read once.

Verdicts count as the profile first gave them. The judge speaks minutes to a day later, mostly of flagged answers: with
its words in, the past would always look better than the present. A rate of a reason has no such correction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    DateTime,
    Double,
    Engine,
    Integer,
    Select,
    Table,
    cast,
    func,
    literal,
    null,
    select,
    text,
    union_all,
)

from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import HourSums
from monitor.alert.window import HOUR, Count, Counts, Span
from monitor.core.figures.latency import LATENCY_BINS
from monitor.core.model import Verdict
from monitor.store.database import bounded
from monitor.store.tables.interactions import unscored_minute, verdict_minute
from monitor.store.tables.signals import ingest_minute, verdict_hour
from monitor.store.tables.usage import LATENCY, PARTS

# The planner cannot see how short the spans are and overestimates the costs: compiling would take longer than the read.
_QUANTITIES = {"input": "input_tokens", "output": "output_tokens", "total": "tokens"}
_PLANNING = text("SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_seqscan = off")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """The rows of one table from `start` on, before `end`."""

    start: datetime
    end: datetime
    table: Table


class SpanCounts:
    """Reads the counts of alert rules. Safe to use from several threads; may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def counts(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], spans: Sequence[Span]
    ) -> list[Counts]:
        """The counts in each of `spans`, at least one, for every combination of the `by` labels that occurs in any.

        `selector` says which values of a label count; its labels and `by` are among `signal.labels`. Without `by` there
        is one `Counts` without labels, even of nothing. Ordered by the labels. The squares of a mean that come from
        minutes are exact to the width of a histogram's bin.

        Raises:
            ValueError: the signal is momentary and has no counts over a span.
        """
        pieces, shares = zip(*_pieces(signal, spans).items(), strict=True)
        query = _query(signal, selector, by, pieces)
        sums: dict[tuple[str, ...], list[list[float]]] = {} if by else {(): _zeros(spans, signal)}
        with bounded(self._engine) as connection:
            connection.execute(_PLANNING)
            for number, total, added, squares, bins, *labels in connection.execute(query):
                if (found := sums.get(tuple(labels))) is None:
                    found = sums[tuple(labels)] = _zeros(spans, signal)
                for span, sign in shares[number]:
                    for place, value in enumerate((total, added, squares, *(bins or ()))):
                        found[span][place] += sign * value
        return [
            Counts(labels=dict(zip(by, labels, strict=True)), counts=tuple(map(_count, sums[labels])))
            for labels in sorted(sums)
            if not by or any(total for total, *_ in sums[labels])
        ]

    def hour_sums(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], span: Span
    ) -> list[HourSums]:
        """The sums over the hours of `span`, added up in the database: one per combination, ordered by the labels.

        Raises:
            ValueError: the signal is momentary and has no counts over a span.
        """
        with bounded(self._engine) as connection:
            return [
                HourSums(
                    labels=dict(zip(by, labels, strict=True)),
                    hours=hours,
                    total=int(total),
                    sum=added,
                    sum_squares=squares,
                    products=products,
                    total_squares=total_squares,
                )
                for hours, total, added, squares, products, total_squares, *labels in connection.execute(
                    _hour_sums(signal, selector, by, span)
                )
            ]


def _hour_sums(signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], span: Span) -> Select[Any]:
    """Rows of hours, Σn, Σk, Σk², Σkn, Σn² and the labels of `by`, where something was counted."""
    if signal.is_momentary:
        raise ValueError(f"{signal} is momentary: it has no counts over a span")
    counted = union_all(
        *(
            select(
                hour.label("hour"), total.label("total"), added.label("added"), *(table.c[label] for label in by)
            ).where(_time(table) >= span.start, _time(table) < span.end, *_chosen(table, selector))
            for table in _tables(signal)
            for hour in (_time(table) if table is verdict_hour else func.date_trunc("hour", _time(table), "UTC"),)
            for total, added, _ in (_values(table, signal),)
        )
    ).subquery()
    by_columns = [counted.c[label] for label in by]
    n, k = (cast(func.sum(value), Double) for value in (counted.c.total, counted.c.added))
    hours = (
        select(n.label("n"), k.label("k"), *by_columns).group_by(counted.c.hour, *by_columns).having(n > 0).subquery()
    )
    c, labels = hours.c, [hours.c[label] for label in by]
    sums = [func.sum(value) for value in (c.n, c.k, c.k * c.k, c.k * c.n, c.n * c.n)]
    columns: list[ColumnElement[Any]] = [func.count(), *sums, *labels]
    # without labels there is one group even where nothing was counted
    return select(*columns).group_by(*labels).having(func.count() > 0).order_by(*labels)


def _tables(signal: Signal) -> tuple[Table, ...]:
    """The tables that count a signal by the hour, or by the minute where there is none by the hour."""
    if signal.kind is SignalKind.DEAD_LETTERS:
        return (ingest_minute,)
    return (verdict_hour, unscored_minute) if signal.kind is SignalKind.UNSCORED else (verdict_hour,)


def _chosen(table: Table, selector: Mapping[str, tuple[str, ...]]) -> list[ColumnElement[bool]]:
    return [table.c[label].in_(values) for label, values in selector.items() if values]


def _time(table: Table) -> ColumnElement[Any]:
    return table.c.hour if table is verdict_hour else table.c.minute


def _zeros(spans: Sequence[Span], signal: Signal) -> list[list[float]]:
    """Total, sum, squares and, for a percentile, the bins of the histogram."""
    bins = 0 if signal.percentile is None else LATENCY_BINS
    return [[0, 0.0, 0.0, *[0] * bins] for _ in spans]


def _count(sums: Sequence[float]) -> Count:
    total, added, squares, *bins = sums
    if not total:
        return Count()
    return Count(total=int(total), sum=added, squares=squares, bins=tuple(map(int, bins)))


def _query(
    signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], pieces: Sequence[_Piece]
) -> Select[Any]:
    """Rows of the piece's number, total, sum, squares and the labels of `by`, where something was counted."""
    numbered = defaultdict(list)
    for number, piece in enumerate(pieces):
        numbered[piece.table].append((number, piece))
    parts = union_all(
        *(_part(table, of_table, signal, selector, by) for table, of_table in numbered.items())
    ).subquery()
    sums = (cast(parts.c.total, BigInteger), cast(parts.c.added, Double), cast(parts.c.squares, Double), parts.c.bins)
    return select(parts.c.number, *sums, *(parts.c[label] for label in by)).where(parts.c.total > 0)


def _part(
    table: Table,
    pieces: Sequence[tuple[int, _Piece]],
    signal: Signal,
    selector: Mapping[str, tuple[str, ...]],
    by: Sequence[str],
) -> Select[Any]:
    """The sums of each piece of one table and combination of labels."""
    times = partial(literal, type_=ARRAY(DateTime(timezone=True)))
    piece = (
        func.unnest(
            literal([number for number, _ in pieces], ARRAY(Integer)),
            times([p.start for _, p in pieces]),
            times([p.end for _, p in pieces]),
        )
        .table_valued("number", "start", "end", name="piece")
        .render_derived()
    )
    at = _time(table)
    labels = [table.c[label] for label in by]
    names = ("total", "added", "squares")
    sums = [func.sum(value).label(name) for name, value in zip(names, _values(table, signal), strict=True)]
    bins = null() if signal.percentile is None else func.sum_bins(table.c[LATENCY])
    sums.append(cast(bins, ARRAY(BigInteger)).label("bins"))
    return (
        select(piece.c.number, *sums, *labels)
        .select_from(piece.join(table, (at >= piece.c.start) & (at < piece.c.end)))
        .where(*_chosen(table, selector))
        .group_by(piece.c.number, *labels)
    )


def _values(table: Table, signal: Signal) -> tuple[ColumnElement[Any], ColumnElement[Any], ColumnElement[Any]]:
    """Total, sum and squares of one row."""
    c = table.c
    if signal.kind is SignalKind.DEAD_LETTERS:
        return c.received, c.dead, c.dead
    if table is unscored_minute or signal.kind in (SignalKind.NO_DATA, SignalKind.UNSCORED):
        return (c.turns, c.turns, c.turns) if table is unscored_minute else (c.total, literal(0), literal(0))
    if signal.kind is SignalKind.MEAN:
        total, added = c[f"{signal.name}_count"], c[f"{signal.name}_sum"]
        if table is verdict_hour:
            return total, added, c[f"{signal.name}_squares"]
        return total, added, func.bin_squares(c[f"{signal.name}_bins"], total, added)
    if signal.is_amount:
        name = _QUANTITIES.get(signal.name, signal.kind.value)
        part = PARTS.get(name, 1)
        return c[f"{name}_count"], c[f"{name}_sum"] / part, c[f"{name}_squares"] / part**2
    matching = _matching(table, signal)
    return c.total, matching, matching


def _matching(table: Table, signal: Signal) -> ColumnElement[Any]:
    """The answers that a rate counts."""
    c = table.c
    match signal.name:
        case "negative":
            return c.refusal + c.self_generated - c.heard
        case Verdict.SELF_GENERATED:
            return c.self_generated - c.heard
        case Verdict.GROUNDED:
            return c.grounded + c.heard
        case _:
            return c[signal.shown_by or signal.name]


def _pieces(signal: Signal, spans: Sequence[Span]) -> Mapping[_Piece, Sequence[tuple[int, int]]]:
    """The pieces to read, each with the spans, by number, to which it counts and with which sign."""
    if signal.is_momentary:
        raise ValueError(f"{signal} is momentary: it has no counts over a span")
    found: defaultdict[_Piece, list[tuple[int, int]]] = defaultdict(list)
    for number, span in enumerate(spans):
        if signal.kind is SignalKind.DEAD_LETTERS:
            found[_Piece(start=span.start, end=span.end, table=ingest_minute)].append((number, 1))
            continue
        if signal.kind is SignalKind.UNSCORED:
            found[_Piece(start=span.start, end=span.end, table=unscored_minute)].append((number, 1))
        for piece, sign in _cut(span.start.astimezone(UTC), span.end.astimezone(UTC), signal):
            found[piece].append((number, sign))
    return found


def _cut(start: datetime, end: datetime, signal: Signal) -> Iterator[tuple[_Piece, int]]:
    """Cuts a span into pieces with their signs."""
    before, last = _hour(start), _hour(end)  # the hours that its ends are in
    first = before if before == start else before + HOUR
    if first > last:
        yield _Piece(start=start, end=end, table=verdict_minute), 1
        return
    # the squares of minutes do not add up exactly to those of their hour; nor do fractions, taken away
    takes_away = signal.kind is not SignalKind.MEAN and not signal.is_amount
    if start < first:
        if takes_away and start - before < first - start:
            yield _Piece(start=before, end=start, table=verdict_minute), -1
            first = before
        else:
            yield _Piece(start=start, end=first, table=verdict_minute), 1
    if last < end:
        if takes_away and last + HOUR - end < end - last:
            yield _Piece(start=end, end=last + HOUR, table=verdict_minute), -1
            last += HOUR
        else:
            yield _Piece(start=last, end=end, table=verdict_minute), 1
    if first < last:
        yield _Piece(start=first, end=last, table=verdict_hour), 1


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)
