"""Reads the runs of probes for weekly reports."""

from __future__ import annotations

from sqlalchemy import Connection, text

from monitor.probe.compare import alike, compare
from monitor.probe.figures import figures
from monitor.probe.result import ScoredRun
from monitor.report.weekly.probes.week import FELL, ProbeWeek
from monitor.report.weekly.week import Week
from monitor.store.probe.golden import golden_version
from monitor.store.probe.newest import newest_runs
from monitor.store.probe.runs import scored_runs

# App by app, so that the runs of other weeks are not read.
_APPS = text("""
    WITH RECURSIVE named AS (
        (SELECT app FROM probe_run ORDER BY app LIMIT 1)
        UNION ALL
        SELECT (SELECT r.app FROM probe_run r WHERE r.app > named.app ORDER BY r.app LIMIT 1)
        FROM named WHERE named.app IS NOT NULL
    )
    SELECT named.app FROM named CROSS JOIN LATERAL (
        SELECT FROM probe_run r
        WHERE r.app = named.app AND r.began_at >= :start AND r.began_at < :end AND r.state = 'done' AND NOT r.candidate
        LIMIT 1
    ) found
    ORDER BY named.app
""")


def probed_apps(connection: Connection, week: Week) -> list[str]:
    """The apps of which a run began in the week that is done and counts, by name."""
    return list(connection.scalars(_APPS, {"start": week.start, "end": week.end}))


def probed(connection: Connection, app: str, week: Week) -> tuple[ProbeWeek, ...]:
    """The newest run that is done of each probe and environment of the app in the week, with the week's before."""
    this = newest_runs(connection, most=1, since=week.start, until=week.end, app=app)
    before = newest_runs(connection, most=1, since=week.before.start, until=week.start, app=app) if this else []
    scored = {one.run.number: one for one in scored_runs(connection, [run.number for run in (*this, *before)])}
    earlier = {(run.probe, run.environment): scored[run.number] for run in before}
    return tuple(_week(connection, scored[run.number], earlier.get((run.probe, run.environment))) for run in this)


def _week(connection: Connection, this: ScoredRun, before: ScoredRun | None) -> ProbeWeek:
    if before is None:
        return ProbeWeek(run=this.run, figures=figures(this.scores))
    known = golden_version(connection, this.run.golden, this.run.golden_version)
    same = None
    if before.run.golden_hash != this.run.golden_hash:
        same = alike(golden_version(connection, before.run.golden, before.run.golden_version), known)
    compared = compare(before.scores, this.scores, same=same, same_turns=before.run.turns == this.run.turns)
    fell = {moved.item for moved in compared.moved[:FELL]}
    items = () if known is None else known.items
    return ProbeWeek(
        run=this.run,
        figures=figures(this.scores),
        before=before.run,
        figures_before=figures(before.scores),
        compared=compared,
        questions={item.id: item.question for item in items if item.id in fell and item.source is None},
    )
