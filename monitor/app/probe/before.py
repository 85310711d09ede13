"""What a run of a probe is compared with: the run before it, over the questions that both have."""

from __future__ import annotations

from monitor.probe.compare import Compared, alike, compare
from monitor.probe.result import ProbeRun, RunState
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.runs import ProbeRuns

_LOOKED_AT = 20  # earlier runs of which one is expected to be done


def run_before(runs: ProbeRuns, run: ProbeRun) -> ProbeRun | None:
    """The newest earlier run of the same probe that is done and judged something, among the last 20 deployed ones."""
    earlier = runs.runs(
        probe=run.probe, app=run.app, environment=run.environment, candidate=False, before=run.number, most=_LOOKED_AT
    )
    known = runs.figures([one.number for one in earlier if one.state is RunState.DONE])
    return next((one for one in earlier if one.number in known and known[one.number].unsure.count), None)


def shared_items(golden: GoldenSets, before: ProbeRun | None, after: ProbeRun) -> frozenset[str] | None:
    """The items with the same texts in the golden sets of both runs; None if the sets are the same."""
    if before is None or before.golden_hash == after.golden_hash:
        return None
    first, second = (golden.version(run.golden, run.golden_version) for run in (before, after))
    return alike(first, second)


def compared_runs(runs: ProbeRuns, golden: GoldenSets, before: ProbeRun, after: ProbeRun) -> Compared:
    """The two runs compared question by question."""
    scores = {one.run.number: one.scores for one in runs.scored([before.number, after.number])}
    same = shared_items(golden, before, after)
    return compare(
        scores.get(before.number, []),
        scores.get(after.number, []),
        same=same,
        same_turns=before.turns == after.turns,
    )
