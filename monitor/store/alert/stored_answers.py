"""Reads stored answers of a span as the list of new answers would have given them, to try rules out on the past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine, text

from monitor.alert.answers import ListedAnswer, chance_of
from monitor.alert.signal import Signal
from monitor.alert.window import Span
from monitor.store.alert.new_answers import COLLECTED, LISTED, LONGEST_LABEL, MOST_TURNS
from monitor.store.database import bounded
from monitor.store.tables.interactions import SCORE_BEFORE_JUDGE

MOST_READ = 1_000_000  # the newest of the span
_PIECE = timedelta(days=1)  # that one statement reads
_STORED = """
    SELECT a.app, a.id, a.occurred_at, CAST({value} AS double precision) AS value, i.*
    FROM assessment a CROSS JOIN LATERAL (
        SELECT {listed} FROM interaction i
        WHERE i.app = a.app AND i.id = a.id AND i.occurred_at = a.occurred_at OFFSET 0
    ) i
    WHERE a.live AND a.occurred_at >= :first AND a.occurred_at < :last AND {value} IS NOT NULL {conditions}
    ORDER BY a.occurred_at, a.app, a.id LIMIT :most
"""
_VALUES = {
    "score": SCORE_BEFORE_JUDGE,
    "refusal": "CAST(a.verdict = 'refusal' AS integer)",
    "sdq": "a.sdq",
    "qrd": "a.qrd",
}
_COLUMNS = {"app": "a.app", "environment": "i.environment", "model": "i.model", "topic": "i.topic"}


def stored_answers(
    engine: Engine, signal: Signal, selector: Mapping[str, tuple[str, ...]], span: Span
) -> list[ListedAnswer]:
    """The newest `MOST_READ` answers of `span` under `selector`, in order, with `at` the time at which each counts.

    Raises:
        Retriable: the store is out of reach, or a day takes too long to read.
    """
    chosen = {label: list(values) for label, values in selector.items() if values}
    conditions = " ".join(f"AND {_COLUMNS[label]} = ANY(CAST(:of_{label} AS text[]))" for label in chosen)
    query = text(_STORED.format(listed=LISTED, value=_VALUES[signal.name], conditions=conditions))
    values: dict[str, Any] = {f"of_{label}": allowed for label, allowed in chosen.items()}
    rows: list[Mapping[str, Any]] = []
    end = span.end
    while end > span.start and len(rows) < MOST_READ:
        first = max(end - _PIECE, span.start)
        with bounded(engine) as connection:
            found = connection.execute(
                query, {**values, "first": first, "last": end, "longest": LONGEST_LABEL, "most": MOST_READ - len(rows)}
            )
            rows = [*(dict(row) for row in found.mappings()), *rows]
        end = first
    return in_units(rows)


def in_units(rows: Sequence[Mapping[str, Any]]) -> list[ListedAnswer]:
    """Each answer once, and each conversation with the answers of its first half hour, at the end of that.

    `rows` are in the order of time, with the columns that the query above gives.
    """
    seen: set[int] = set()
    begun: dict[int, tuple[datetime, int]] = {}  # when a conversation began, and how many of its answers count
    units: dict[object, list[tuple[datetime, Mapping[str, Any]]]] = {}
    for number, row in enumerate(rows):
        if row["same"] in seen:
            continue
        seen.add(row["same"])
        talk, at = row["conversation"], row["occurred_at"].astimezone(UTC)
        if talk is None:
            units[number] = [(at, row)]
            continue
        start, turns = begun.get(talk, (at, 0))
        begun[talk] = start, turns + 1
        if turns < MOST_TURNS and at < start + COLLECTED:
            units.setdefault(talk, []).append((start + COLLECTED, row))
    ordered = sorted(units.values(), key=lambda unit: unit[0][0])
    return [
        ListedAnswer(
            place=place,
            labels={label: row[label] for label in _COLUMNS},
            topic=row["topic"],
            at=at,
            value=row["value"],
            chance=chance_of(row["app"], row["id"]),
        )
        for place, unit in enumerate(ordered)
        for at, row in unit
    ]
