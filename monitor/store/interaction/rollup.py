"""Writes the rollups by minute and hour, which alerts read: so an alert costs the same at any number of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import product
from operator import eq
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeAlias

from monitor.core.assessment_json import storable
from monitor.core.message import Position
from monitor.core.model import Assessment, Interaction
from monitor.store.interaction.minute_sums import COUNTS, USAGE_ADDED, CountedAssessment, MinuteSums
from monitor.store.ledger.ledger import source_of
from monitor.store.tables.interactions import METRICS, OTHER
from monitor.store.tables.usage import LATENCY

if TYPE_CHECKING:
    import psycopg

RollupKey: TypeAlias = tuple[Any, ...]  # the minute, and the name of each label
LabelPairs: TypeAlias = tuple[tuple[str, str], ...]  # labels with their values
KEY = ("minute", "app", "environment", "model", "topic")
_HOUR = 3_600.0  # seconds
LONGEST_TOPIC = 128  # characters; the key of a row, at four bytes each, has to fit in a btree entry of 2,704 bytes
MOST_VALUES = {"app": 1_000, "environment": 50, "model": 200, "topic": 1_000, "source": 500}  # more become OTHER


class LabelCap:
    """Bounds the number of label values at any time: those in `rollup_label` count by name, others become OTHER.

    Where all places are taken, a new value takes the place of the one that was not seen for longest, if that was not
    seen for a day: names that come once cannot shut out those that keep coming.
    """

    def __init__(self, most: dict[str, int] | None = None, *, clock: Callable[[], float] = monotonic) -> None:
        self._most = most or MOST_VALUES
        self._clock = clock
        self._known: dict[tuple[str, str], str] = {}
        self._since = clock()

    def resolve(self, connection: psycopg.Connection, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """The value under which each (label, value) counts. Asks the database for each once in an hour."""
        if self._clock() - self._since >= _HOUR or len(self._known) > 10 * sum(self._most.values()):
            self.forget()  # values over the limit are remembered too, and must not fill the memory
        unseen = sorted({pair for pair in wanted if pair not in self._known})
        if unseen:
            kept = self._seen(connection, unseen)
            kept |= self._admitted(connection, [pair for pair in unseen if pair not in kept])
            if refused := [pair for pair in unseen if pair not in kept]:
                kept |= self._seen(connection, refused)  # another process may have admitted one meanwhile
            self._known |= {pair: pair[1] if pair in kept else OTHER for pair in unseen}
        return self._known

    def _seen(self, connection: psycopg.Connection, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Those of the values that have a place already; notes that they were seen, unless another process does."""
        values = [label for label, _ in pairs], [value for _, value in pairs]
        connection.execute(_REFRESH, values)
        return set(connection.execute(_STORED, values).fetchall())

    def _admitted(self, connection: psycopg.Connection, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Those of the values that are given a place: a free one, or that of a value that is gone.

        After one that finds none, no other of its label is tried: a batch may have as many values as answers.
        """
        admitted, full = set[tuple[str, str]](), set[str]()
        for label, value in pairs:
            wanted = {"label": label, "value": value, "most": self._most[label]}
            if label in full and value:  # '' always has a place
                continue
            if connection.execute(_ADMIT, wanted).rowcount or (
                connection.execute(_GIVE_WAY, wanted).rowcount and connection.execute(_ADMIT, wanted).rowcount
            ):
                admitted.add((label, value))
            else:
                full.add(label)
        return admitted

    def forget(self) -> None:
        """To be called after a rollback, which undoes the storing of label values."""
        self._known.clear()
        self._since = self._clock()


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
    replaced = list(instead_of)
    counted = _counted_under(connection, [a.interaction for a in replaced])
    signed = [*((a, 1) for a in assessments), *((a, -1) for a in replaced)]
    labelled = [(a, sign, labels_of(a.interaction)) for a, sign in signed]
    names = cap.resolve(connection, {pair for _, _, pairs in labelled for pair in pairs})
    minutes: dict[RollupKey, MinuteSums] = {}
    for assessment, sign, pairs in labelled:
        now = (minute_of(assessment.interaction), *(names[pair] for pair in pairs))
        key = counted.get((assessment.interaction.app, assessment.interaction.id, pairs), now)
        minutes.setdefault(key, MinuteSums()).add(assessment, sign)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM incoming_minute")  # what this transaction has counted already
        with cursor.copy(_COPY) as copy:
            for key, sums in minutes.items():
                copy.write_row((*key, *sums.values()))
        cursor.execute(_UPSERT)
        cursor.execute(_UPSERT_HOURS)


def write_ingest(
    connection: psycopg.Connection, now: datetime, arrived: Iterable[Position], dead: Iterable[Position], cap: LabelCap
) -> None:
    """Counts, at `now`, the messages that `arrived` by their positions, and those that became dead letters."""
    received = Counter(_source(at) for at in set(arrived))
    if not received:
        return
    buried = Counter(map(_source, dead))
    names = cap.resolve(connection, (("source", source) for source in received))
    sums: dict[str, list[int]] = {}
    for source, number in received.items():
        row = sums.setdefault(names["source", source], [0, 0])
        row[0] += number
        row[1] += buried[source]
    minute = now.replace(second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.executemany(_INGESTED, [(minute, source, *sums[source]) for source in sorted(sums)])


def _source(at: Position) -> str:
    return source_of(storable(at.topic))  # the name of a file may be no text


def _counted_under(
    connection: psycopg.Connection, interactions: Sequence[Interaction]
) -> dict[tuple[str, str, LabelPairs], RollupKey]:
    """The row that counts each of these interactions, by app, id and labels.

    A label may have lost its place since, or got one. Where a minute has several rows that may, the one with the most
    labels by name.
    """
    if not interactions:
        return {}
    apps = {OTHER, *(it.app for it in interactions)}
    found = set[RollupKey](
        connection.execute(_COUNTING, (sorted({minute_of(it) for it in interactions}), sorted(apps)))
    )
    counted: dict[tuple[str, str, LabelPairs], RollupKey] = {}
    for it in interactions:
        pairs = labels_of(it)
        values = [value for _, value in pairs]
        may = [row for row in product([minute_of(it)], *((value, OTHER) for value in values)) if row in found]
        if may:
            counted[it.app, it.id, pairs] = max(may, key=lambda row: sum(map(eq, row[1:], values)))
    return counted


def minute_of(it: Interaction) -> datetime:
    return it.occurred_at.replace(second=0, microsecond=0)


def labels_of(it: Interaction) -> LabelPairs:
    topic = it.tags.get("topic", "")
    return (
        ("app", it.app),
        ("environment", it.environment),
        ("model", it.model or ""),
        ("topic", topic if len(topic) <= LONGEST_TOPIC else OTHER),
    )


_ADDED = (*COUNTS, *(f"{m}_count" for m in METRICS), *(f"{m}_sum" for m in METRICS))
_BINS = tuple(f"{m}_bins" for m in METRICS)
_SQUARES = tuple(f"{m}_squares" for m in METRICS)
_SUMMED = (*_ADDED, *_SQUARES, *USAGE_ADDED)
_COLUMNS = ", ".join((*KEY, *_ADDED, *_BINS, *USAGE_ADDED, LATENCY))
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
    sums=", ".join(f"{name} = v.{name} + excluded.{name}" for name in (*_ADDED, *USAGE_ADDED)),
    bins=", ".join(f"{name} = add_bins(v.{name}, excluded.{name})" for name in (*_BINS, LATENCY)),
)
_UPSERT_HOURS_TEMPLATE = """
    INSERT INTO verdict_hour AS v (hour, {labels}, {columns})
    SELECT date_trunc('hour', minute, 'UTC'), {labels}, {totals}
    FROM incoming_minute GROUP BY 1, {labels} ORDER BY 1, {labels}
    ON CONFLICT (hour, {labels}) DO UPDATE SET {sums}, {latency} = add_bins(v.{latency}, excluded.{latency})
"""
_UPSERT_HOURS = _UPSERT_HOURS_TEMPLATE.format(
    labels=_LABELS,
    columns=", ".join((*_SUMMED, LATENCY)),
    totals=", ".join((*(f"sum({name})" for name in _SUMMED), f"add_bins(sum_bins({LATENCY}), NULL)")),  # this trims it
    sums=", ".join(f"{name} = v.{name} + excluded.{name}" for name in _SUMMED),
    latency=LATENCY,
)
_COUNTING = """
    SELECT minute, app, environment, model, topic FROM verdict_minute WHERE minute = ANY(%s) AND app = ANY(%s)
"""
_STORED = """
    SELECT label, value FROM rollup_label WHERE (label, value) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
"""
# A row that another process has locked was seen by it, or gives way to a value of it; nobody waits for that.
_REFRESH = """
    WITH old AS (
        SELECT label, value FROM rollup_label
        WHERE (label, value) IN (SELECT * FROM unnest(%s::text[], %s::text[]))
            AND seen_at < now() - interval '50 minutes' FOR UPDATE SKIP LOCKED
    )
    UPDATE rollup_label r SET seen_at = now() FROM old WHERE (r.label, r.value) = (old.label, old.value)
"""
_ADMIT = """
    INSERT INTO rollup_label (label, value) SELECT %(label)s, %(value)s
    WHERE %(value)s = '' OR (SELECT count(*) FROM rollup_label WHERE label = %(label)s) < %(most)s
    ON CONFLICT (label, value) DO UPDATE SET seen_at = now()
"""
_GIVE_WAY = """
    DELETE FROM rollup_label WHERE (label, value) = (
        SELECT label, value FROM rollup_label
        WHERE label = %(label)s AND value <> '' AND seen_at < now() - interval '1 day'
        ORDER BY seen_at LIMIT 1 FOR UPDATE SKIP LOCKED
    )
"""
_INGESTED = """
    INSERT INTO ingest_minute AS i (minute, source, received, dead) VALUES (%s, %s, %s, %s)
    ON CONFLICT (minute, source) DO UPDATE SET received = i.received + excluded.received, dead = i.dead + excluded.dead
"""
