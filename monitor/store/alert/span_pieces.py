"""Cuts spans of time into pieces to read from the rollups by hours and by minutes.

A span is read by whole hours. Each of its ends is read by minutes: those inside the span are added, or the rest of the
hour is taken away, whichever are fewer. Ends that spans have in common are read once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Table

from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import HOUR, Span
from monitor.store.tables.interactions import unscored_minute, verdict_minute
from monitor.store.tables.signals import ingest_minute, verdict_hour


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The rows of one table from `start` on, before `end`."""

    start: datetime
    end: datetime
    table: Table


def cut(signal: Signal, spans: Sequence[Span]) -> Mapping[Piece, Sequence[tuple[int, int]]]:
    """The pieces to read, each with the spans, by number, to which it counts and with which sign.

    Raises:
        ValueError: the signal is momentary and has no counts over a span.
    """
    if signal.is_momentary:
        raise ValueError(f"{signal} is momentary: it has no counts over a span")
    found: defaultdict[Piece, list[tuple[int, int]]] = defaultdict(list)
    for number, span in enumerate(spans):
        if signal.kind is SignalKind.DEAD_LETTERS:
            found[Piece(start=span.start, end=span.end, table=ingest_minute)].append((number, 1))
            continue
        if signal.kind is SignalKind.UNSCORED:
            found[Piece(start=span.start, end=span.end, table=unscored_minute)].append((number, 1))
        for piece, sign in _pieces(span.start.astimezone(UTC), span.end.astimezone(UTC), signal):
            found[piece].append((number, sign))
    return found


def _pieces(start: datetime, end: datetime, signal: Signal) -> Iterator[tuple[Piece, int]]:
    """Cuts a span into pieces with their signs."""
    before, last = _hour(start), _hour(end)  # the hours that its ends are in
    first = before if before == start else before + HOUR
    if first > last:
        yield Piece(start=start, end=end, table=verdict_minute), 1
        return
    # the squares of minutes do not add up exactly to those of their hour; nor do fractions, taken away
    takes_away = signal.kind is not SignalKind.MEAN and not signal.is_amount
    if start < first:
        if takes_away and start - before < first - start:
            yield Piece(start=before, end=start, table=verdict_minute), -1
            first = before
        else:
            yield Piece(start=start, end=first, table=verdict_minute), 1
    if last < end:
        if takes_away and last + HOUR - end < end - last:
            yield Piece(start=end, end=last + HOUR, table=verdict_minute), -1
            last += HOUR
        else:
            yield Piece(start=last, end=end, table=verdict_minute), 1
    if first < last:
        yield Piece(start=first, end=last, table=verdict_hour), 1


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)
