"""Counts over spans of time from the rollups: a rule reads a bounded number of rows, however many answers there are.

Verdicts count as the profile first gave them. The judge speaks minutes to a day later, mostly of flagged answers: with
its words in, the past would always look better than the present. A rate of a reason or a diagnosis has no such
correction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
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
from monitor.alert.window import Count, Counts, Span
from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.latency import LATENCY_BINS
from monitor.core.model import Verdict
from monitor.store.alert.span_pieces import Piece, cut
from monitor.store.database import bounded
from monitor.store.tables.interactions import unscored_minute
from monitor.store.tables.signals import ingest_minute, time_of, verdict_hour
from monitor.store.tables.usage import LATENCY, PARTS

# The planner cannot see how short the spans are and overestimates the costs: compiling would take longer than the read.
_PLANNING = text("SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_seqscan = off")
_TOKENS = {"input": "input_tokens", "output": "output_tokens", "total": "tokens"}  # columns by the name of the signal


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
        pieces, shares = zip(*cut(signal, spans).items(), strict=True)
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
    counted = union_all(*(_by_hour(table, signal, selector, by, span) for table in _tables(signal))).subquery()
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


def _by_hour(
    table: Table, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], span: Span
) -> Select[Any]:
    """Each row of the span with its hour, total, sum and the labels of `by`."""
    at = time_of(table)
    hour = at if table is verdict_hour else func.date_trunc("hour", at, "UTC")
    total, added, _ = _values(table, signal)
    columns = (hour.label("hour"), total.label("total"), added.label("added"), *(table.c[label] for label in by))
    return select(*columns).where(at >= span.start, at < span.end, *_chosen(table, selector))


def _tables(signal: Signal) -> tuple[Table, ...]:
    """The tables that count a signal by the hour, or by the minute where there is none by the hour."""
    if signal.kind is SignalKind.DEAD_LETTERS:
        return (ingest_minute,)
    return (verdict_hour, unscored_minute) if signal.kind is SignalKind.UNSCORED else (verdict_hour,)


def _chosen(table: Table, selector: Mapping[str, tuple[str, ...]]) -> list[ColumnElement[bool]]:
    return [table.c[label].in_(values) for label, values in selector.items() if values]


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
    signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], pieces: Sequence[Piece]
) -> Select[Any]:
    """Rows of the piece's number, total, sum, squares, bins and the labels of `by`, where something was counted."""
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
    pieces: Sequence[tuple[int, Piece]],
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
    at = time_of(table)
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
    if table is unscored_minute:
        return c.turns, c.turns, c.turns
    if signal.kind is SignalKind.MEAN:
        total, added = c[f"{signal.name}_count"], c[f"{signal.name}_sum"]
        if table is verdict_hour:
            return total, added, c[f"{signal.name}_squares"]
        return total, added, func.bin_squares(c[f"{signal.name}_bins"], total, added)
    if signal.is_amount:
        name = _TOKENS.get(signal.name, signal.kind.value)
        part = PARTS.get(name, 1)
        return c[f"{name}_count"], c[f"{name}_sum"] / part, c[f"{name}_squares"] / part**2
    matching = _matching(table, signal)
    return _of_which(table, signal), matching, matching


def _of_which(table: Table, signal: Signal) -> ColumnElement[Any]:
    """The answers of which a rate is a share."""
    if not signal.is_of_diagnosis:
        return table.c.total
    first, *others = (table.c[diagnosis.value] for diagnosis in Diagnosis)
    return sum(others, first)


def _matching(table: Table, signal: Signal) -> ColumnElement[Any]:
    """The answers that a rate counts: none where only the total of the answers is wanted."""
    if signal.kind in (SignalKind.NO_DATA, SignalKind.UNSCORED):
        return literal(0)
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
