"""Reads how an app was watched in a week, for its report: alerts, silences, judgements, messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, text

from monitor.alert.state import State
from monitor.core.batch import Tally
from monitor.core.figures.usage import AnswerUsage
from monitor.core.model import Unscored
from monitor.report.weekly.facts import (
    Arrivals,
    Behind,
    Coverage,
    Episode,
    JudgedMetric,
    Usage,
    UsedInTwoWeeks,
    WeekSilence,
)
from monitor.report.weekly.week import Week
from monitor.store.interaction.usage import read_usage
from monitor.store.ledger.ledger import Ledger, source_of
from monitor.store.tables.signals import verdict_hour

_PROBLEMS = 10  # the most frequent problems of dead letters
_ACTIVE = [state.value for state in State if state.active]

# Nothing after the end of the week is read, so that a week reads the same later.
_EPISODES = text("""
    WITH episodes AS (
        SELECT e.fingerprint, e.episode, l.rule, l.severity, l.labels,
            (array_agg(e.to_state ORDER BY e.id DESC))[1] = ANY(CAST(:active AS text[])) AS goes_on,
            min(e.at) FILTER (WHERE e.to_state = ANY(CAST(:active AS text[]))) AS fired_at,
            max(e.at) FILTER (WHERE e.from_state = ANY(CAST(:active AS text[]))) AS left_at
        FROM alert_event e JOIN alert l USING (fingerprint)
        WHERE e.at < :end AND coalesce(l.labels ->> 'app', '') IN ('', :app)
        GROUP BY e.fingerprint, e.episode, l.rule, l.severity, l.labels
    )
    SELECT e.episode, e.rule, e.severity, e.labels, e.fired_at, d.at AS acknowledged_at, d.by AS acknowledged_by,
        CASE WHEN NOT e.goes_on THEN e.left_at END AS resolved_at
    FROM episodes e
    LEFT JOIN LATERAL (
        SELECT a.at, a.by FROM alert_action a
        WHERE a.fingerprint = e.fingerprint AND a.episode = e.episode AND a.action = 'acknowledge' AND a.at < :end
        ORDER BY a.id LIMIT 1
    ) d ON true
    WHERE e.fired_at IS NOT NULL AND (e.goes_on OR e.left_at >= :start)
    ORDER BY e.fired_at, e.episode
""")
_SILENCES = text("""
    SELECT matchers, starts_at, ends_at, created_by, comment FROM silence
    WHERE starts_at < :end AND ends_at > :start AND ends_at > starts_at ORDER BY starts_at, id
""")
# Sums of numerics are exact in any order. An answer that the sample takes with probability 1/w stands for w answers.
_JUDGED = text("""
    SELECT metric, model, count(*) AS judged, count(score) AS scored,
        coalesce(sum(weight), 0) AS weights, coalesce(sum(weight * weight), 0) AS squared_weights,
        coalesce(sum(weight * score), 0) AS sum, coalesce(sum(weight * score * score), 0) AS squares,
        sum(calls) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
        coalesce(sum(cost::numeric), 0) AS cost
    FROM (
        SELECT metric, model, calls, input_tokens, output_tokens, cost, score::numeric AS score,
            CASE WHEN score IS NOT NULL THEN 1 / coalesce(inclusion, 1)::numeric END AS weight
        FROM judgement WHERE app = :app AND occurred_at >= :start AND occurred_at < :end
    ) j
    GROUP BY metric, model ORDER BY metric, model
""")
_JUDGED_ANSWERS = text("""
    SELECT count(DISTINCT id) FROM judgement WHERE app = :app AND occurred_at >= :start AND occurred_at < :end
""")
_USAGE = text("""
    SELECT purpose, model, sum(calls) AS calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
        sum(cost::numeric) AS cost
    FROM llm_usage WHERE hour >= :start AND hour < :end GROUP BY purpose, model ORDER BY purpose, model
""")
_ARRIVALS = text("""
    SELECT source, sum(received)::bigint AS received, sum(dead)::bigint AS dead FROM ingest_minute
    WHERE minute >= :start AND minute < :end GROUP BY source ORDER BY source
""")
_LETTERS = text("""
    SELECT CASE path WHEN '$' THEN 'the message ' ELSE path || ': ' END || problem AS problem, count(*) AS letters
    FROM dead_letter
    WHERE received_at >= :start AND received_at < :end GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :most
""")
_PENDING = text("""
    SELECT count(*) FROM pending
    WHERE kind = 'assess' AND app = :app AND occurred_at >= :start AND occurred_at < :end
""")
_UNSCORED = text("""
    SELECT reason, sum(turns) AS turns FROM unscored_minute
    WHERE app = :app AND minute >= :start AND minute < :end AND reason = ANY(:reasons)
    GROUP BY reason HAVING sum(turns) > 0
""")
# Of a source that the ledger holds, the ledger tells more.
_READ_ONCE = text("""
    SELECT source, sum(received)::bigint AS received, sum(dead)::bigint AS dead FROM ingest_minute
    WHERE NOT source = ANY(CAST(:ledger AS text[])) GROUP BY source ORDER BY 2 DESC, 1 LIMIT :most
""")
_WATCHED = text("SELECT count(*) FROM watched_day WHERE day >= :monday AND day < :monday + 7")
_READING = text("""
    SELECT topic, partition, max(through) AS through, min(behind) AS behind FROM reading GROUP BY topic, partition
""")


def episodes(connection: Connection, values: Mapping[str, Any]) -> tuple[Episode, ...]:
    """The episodes of alerts of the app and of no app, in the order in which they fired."""
    rows = connection.execute(_EPISODES, {**values, "active": _ACTIVE}).mappings()
    return tuple(Episode(**row) for row in rows)


def watched(connection: Connection, week: Week) -> int:
    """The number of days of the week on which a rule was evaluated."""
    return int(connection.scalar(_WATCHED, {"monday": week.monday}) or 0)


def silences(connection: Connection, values: Mapping[str, Any]) -> tuple[WeekSilence, ...]:
    """The silences in force at any time of the week."""
    return tuple(
        WeekSilence(
            matchers=tuple(row["matchers"]),
            starts_at=row["starts_at"],
            ends_at=row["ends_at"],
            by=row["created_by"],
            comment=row["comment"],
        )
        for row in connection.execute(_SILENCES, values).mappings()
    )


def judged(connection: Connection, app: str, week: Week) -> tuple[JudgedMetric, ...]:
    """Judgements by metric and model."""
    rows = connection.execute(_JUDGED, {"app": app, "start": week.start, "end": week.end}).mappings()
    return tuple(_judged_metric(row) for row in rows)


def _judged_metric(row: RowMapping) -> JudgedMetric:
    """The weighted sums, scaled to the number of unweighted answers that they are worth (Kish): (Σw)² / Σw²."""
    weights, squared = row["weights"], row["squared_weights"]
    worth = round(weights * weights / squared) if squared else 0
    scale = worth / weights if worth else 0
    return JudgedMetric(
        metric=row["metric"],
        model=row["model"],
        judged=row["judged"],
        scored=row["scored"],
        worth=worth,
        sum=float(row["sum"] * scale),
        squares=float(row["squares"] * scale),
        cost=float(row["cost"]),
        **_whole(row),
    )


def judged_answers(connection: Connection, values: Mapping[str, Any]) -> int:
    """The number of answers of the week with a judgement."""
    return int(connection.scalar(_JUDGED_ANSWERS, values) or 0)


def usage(connection: Connection, values: Mapping[str, Any]) -> tuple[Usage, ...]:
    """The use of language models by all apps, by purpose and model."""
    rows = connection.execute(_USAGE, values).mappings()
    return tuple(Usage(**{**row, "cost": float(row["cost"]), **_whole(row)}) for row in rows)


def coverage(connection: Connection, engine: Engine, values: Mapping[str, Any]) -> Coverage:
    """The outcomes of messages; the ledger is read outside the snapshot."""
    letters = connection.execute(_LETTERS, {**values, "most": _PROBLEMS})
    unscored = connection.execute(_UNSCORED, {**values, "reasons": list(Unscored)})
    rows = [row for row in Ledger(engine).read()[0] if row.live]
    in_ledger = {"ledger": sorted({source_of(row.topic) for row in rows}), "most": _PROBLEMS}
    named = ("received", "assessed", "duplicate", "dead", "pending", "unscored")
    return Coverage(
        pending=int(connection.scalar(_PENDING, values) or 0),
        unscored={Unscored(row.reason): int(row.turns) for row in unscored},
        arrivals=tuple(Arrivals(**row) for row in connection.execute(_ARRIVALS, values).mappings()),
        problems=tuple((row.problem, row.letters) for row in letters),
        ledger=sum((Tally(**{name: row.counts[name] for name in named}) for row in rows), Tally()),
        read_once=tuple(Arrivals(**row) for row in connection.execute(_READ_ONCE, in_ledger).mappings()),
        partitions=len(rows),
        unbalanced=sum(not row.balanced for row in rows),
        behind=_behind(connection),
    )


def _behind(connection: Connection) -> tuple[Behind, ...]:
    """By source: how far its slowest partition was read, and all its unread messages."""
    through: dict[str, datetime] = {}
    unread: defaultdict[str, int] = defaultdict(int)
    for row in connection.execute(_READING):
        source = source_of(row.topic)
        through[source] = min(row.through, through.get(source, row.through))
        unread[source] += row.behind
    return tuple(Behind(source=source, through=at, unread=unread[source]) for source, at in sorted(through.items()))


def _whole(row: RowMapping) -> dict[str, int]:
    """The sums of integers, which PostgreSQL returns as numerics."""
    return {name: int(row[name]) for name in ("calls", "input_tokens", "output_tokens")}


def used(connection: Connection, app: str, week: Week) -> dict[str, UsedInTwoWeeks]:
    """What the answers of both weeks used, by model."""
    this, before = (
        read_usage(connection, verdict_hour, one.start, one.end, by=("model",), app=app) for one in (week, week.before)
    )
    nothing = AnswerUsage()
    return {
        model: UsedInTwoWeeks(this=this.get((model,), nothing), before=before.get((model,), nothing))
        for model in sorted({name for (name,) in (*this, *before)})
    }
