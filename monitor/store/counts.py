"""Counts over spans of time from the rollups: at most so many rows a rule, whatever number of answers stand behind."""

from __future__ import annotations

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
    select,
    text,
    union_all,
)

from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import HOUR, Count, Counts, Span
from monitor.store.database import retriable
from monitor.store.tables import verdict_minute
from monitor.store.tables_signals import ingest_minute, verdict_hour

# Its costs look large, since the planner cannot see how short the spans are; compiling would take longer than it does.
_PLANNING = text("SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_seqscan = off")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A part of the span of that number, to be read from one table."""

    span: int
    start: datetime
    end: datetime


class SpanCounts:
    """Reads what alert rules count. Safe to use from several threads; may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def counts(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], spans: Sequence[Span]
    ) -> list[Counts]:
        """What was counted in each of `spans`, for every combination of the `by` labels that occurs in any of them.

        `spans` are one at least. `selector` says which values of a label count; it and `by` are among `signal.labels`.
        Without `by` there is one `Counts` without labels, also of nothing. In order of the labels. Whole hours come
        from the hour rollup, what is left at the ends from that by the minute: of a mean's squares that part is right
        to within the width of a histogram's bin.

        Raises:
            ValueError: the signal is a state of now, for which no span is counted.
        """
        found: dict[tuple[str, ...], list[Count]] = {} if by else {(): [Count()] * len(spans)}
        query = _query(signal, selector, by, spans)
        with retriable(), self._engine.connect() as connection:
            connection.execute(_PLANNING)
            for row in connection.execute(query):
                span, total, added, squares, *labels = row
                if tuple(labels) not in found:
                    found[tuple(labels)] = [Count()] * len(spans)
                found[tuple(labels)][span] = Count(total=total, sum=added, squares=squares)
        return [
            Counts(labels=dict(zip(by, labels, strict=True)), counts=tuple(found[labels])) for labels in sorted(found)
        ]


def _query(
    signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], spans: Sequence[Span]
) -> Select[Any]:
    """Rows of span, total, sum, squares and the labels of `by`, where something was counted."""
    tables: list[tuple[Table, list[_Piece]]]
    if signal.kind is SignalKind.DEAD_LETTERS:
        tables = [(ingest_minute, [_Piece(span=i, start=s.start, end=s.end) for i, s in enumerate(spans)])]
    elif signal.is_momentary:
        raise ValueError(f"{signal} is a state of now, which no span is counted for")
    else:
        tables = [
            (verdict_minute, [piece for i, s in enumerate(spans) for piece in _minutes(i, s)]),
            (verdict_hour, [piece for i, s in enumerate(spans) for piece in _hours(i, s)]),
        ]
    parts = union_all(*(_part(table, pieces, signal, selector, by) for table, pieces in tables if pieces)).subquery()
    total, added, squares = (func.sum(parts.c[name]) for name in ("total", "added", "squares"))
    labels = [parts.c[label] for label in by]
    return (
        select(parts.c.span, cast(total, BigInteger), cast(added, Double), cast(squares, Double), *labels)
        .group_by(parts.c.span, *labels)
        .having(total > 0)
    )


def _part(
    table: Table,
    pieces: Sequence[_Piece],
    signal: Signal,
    selector: Mapping[str, tuple[str, ...]],
    by: Sequence[str],
) -> Select[Any]:
    """The sums of each piece and combination of labels."""
    times = partial(literal, type_=ARRAY(DateTime(timezone=True)))
    piece = (
        func.unnest(
            literal([p.span for p in pieces], ARRAY(Integer)),
            times([p.start for p in pieces]),
            times([p.end for p in pieces]),
        )
        .table_valued("span", "start", "end", name="piece")
        .render_derived()
    )
    at = table.c.hour if table is verdict_hour else table.c.minute
    chosen = [table.c[label].in_(values) for label, values in selector.items() if values]
    labels = [table.c[label] for label in by]
    total, added, squares = _values(table, signal)
    return (
        select(
            piece.c.span,
            func.sum(total).label("total"),
            func.sum(added).label("added"),
            func.sum(squares).label("squares"),
            *labels,
        )
        .select_from(piece.join(table, (at >= piece.c.start) & (at < piece.c.end)))
        .where(*chosen)
        .group_by(piece.c.span, *labels)
    )


def _values(table: Table, signal: Signal) -> tuple[ColumnElement[Any], ColumnElement[Any], ColumnElement[Any]]:
    """Total, sum and squares of one row."""
    c = table.c
    if signal.kind is SignalKind.DEAD_LETTERS:
        return c.received, c.dead, c.dead
    if signal.kind is SignalKind.NO_DATA:
        return c.total, literal(0), literal(0)
    if signal.kind is SignalKind.MEAN:
        total, added = c[f"{signal.name}_count"], c[f"{signal.name}_sum"]
        if table is verdict_hour:
            return total, added, c[f"{signal.name}_squares"]
        return total, added, func.bin_squares(c[f"{signal.name}_bins"], added)
    matching = c.refusal + c.self_generated if signal.name == "negative" else c[signal.name]
    return c.total, matching, matching


def _hours(number: int, span: Span) -> Iterator[_Piece]:
    """The whole hours of a span, if it has any."""
    first, last = _inner(span)
    if first < last:
        yield _Piece(span=number, start=first, end=last)


def _minutes(number: int, span: Span) -> Iterator[_Piece]:
    """What the whole hours of a span leave of it."""
    first, last = _inner(span)
    if first >= last:
        yield _Piece(span=number, start=span.start, end=span.end)
        return
    if span.start < first:
        yield _Piece(span=number, start=span.start, end=first)
    if last < span.end:
        yield _Piece(span=number, start=last, end=span.end)


def _inner(span: Span) -> tuple[datetime, datetime]:
    """The first whole hour at or after the start, and the last one at or before the end."""
    start, end = span.start.astimezone(UTC), span.end.astimezone(UTC)
    first = start.replace(minute=0, second=0, microsecond=0)
    return (first if first == start else first + HOUR), end.replace(minute=0, second=0, microsecond=0)
