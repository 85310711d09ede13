"""The check of scheduled and other probes: can each be asked, and did its newest run say anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from monitor.alert.probed import says_enough
from monitor.app.doctor.words import Warned, few
from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import plural, readable
from monitor.probe.file import Probe
from monitor.probe.golden import no_golden_set
from monitor.probe.result import ProbeRun, RunState
from monitor.store.migrate import has_schema


def check_probes(application: Application) -> str | Warned:
    """Opens what each probe asks, and asks nothing; warns of a scheduled probe whose newest run says too little."""
    if application.settings.probes is None:
        return "not set: MONITOR_PROBES"
    known = application.probing.probes()
    made = {one.name for one in application.probing.golden.every()} if has_schema(application.engine) else set()
    for probe in known.values():
        if probe.golden not in made:
            raise WrongSettings(f"the probe {readable(probe.name)}: {no_golden_set(probe.golden)}")
        for target in (probe.open_target(), probe.open_retriever()):
            if target is not None:
                target.close()
    found = f"{plural(len(known), 'probe')}: {few(sorted(map(readable, known)))}"
    if poor := [*_poor_runs(application, known.values())]:
        return Warned(
            detail="; ".join(detail for detail, _ in poor) + f" ({found})",
            mended_by=", ".join(f"`monitor probe show {number}`" for _, number in poor),
        )
    return found


def _poor_runs(application: Application, probes: Iterable[Probe]) -> Iterator[tuple[str, int]]:
    """What is wrong with the newest run of each scheduled probe that says too little, and the number of the run."""
    runs = application.probing.runs
    for probe in probes:
        run = _newest_ended(application, probe) if probe.scheduled else None
        if run is None:
            continue
        judged = runs.figures([run.number])[run.number].unsure.count
        if run.state is RunState.FAILED or not says_enough(judged, of=run.items):
            why = readable(run.error) if run.error else f"{judged} of {run.items} questions judged"
            yield f"run {run.number} of {readable(probe.name)}: {why}", run.number


def _newest_ended(application: Application, probe: Probe) -> ProbeRun | None:
    """One that still goes on is left out; there is at most one, since a probe runs once at a time."""
    newest = application.probing.runs.runs(
        probe=probe.name, app=probe.app, environment=probe.environment, candidate=False, most=2
    )
    return next((run for run in newest if run.state is not RunState.RUNNING), None)
