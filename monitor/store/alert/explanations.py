"""Stores explanations of alerts, and reads the answers that they compare: even samples of window and baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any
from zlib import crc32

from sqlalchemy import Connection, Engine, RowMapping, select, text
from sqlalchemy.dialects import postgresql

from monitor.alert.explain.answer import AnswerRow
from monitor.alert.explain.explanation import Explanation
from monitor.alert.notification import NotifiedAlert
from monitor.alert.window import MINUTE, Span
from monitor.core.model import Probabilities, Verdict
from monitor.store.database import retriable
from monitor.store.tables.alerts import alert_explanation
from monitor.store.tables.interactions import OTHER

MOST = 4_000  # rows of a side
TIMEOUT_MS = 5_000  # of a statement
SLICES = 400  # of a span that has more rows than are read
COUNTED = 480  # minutes that tell how many rows a span has; all of a shorter one
_PASSED = 10  # assessments that may be read per row of a side, to find those with its labels
_LONGEST = 2_000  # characters of a text that are read
_BURST = 4  # rows that a slice may give, as a multiple of its even share
_GOLDEN = 0.6180339887498949  # (√5 - 1) / 2

# Counts answers from the rollup, without reading them.
_COUNT = """
    SELECT v.app, sum(v.total) FILTER (WHERE v.wanted) AS wanted, sum(v.total) AS passed
    FROM unnest(CAST(:minutes AS timestamptz[])) AS m (minute)
    CROSS JOIN LATERAL (
        SELECT r.app, r.total, true {conditions} AS wanted FROM verdict_minute r
        WHERE r.minute = m.minute AND (:any_app OR r.app = ANY(CAST(:apps AS text[]))) OFFSET 0
    ) v
    GROUP BY v.app
"""
_KNOWN_APPS = "SELECT value FROM rollup_label WHERE label = 'app'"
_ROLLUP_COLUMNS = {"environment": "r.environment", "model": "r.model", "topic": "r.topic"}
# Reads the assessments of each slice of time by the index on app, verdict and time (hence all verdicts by name), then
# the interaction of each by its key. LIMIT and OFFSET 0 keep the planner from joining whole months instead.
_ROWS = """
    SELECT i.*, a.verdict, a.reasons, a.p_grounded, a.p_refusal, a.p_self_generated, a.rank,
        a.qrd, a.embedding_model, a.diagnosis, a.matches
    FROM unnest(CAST(:starts AS timestamptz[]), CAST(:ends AS timestamptz[])) AS s (start, stop)
    CROSS JOIN LATERAL (
        SELECT a.app, a.id, a.occurred_at, a.verdict, a.reasons, a.p_grounded, a.p_refusal, a.p_self_generated, a.rank,
            a.qrd, a.embedding_model, a.diagnosis,
            (CAST(:signal AS text) = 'negative' AND a.verdict <> 'grounded')
                OR a.verdict = CAST(:signal AS text) OR CAST(:signal AS text) = ANY(a.reasons)
                OR coalesce(a.diagnosis = CAST(:signal AS text), false) AS matches
        FROM assessment a
        WHERE a.app = ANY(CAST(:apps AS text[])) AND a.verdict = ANY(CAST(:verdicts AS text[])) AND a.live
            AND a.occurred_at >= s.start AND a.occurred_at < s.stop
            AND a.occurred_at >= :first AND a.occurred_at < :last
        ORDER BY a.occurred_at, a.id LIMIT :of_slice
    ) a
    CROSS JOIN LATERAL (
        SELECT i.id, i.app, i.environment, i.occurred_at, i.model, i.prompt_version, i.tags,
            jsonb_path_query_array(i.retrieved_documents, '$[*].id') AS documents,
            left(i.question, :longest) AS question,
            CASE WHEN a.matches AND :answers THEN left(i.answer, :longest) END AS answer
        FROM interaction i
        WHERE i.app = a.app AND i.id = a.id AND i.occurred_at = a.occurred_at {conditions} OFFSET 0
    ) i
"""
_INTERACTION_COLUMNS = {
    "environment": "i.environment",
    "model": "coalesce(i.model, '')",
    "topic": "coalesce(i.tags ->> 'topic', '')",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnswerFilter:
    """Which answers to read: `labels` maps label names to the allowed values."""

    labels: Mapping[str, Sequence[str]]
    signal: str
    most: int


class ExplanationRows:
    """Reads; every method may raise `Retriable`, also where a statement takes longer than `TIMEOUT_MS`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def read(
        self,
        selector: Mapping[str, tuple[str, ...]],
        labels: Mapping[str, str],
        signal: str,
        window: Span,
        baseline: Span,
        *,
        most: int = MOST,
    ) -> tuple[list[AnswerRow], list[AnswerRow]]:
        """The assessed answers of window and baseline under `selector` and `labels`, each with whether it matches.

        A side with more than `most` answers is sampled. Each of 400 equal parts of the span gives all answers of one
        thin slice, so that busy hours give more than quiet ones. The place of the slice follows a fixed sequence, so
        that the same rows are read again; the rollup says how thin the slice is. At most `most` answers come back,
        oldest first. Answers of an app beyond the rollup's cap are not read; nor, where no app is named, those of apps
        that have next to none in a long span.
        """
        allowed = {name: tuple(values) for name, values in selector.items() if values}
        # values that are counted under OTHER cannot be told apart
        allowed |= {name: (value,) for name, value in labels.items() if value != OTHER or name == "app"}
        wanted = _AnswerFilter(labels=allowed, signal=signal, most=most)
        with retriable(), self._engine.begin() as connection:
            connection.execute(text(f"SET LOCAL statement_timeout = {TIMEOUT_MS}"))
            return _side(connection, wanted, window, now=True), _side(connection, wanted, baseline, now=False)


class Explanations:
    """The explanations by episode; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def save(self, alert: NotifiedAlert, explanation: Explanation, now: datetime) -> None:
        """Stores the explanation of an episode, in place of an earlier one."""
        values = {"fingerprint": alert.fingerprint, "made_at": now, "explanation": explanation.to_json()}
        write = postgresql.insert(alert_explanation).values(episode=alert.episode, **values)
        with retriable(), self._engine.begin() as connection:
            connection.execute(write.on_conflict_do_update(index_elements=["episode"], set_=values))

    def of(self, episode: str) -> Explanation | None:
        """The explanation of an episode, if there is one."""
        query = select(alert_explanation.c.explanation).where(alert_explanation.c.episode == episode)
        with retriable(), self._engine.connect() as connection:
            stored = connection.scalar(query)
        return None if stored is None else Explanation.from_json(stored)


def _side(connection: Connection, wanted: _AnswerFilter, span: Span, *, now: bool) -> list[AnswerRow]:
    totals = _totals(connection, wanted, span)
    apps = list(wanted.labels.get("app", totals)) or list(connection.scalars(text(_KNOWN_APPS)))
    under_labels, passed = (sum(column) for column in zip(*totals.values(), strict=True)) if totals else (0.0, 0.0)
    fraction = min(wanted.most / max(under_labels, 1), _PASSED * wanted.most / max(passed, 1), 1)
    slices = thin_slices(span, fraction)
    conditions, values = _conditions(wanted.labels, _INTERACTION_COLUMNS)
    rows = connection.execute(
        text(_ROWS.format(conditions=conditions)),
        {
            **values,
            "starts": [slice_.start for slice_ in slices],
            "ends": [slice_.end for slice_ in slices],
            "first": span.start,
            "last": span.end,
            "apps": apps,
            "verdicts": [verdict.value for verdict in Verdict],
            "signal": wanted.signal,
            "of_slice": ceil(_BURST * max(passed * fraction, wanted.most) / len(slices)),
            "answers": now,
            "longest": _LONGEST,
        },
    ).mappings()
    chosen = sorted((_answered(row) for row in rows), key=_chance)[: wanted.most]
    return sorted(chosen, key=lambda row: (row.occurred_at, row.app, row.id))


def _totals(connection: Connection, wanted: _AnswerFilter, span: Span) -> dict[str, tuple[float, float]]:
    """How many answers of each app the span has, with the labels and in all; estimated beyond `COUNTED` minutes."""
    minutes = max(round(span.length / MINUTE), 1)
    counted = min(minutes, COUNTED)
    asked = [
        int((place + (_jitter(place) if counted < minutes else 0)) * minutes / counted) for place in range(counted)
    ]
    conditions, values = _conditions(wanted.labels, _ROLLUP_COLUMNS)
    values["minutes"] = [span.start + place * MINUTE for place in asked]
    values["any_app"], values["apps"] = "app" not in wanted.labels, list(wanted.labels.get("app", ()))
    rows = connection.execute(text(_COUNT.format(conditions=conditions)), values)
    scale = minutes / counted
    return {app: (float(under_labels or 0) * scale, float(passed) * scale) for app, under_labels, passed in rows}


def thin_slices(span: Span, fraction: float) -> list[Span]:
    """`SLICES` evenly spread slices that make up `fraction` of the span; from 1 on the whole span."""
    if fraction >= 1:
        return [span]
    part = span.length / SLICES
    length = max(part * fraction, timedelta(milliseconds=1))
    starts = [span.start + part * place + (part - length) * _jitter(place) for place in range(SLICES)]
    return [Span(start=start, end=start + length) for start in starts]


def _jitter(place: int) -> float:
    """A number in [0, 1): a fixed, evenly spread sequence that does not fall into step with periodic traffic."""
    return place * _GOLDEN % 1


def _conditions(labels: Mapping[str, Sequence[str]], columns: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """SQL conditions for those labels that have a column, each beginning with AND, and their values."""
    known = [name for name in columns if name in labels]
    sql = " ".join(f"AND {columns[name]} = ANY(CAST(:of_{name} AS text[]))" for name in known)
    return sql, {f"of_{name}": list(labels[name]) for name in known}


def _chance(row: AnswerRow) -> tuple[int, str, str]:
    return crc32(row.id.encode()), row.app, row.id


def _answered(row: RowMapping) -> AnswerRow:
    tags: dict[str, str] = dict(row["tags"])
    occurred_at: datetime = row["occurred_at"]
    return AnswerRow(
        id=row["id"],
        app=row["app"],
        environment=row["environment"],
        occurred_at=occurred_at,
        matches=row["matches"],
        verdict=row["verdict"],
        probabilities=Probabilities(
            grounded=row["p_grounded"], refusal=row["p_refusal"], self_generated=row["p_self_generated"]
        ),
        rank=row["rank"],
        reasons=tuple(row["reasons"]),
        diagnosis=row["diagnosis"],
        qrd=row["qrd"],
        embedding_model=row["embedding_model"],
        model=row["model"],
        prompt_version=row["prompt_version"],
        topic=tags.pop("topic", None),
        tags=tags,
        documents=tuple(row["documents"]),
        question=row["question"],
        answer=row["answer"],
    )
