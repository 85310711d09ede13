"""The rollups by minute and hour: what alerts read instead of the rows, so that they cost the same at any number."""

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
_REAL = Struct("f")  # in which a row keeps a similarity
_ROUNDING = 1e-6  # of a bin: more than a REAL falls short of the bin's end
_COUNTS = ("total", *(v.value for v in Verdict), *(r.value for r in Reason))
_PLACE = {name: place for place, name in enumerate(_COUNTS)}
LONGEST_TOPIC = 128  # characters; the key of a row, at four bytes each, has to fit in a btree entry of 2,704 bytes
MOST_VALUES = {"app": 1_000, "environment": 50, "model": 200, "topic": 1_000, "source": 500}  # more become OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedAssessment:
    """What of an assessment the rollup counts."""

    interaction: Interaction
    verdict: Verdict
    reasons: Sequence[Reason]
    metrics: Metrics


class Minute:
    """The sums of one minute under one set of labels."""

    __slots__ = ("bins", "counts", "squares", "sums")

    def __init__(self) -> None:
        self.counts = [0] * len(_COUNTS)
        self.sums = [0.0] * len(METRICS)
        self.squares = [0.0] * len(METRICS)
        self.bins = [[0] * HISTOGRAM_BINS for _ in METRICS]

    def add(self, assessment: Assessment | CountedAssessment, sign: int = 1) -> None:
        """Counts one assessment in, or out again with a `sign` of -1: by what its row holds, so that both are one."""
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
        """In the order of the columns after the key, arrays in Postgres's form."""
        bins = [f"{{{','.join(map(str, counts))}}}" for counts in self.bins]
        return (*self.counts, *map(sum, self.bins), *self.sums, *bins, *self.squares)


def histogram_bin(value: float) -> int:
    """Which of the equal bins over [-1, 1] holds a similarity; rounding just past an end counts into the last one."""
    return min(max(int((value + 1.0) * (HISTOGRAM_BINS / 2) + _ROUNDING), 0), HISTOGRAM_BINS - 1)


class LabelCap:
    """Keeps the number of label values bounded for good: known values live in `rollup_label`, later ones are OTHER."""

    def __init__(self, most: dict[str, int] | None = None) -> None:
        self._most = most or MOST_VALUES
        self._known: dict[tuple[str, str], str] = {}

    def resolve(self, connection: psycopg.Connection, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """What each (label, value) is counted under. Asks the database only for values not seen by this process."""
        if len(self._known) > 10 * sum(self._most.values()):
            self._known.clear()  # over-limit values are remembered too; do not let them fill the memory
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
        """After a rollback: what was learned in it may not be stored."""
        self._known.clear()


def prepare(connection: psycopg.Connection) -> None:
    """Makes the session's temporary table that `write_rollup` copies into; once per connection."""
    connection.execute(_INCOMING)
    connection.execute("SET monitor.hours = 'written'")  # by us, and not by the triggers of migration 0007


def write_rollup(
    connection: psycopg.Connection,
    assessments: Iterable[Assessment | CountedAssessment],
    cap: LabelCap,
    *,
    instead_of: Iterable[CountedAssessment] = (),
) -> None:
    """Adds `assessments` to the rollup, and takes out what they stand `instead_of`.

    Upserts go in the order of their key, so replicas cannot deadlock.
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
    """Counts messages that arrived, by where they stood, and those of them that became dead letters, at `now`."""
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
# made of this file's own constants
_INCOMING = f"""
    CREATE TEMPORARY TABLE incoming_minute
    (LIKE verdict_minute INCLUDING DEFAULTS, {", ".join(f"{name} double precision" for name in _SQUARES)})
    ON COMMIT DELETE ROWS
"""
_COPY = f"COPY incoming_minute ({_COLUMNS}, {', '.join(_SQUARES)}) FROM STDIN"
_UPSERT = f"""
    INSERT INTO verdict_minute AS v ({_COLUMNS})
    SELECT {_COLUMNS} FROM incoming_minute ORDER BY {", ".join(KEY)}
    ON CONFLICT ({", ".join(KEY)}) DO UPDATE SET
    {", ".join(f"{name} = v.{name} + excluded.{name}" for name in _ADDED)},
    {", ".join(f"{name} = add_bins(v.{name}, excluded.{name})" for name in _BINS)}
"""  # noqa: S608
_UPSERT_HOURS = f"""
    INSERT INTO verdict_hour AS v (hour, {_LABELS}, {", ".join((*_ADDED, *_SQUARES))})
    SELECT date_trunc('hour', minute, 'UTC'), {_LABELS}, {", ".join(f"sum({name})" for name in (*_ADDED, *_SQUARES))}
    FROM incoming_minute GROUP BY 1, {_LABELS} ORDER BY 1, {_LABELS}
    ON CONFLICT (hour, {_LABELS}) DO UPDATE SET
    {", ".join(f"{name} = v.{name} + excluded.{name}" for name in (*_ADDED, *_SQUARES))}
"""  # noqa: S608
_INGESTED = """
    INSERT INTO ingest_minute AS i (minute, source, received, dead) VALUES (%s, %s, %s, %s)
    ON CONFLICT (minute, source) DO UPDATE SET received = i.received + excluded.received, dead = i.dead + excluded.dead
"""
