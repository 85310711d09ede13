"""Writes the rollups by minute and hour, which alerts read: so an alert costs the same at any number of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from struct import Struct
from typing import TYPE_CHECKING

from monitor.core.message import Position
from monitor.core.model import Assessment, Interaction, Metrics, Reason, Verdict
from monitor.store.ledger.ledger import source_of
from monitor.store.tables.interactions import HISTOGRAM_BINS, METRICS, OTHER

if TYPE_CHECKING:
    import psycopg

KEY = ("minute", "app", "environment", "model", "topic")
_REAL = Struct("f")  # the type of a stored similarity
_ROUNDING = 1e-6  # of a bin: more than a REAL falls short of the bin's edge
_COUNTS = ("total", *(v.value for v in Verdict), *(r.value for r in Reason))
_PLACE = {name: place for place, name in enumerate(_COUNTS)}
LONGEST_TOPIC = 128  # characters; the key of a row, at four bytes each, has to fit in a btree entry of 2,704 bytes
# values beyond become OTHER
MOST_VALUES = {
    "app": 1_000,
    "environment": 50,
    "model": 200,
    "topic": 1_000,
    "source": 500,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedAssessment:
    """The part of an assessment that the rollup counts."""

    interaction: Interaction
    verdict: Verdict
    reasons: Sequence[Reason]
    metrics: Metrics


class Minute:
    """The sums of one minute and one set of labels."""

    __slots__ = ("bins", "counts", "squares", "sums")

    def __init__(self) -> None:
        self.counts = [0] * len(_COUNTS)
        self.sums = [0.0] * len(METRICS)
        self.squares = [0.0] * len(METRICS)
        self.bins = [[0] * HISTOGRAM_BINS for _ in METRICS]

    def add(self, assessment: Assessment | CountedAssessment, sign: int = 1) -> None:
        """Adds one assessment, or takes it out with a `sign` of -1; counts values as REAL, so that both cancel out."""
        counts = self.counts
        counts[0] += sign
        counts[_PLACE[assessment.verdict]] += sign
        for reason in assessment.reasons:
            counts[_PLACE[reason]] += sign
        m = assessment.metrics
        for place, value in enumerate((m.sdq, m.sdrd, m.sda, m.qrd, m.qa)):
            if value is not None:
                (kept,) = _REAL.unpack(_REAL.pack(value))
                self.sums[place] += sign * kept
                self.squares[place] += sign * kept * kept
                self.bins[place][histogram_bin(kept)] += sign

    def values(self) -> tuple[object, ...]:
        """The values of the columns after the key, in order; arrays are in Postgres's text form."""
        bins = [f"{{{','.join(map(str, counts))}}}" for counts in self.bins]
        return (*self.counts, *map(sum, self.bins), *self.sums, *bins, *self.squares)


def histogram_bin(value: float) -> int:
    """The bin of a similarity, of equal bins over [-1, 1]; a value rounded past an end counts in the last bin."""
    return min(max(int((value + 1.0) * (HISTOGRAM_BINS / 2) + _ROUNDING), 0), HISTOGRAM_BINS - 1)


class LabelCap:
    """Bounds the number of label values for good: the first ones are in `rollup_label`, later ones become OTHER."""

    def __init__(self, most: dict[str, int] | None = None) -> None:
        self._most = most or MOST_VALUES
        self._known: dict[tuple[str, str], str] = {}

    def resolve(self, connection: psycopg.Connection, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """The value under which each (label, value) counts. Asks the database only for values new to this process."""
        if len(self._known) > 10 * sum(self._most.values()):
            self._known.clear()  # values over the limit are remembered too, and must not fill the memory
        unseen = sorted({pair for pair in wanted if pair not in self._known})
        for label, value in unseen:
            connection.execute(
                """INSERT INTO rollup_label SELECT %(label)s, %(value)s
                   WHERE %(value)s = '' OR (SELECT count(*) FROM rollup_label WHERE label = %(label)s) < %(most)s
                   ON CONFLICT DO NOTHING""",
                {"label": label, "value": value, "most": self._most[label]},
            )
        if unseen:
            rows = connection.execute(
                """SELECT label, value FROM rollup_label
                   WHERE (label, value) IN (SELECT * FROM unnest(%s::text[], %s::text[]))""",
                ([label for label, _ in unseen], [value for _, value in unseen]),
            ).fetchall()
            kept = set(rows)
            for pair in unseen:
                self._known[pair] = pair[1] if pair in kept else OTHER
        return self._known

    def forget(self) -> None:
        """To be called after a rollback, which undoes the storing of label values."""
        self._known.clear()


def prepare(connection: psycopg.Connection) -> None:
    """Makes the temporary table that `write_rollup` copies into; to be called once per connection."""
    connection.execute(_INCOMING)
    connection.execute("SET monitor.hours = 'written'")  # by this code, not by the triggers of migration 0007


def write_rollup(
    connection: psycopg.Connection,
    assessments: Iterable[Assessment | CountedAssessment],
    cap: LabelCap,
    *,
    instead_of: Iterable[CountedAssessment] = (),
) -> None:
    """Adds `assessments` to the rollup, and takes out those that they replace, `instead_of`.

    Upserts are in the order of their keys, so that replicas cannot deadlock.
    """
    signed = [*((a, 1) for a in assessments), *((a, -1) for a in instead_of)]
    labelled = [(a, sign, _labels(a.interaction)) for a, sign in signed]
    names = cap.resolve(connection, {pair for _, _, pairs in labelled for pair in pairs})
    minutes: dict[tuple[object, ...], Minute] = {}
    for assessment, sign, pairs in labelled:
        minute = assessment.interaction.occurred_at.replace(second=0, microsecond=0)
        key = (minute, *(names[pair] for pair in pairs))
        minutes.setdefault(key, Minute()).add(assessment, sign)
    with connection.cursor() as cursor:
        with cursor.copy(_COPY) as copy:
            for key, sums in minutes.items():
                copy.write_row((*key, *sums.values()))
        cursor.execute(_UPSERT)
        cursor.execute(_UPSERT_HOURS)


def write_ingest(
    connection: psycopg.Connection, now: datetime, arrived: Iterable[Position], dead: Iterable[Position], cap: LabelCap
) -> None:
    """Counts, at `now`, the messages that `arrived` by their positions, and those that became dead letters."""
    received = Counter(source_of(at.topic) for at in set(arrived))
    if not received:
        return
    buried = Counter(source_of(at.topic) for at in dead)
    names = cap.resolve(connection, (("source", source) for source in received))
    sums: dict[str, list[int]] = {}
    for source, number in received.items():
        row = sums.setdefault(names["source", source], [0, 0])
        row[0] += number
        row[1] += buried[source]
    minute = now.replace(second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.executemany(_INGESTED, [(minute, source, *sums[source]) for source in sorted(sums)])


def _labels(it: Interaction) -> tuple[tuple[str, str], ...]:
    topic = it.tags.get("topic", "")
    return (
        ("app", it.app),
        ("environment", it.environment),
        ("model", it.model or ""),
        ("topic", topic if len(topic) <= LONGEST_TOPIC else OTHER),
    )


_ADDED = (*_COUNTS, *(f"{m}_count" for m in METRICS), *(f"{m}_sum" for m in METRICS))
_BINS = tuple(f"{m}_bins" for m in METRICS)
_SQUARES = tuple(f"{m}_squares" for m in METRICS)
_COLUMNS = ", ".join((*KEY, *_ADDED, *_BINS))
_LABELS = ", ".join(KEY[1:])
_INCOMING = f"""
    CREATE TEMPORARY TABLE incoming_minute
    (LIKE verdict_minute INCLUDING DEFAULTS, {", ".join(f"{name} double precision" for name in _SQUARES)})
    ON COMMIT DELETE ROWS
"""
_COPY = f"COPY incoming_minute ({_COLUMNS}, {', '.join(_SQUARES)}) FROM STDIN"
_UPSERT_TEMPLATE = """
    INSERT INTO verdict_minute AS v ({columns})
    SELECT {columns} FROM incoming_minute ORDER BY {key}
    ON CONFLICT ({key}) DO UPDATE SET {sums}, {bins}
"""
_UPSERT = _UPSERT_TEMPLATE.format(
    columns=_COLUMNS,
    key=", ".join(KEY),
    sums=", ".join(f"{name} = v.{name} + excluded.{name}" for name in _ADDED),
    bins=", ".join(f"{name} = add_bins(v.{name}, excluded.{name})" for name in _BINS),
)
_UPSERT_HOURS_TEMPLATE = """
    INSERT INTO verdict_hour AS v (hour, {labels}, {columns})
    SELECT date_trunc('hour', minute, 'UTC'), {labels}, {totals}
    FROM incoming_minute GROUP BY 1, {labels} ORDER BY 1, {labels}
    ON CONFLICT (hour, {labels}) DO UPDATE SET {sums}
"""
_UPSERT_HOURS = _UPSERT_HOURS_TEMPLATE.format(
    labels=_LABELS,
    columns=", ".join((*_ADDED, *_SQUARES)),
    totals=", ".join(f"sum({name})" for name in (*_ADDED, *_SQUARES)),
    sums=", ".join(f"{name} = v.{name} + excluded.{name}" for name in (*_ADDED, *_SQUARES)),
)
_INGESTED = """
    INSERT INTO ingest_minute AS i (minute, source, received, dead) VALUES (%s, %s, %s, %s)
    ON CONFLICT (minute, source) DO UPDATE SET received = i.received + excluded.received, dead = i.dead + excluded.dead
"""
