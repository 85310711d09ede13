"""Reads the newest runs of probes for alert rules, a bounded number of rows whatever has run before."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from itertools import groupby

from sqlalchemy import Engine, text

from monitor.alert.probed import MAX_AGE, RUNS, Probed, ProbedRun
from monitor.store.database import bounded

# The newest runs of each probe by the index on probe and number; `also` are runs that a rule still measures with.
_RUNS = text("""
    WITH RECURSIVE named AS (
        (SELECT probe FROM probe_run ORDER BY probe LIMIT 1)
        UNION ALL
        SELECT (SELECT r.probe FROM probe_run r WHERE r.probe > named.probe ORDER BY r.probe LIMIT 1)
        FROM named WHERE named.probe IS NOT NULL
    ), newest AS (
        SELECT run.number FROM named CROSS JOIN LATERAL (
            SELECT r.number FROM probe_run r
            WHERE r.probe = named.probe AND r.state = 'done' AND r.began_at >= :since ORDER BY r.number DESC LIMIT :most
        ) run
    )
    SELECT r.number, r.probe, r.app, r.environment, r.chatbot, r.turns, r.ended_at, r.items
    FROM probe_run r WHERE (r.number IN (SELECT number FROM newest) OR r.number = ANY(:also)) AND r.state = 'done'
    ORDER BY r.probe, r.app, r.environment, r.number DESC
""")
_SCORES = text("""
    SELECT run, item, state, correctness, wscore FROM probe_result
    WHERE run = ANY(:runs) AND state IN ('graded', 'unsure')
""")


def probed_runs(engine: Engine, name: str, *, also: Collection[int], now: datetime) -> list[Probed]:
    """The probes with a run that began in the last `MAX_AGE`; `name` is `correctness`, `wscore` or `unsure`.

    Raises:
        Retriable: the database is out of reach.
    """
    values: dict[int, dict[str, float]] = {}
    judged: dict[int, int] = {}
    with bounded(engine) as connection:
        runs = connection.execute(_RUNS, {"since": now - MAX_AGE, "most": RUNS, "also": [*also]}).all()
        for row in connection.execute(_SCORES, {"runs": [run.number for run in runs]}):
            judged[row.run] = judged.get(row.run, 0) + 1
            unsure = row.state == "unsure"
            value = float(unsure) if name == "unsure" else None if unsure else getattr(row, name)
            if value is not None:
                values.setdefault(row.run, {})[row.item] = value
    found = []
    for (probe, app, environment), group in groupby(runs, key=lambda run: (run.probe, run.app, run.environment)):
        own = tuple(
            ProbedRun(
                number=run.number,
                ended_at=run.ended_at,
                chatbot=run.chatbot,
                turns=run.turns,
                items=run.items,
                judged=judged.get(run.number, 0),
                values=values.get(run.number, {}),
            )
            for run in group
        )
        if now - own[0].ended_at < MAX_AGE:
            found.append(Probed(probe=probe, app=app, environment=environment, runs=own))
    return found
