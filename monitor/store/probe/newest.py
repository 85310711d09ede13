"""Reads the newest runs of probes, a bounded number of rows whatever has run before, and the figures of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

from monitor.probe.figures import SCORES, RunFigures, mean_of, share_of
from monitor.probe.result import ItemState, ProbeRun
from monitor.store.probe.rows import RUN_NAMES, probe_run_of

LOOKED_AT = 200  # newest runs of the same name that are done, of whatever app and environment
# `also` are runs that an alert rule still measures with. The order by probe makes the planner take the index on probe
# and number, and the LIMIT of 1 that of the number, where it would otherwise read all runs.
_NEWEST = """
    WITH RECURSIVE named AS (
        (SELECT probe FROM probe_run ORDER BY probe LIMIT 1)
        UNION ALL
        SELECT (SELECT r.probe FROM probe_run r WHERE r.probe > named.probe ORDER BY r.probe LIMIT 1)
        FROM named WHERE named.probe IS NOT NULL
    ), newest AS (
        SELECT run.number, row_number() OVER
            (PARTITION BY named.probe, run.app, run.environment ORDER BY run.number DESC) AS place
        FROM named CROSS JOIN LATERAL (
            SELECT r.number, r.app, r.environment, r.began_at FROM probe_run r
            WHERE r.probe = named.probe AND r.state IN ({states}) AND NOT r.candidate
                AND r.began_at < coalesce(:until, 'infinity'::timestamptz)
            ORDER BY r.probe DESC, r.number DESC LIMIT :looked_at
        ) run
        WHERE named.probe IS NOT NULL AND run.began_at >= :since AND run.app = coalesce(:app, run.app)
    ), wanted AS (
        SELECT number FROM newest WHERE place <= :most UNION SELECT unnest(CAST(:also AS bigint[]))
    )
    SELECT {columns}
    FROM wanted CROSS JOIN LATERAL (SELECT * FROM probe_run WHERE number = wanted.number LIMIT 1) r
    WHERE r.state IN ({states})
    ORDER BY r.probe, r.app, r.environment, r.number DESC
"""
_COLUMNS = ", ".join(f"r.{name}" for name in RUN_NAMES)
NEWEST = text(_NEWEST.format(columns=_COLUMNS, states="'done'"))
NEWEST_ENDED = text(_NEWEST.format(columns=_COLUMNS, states="'done', 'failed'"))
_BY_STATE = text(f"""
    SELECT run, state, count(*) AS items, {
    ", ".join(
        f"count({s}) AS {s}, avg({s})::float8 AS {s}_mean, stddev_samp({s})::float8 AS {s}_spread" for s in SCORES
    )
}
    FROM probe_result WHERE run = ANY(CAST(:runs AS bigint[])) GROUP BY run, state
""")  # noqa: S608  the names of columns are ours


def newest_runs(
    connection: Connection,
    *,
    most: int,
    since: datetime,
    until: datetime | None = None,
    app: str | None = None,
    also: Collection[int] = (),
    failed: bool = False,
) -> list[ProbeRun]:
    """The newest runs that are done of each probe, app and environment, in this order, up to `most` of each.

    They began at or after `since` and before `until`; runs of candidates are not among them. Of each name, `LOOKED_AT`
    runs are looked at. `also` are numbers of runs that are returned as well, if they are done. With `failed`, runs that
    an error ended are among them.
    """
    asked = {"most": most, "since": since, "until": until, "app": app, "also": [*also], "looked_at": LOOKED_AT}
    query = NEWEST_ENDED if failed else NEWEST
    return [probe_run_of(row) for row in connection.execute(query, asked).mappings()]


def run_figures(connection: Connection, numbers: Collection[int]) -> dict[int, RunFigures]:
    """The figures of runs by number, added up by the database: a few rows of each run, however many items it has."""
    found: dict[int, dict[ItemState, Mapping[Any, Any]]] = {number: {} for number in numbers}
    for row in connection.execute(_BY_STATE, {"runs": [*numbers]}).mappings():
        found[row["run"]][ItemState(row["state"])] = row
    return {number: _figures(by_state) for number, by_state in found.items()}


def _figures(by_state: Mapping[ItemState, Mapping[Any, Any]]) -> RunFigures:
    graded = by_state.get(ItemState.GRADED, {})
    means = {
        s: mean_of(graded.get(s, 0), graded.get(f"{s}_mean"), graded.get(f"{s}_spread"), scale)
        for s, scale in SCORES.items()
    }
    states = Counter({state: row["items"] for state, row in by_state.items()})
    judged = states[ItemState.UNSURE] + states[ItemState.GRADED]
    return RunFigures(**means, unsure=share_of(judged - graded.get("correctness", 0), judged), states=states)
