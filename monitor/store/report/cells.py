"""Reads the hourly counts of an app, in which the report of a week looks for what went wrong.

From the rollup by hour, so that the cost follows the rows of four weeks and not the answers; the minutes of an outage
from the rollup by minute. Prompt versions, which no rollup has, come from a sample of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection, RowMapping, text

from monitor.core.model import Verdict
from monitor.report.findings.cells import ALL_SIGNALS, DAY, HOURS, NEGATIVE, WHOLE, Cells
from monitor.report.findings.find import SAMPLED
from monitor.report.findings.outages import Minute, Outage
from monitor.report.weekly.week import Week
from monitor.store.report.rows import INTERACTION, SAMPLED_ROWS, sample

LABELS = ("environment", "model", "topic")
_AROUND = timedelta(hours=2)  # of an outage
_COUNTS = """
    sum(total)::bigint AS total, sum(refusal)::bigint AS refusal, sum(self_generated)::bigint AS self_generated,
    sum(retrieval_off_question)::bigint AS retrieval_off_question
"""
_HOURS = """
    SELECT floor(extract(epoch FROM hour - :trend) / 3600)::int AS hour, environment, model, topic, {counts}
    FROM verdict_hour WHERE app = :app AND hour >= :trend AND hour < :end GROUP BY 1, 2, 3, 4 HAVING sum(total) > 0
"""
_MINUTES = """
    SELECT floor(extract(epoch FROM minute - :trend) / 60)::int AS minute, {counts}
    FROM verdict_minute WHERE app = :app AND minute >= :start AND minute < :until {where} GROUP BY 1 ORDER BY 1
"""
_DAYS = """
    SELECT floor(extract(epoch FROM a.occurred_at - :trend) / 86400)::int * 24 AS hour, i.environment,
        coalesce(i.model, '') AS model, coalesce(i.tags ->> 'topic', '') AS topic,
        coalesce(i.prompt_version, '') AS prompt_version, count(*) AS total,
        count(*) FILTER (WHERE a.verdict = 'refusal') AS refusal,
        count(*) FILTER (WHERE a.verdict = 'self_generated') AS self_generated,
        count(*) FILTER (WHERE 'retrieval_off_question' = ANY(a.reasons)) AS retrieval_off_question
    {sampled} {interaction} GROUP BY 1, 2, 3, 4, 5
"""
_NAMED = "environment, i.model, i.tags, i.prompt_version"


def hourly(connection: Connection, app: str, week: Week) -> Cells:
    """The counts of the four weeks up to the end of `week`, by hour, environment, model and topic."""
    values = {"app": app, "trend": week.trend_start, "end": week.end}
    return _cells(connection.execute(text(_HOURS.format(counts=_COUNTS)), values).mappings().all(), LABELS)


def sampled_days(connection: Connection, app: str, week: Week, *, total: int) -> Cells:
    """The same by day, with the prompt version, from all of the `total` answers or an even sample of them."""
    values = sample(app, week.trend_start, week.end, total) | {"trend": week.trend_start}
    days = text(_DAYS.format(sampled=SAMPLED_ROWS, interaction=INTERACTION.format(column=_NAMED)))
    return _cells(connection.execute(days, values).mappings().all(), (*LABELS, SAMPLED))


def minutes(connection: Connection, app: str, week: Week, outage: Outage) -> list[Minute]:
    """The minutes around the outage with answers, in the slice that it is about."""
    its = outage.slice
    start = week.trend_start + timedelta(hours=outage.start) - _AROUND
    values: dict[str, Any] = {
        "app": app,
        "trend": week.trend_start,
        "start": max(start, week.start),
        "until": _end(week, outage),
        "value": its.value,
    }
    where = "" if its.label == WHOLE else f"AND {its.label} = :value"
    rows = connection.execute(text(_MINUTES.format(counts=_COUNTS, where=where)), values).mappings()
    return [
        Minute(row["minute"], row["total"], _count(row, outage.signal), negative=_count(row, NEGATIVE)) for row in rows
    ]


def _end(week: Week, outage: Outage) -> datetime:
    return min(week.trend_start + timedelta(hours=outage.end) + _AROUND, week.end)


def _cells(rows: Sequence[RowMapping], labels: Sequence[str]) -> Cells:
    values = {label: tuple(sorted({row[label] for row in rows})) for label in labels}
    places: Mapping[str, Mapping[str, int]] = {
        label: {value: place for place, value in enumerate(known)} for label, known in values.items()
    }

    def array(found: list[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.array(found, np.int64)

    return Cells(
        hour=array([min(row["hour"], HOURS - DAY if SAMPLED in labels else HOURS - 1) for row in rows]),
        total=array([row["total"] for row in rows]),
        counts={signal: array([_count(row, signal) for row in rows]) for signal in ALL_SIGNALS},
        labels={label: array([places[label][row[label]] for row in rows]) for label in labels},
        values=values,
    )


def _count(row: RowMapping, signal: str) -> int:
    if signal == NEGATIVE:
        return int(row[Verdict.REFUSAL] + row[Verdict.SELF_GENERATED])
    return int(row[signal])
