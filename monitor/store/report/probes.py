"""Reads the runs of probes for weekly reports."""

from __future__ import annotations

from sqlalchemy import Connection, Engine

from monitor.probe.compare import alike, compare
from monitor.probe.figures import figures
from monitor.probe.result import ScoredRun
from monitor.report.weekly.probes.week import FELL, ProbeWeek
from monitor.report.weekly.week import Week
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.newest import newest_runs
from monitor.store.probe.runs import ProbeRuns


def probed(connection: Connection, engine: Engine, app: str, week: Week) -> tuple[ProbeWeek, ...]:
    """The newest run that is done of each probe and environment of the app in the week, with the week's before."""
    this = newest_runs(connection, most=1, since=week.start, until=week.end, app=app)
    before = newest_runs(connection, most=1, since=week.before.start, until=week.start, app=app) if this else []
    scored = {one.run.number: one for one in ProbeRuns(engine).scored([run.number for run in (*this, *before)])}
    earlier = {(run.probe, run.environment): scored[run.number] for run in before}
    golden = GoldenSets(engine)
    return tuple(_week(golden, scored[run.number], earlier.get((run.probe, run.environment))) for run in this)


def _week(golden: GoldenSets, this: ScoredRun, before: ScoredRun | None) -> ProbeWeek:
    if before is None:
        return ProbeWeek(run=this.run, figures=figures(this.scores))
    known = golden.version(this.run.golden, this.run.golden_version)
    same = None
    if before.run.golden_hash != this.run.golden_hash:
        same = alike(golden.version(before.run.golden, before.run.golden_version), known)
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
