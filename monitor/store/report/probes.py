"""Reads the runs of probes for weekly reports."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, text

from monitor.probe.compare import alike, compare
from monitor.probe.figures import figures
from monitor.probe.result import ScoredRun
from monitor.report.weekly.probes.week import FELL, ProbeWeek
from monitor.report.weekly.week import Week
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.runs import ProbeRuns

_NEWEST = text("""
    SELECT DISTINCT ON (probe, began_at >= :start) began_at >= :start AS this, probe, number FROM probe_run
    WHERE app = :app AND state = 'done' AND NOT candidate AND began_at >= :before AND began_at < :end
    ORDER BY probe, began_at >= :start, number DESC
""")


def probed(connection: Connection, engine: Engine, app: str, week: Week) -> tuple[ProbeWeek, ...]:
    """The newest run that is done of each probe of the app in the week, with that of the week before, by name."""
    values = {"app": app, "start": week.start, "before": week.before.start, "end": week.end}
    rows = connection.execute(_NEWEST, values).all()
    known = {one.run.number: one for one in ProbeRuns(engine).scored([row.number for row in rows])} if rows else {}
    this = {row.probe: known[row.number] for row in rows if row.this}
    before = {row.probe: known[row.number] for row in rows if not row.this}
    return tuple(_week(GoldenSets(engine), one, before.get(probe)) for probe, one in this.items())


def _week(golden: GoldenSets, this: ScoredRun, before: ScoredRun | None) -> ProbeWeek:
    if before is None:
        return ProbeWeek(run=this.run, figures=figures(this.scores))
    known = golden.version(this.run.golden, this.run.golden_version)
    same = None
    if before.run.golden_hash != this.run.golden_hash:
        same = alike(golden.version(before.run.golden, before.run.golden_version), known)
    compared = compare(before.scores, this.scores, same=same)
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
