"""Runs a probe: asks the chatbot every golden question, grades the answers, and stores each as it comes."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from threading import Event
from typing import NamedTuple

from monitor.app.wiring.application import Application
from monitor.assess.llm.exchange import prompts_hash
from monitor.core.errors import MonitorError, OutOfReach, WrongSettings
from monitor.core.stage import stage
from monitor.probe.file import Probe
from monitor.probe.golden import GoldenSet, no_golden_set
from monitor.probe.result import ItemResult, ProbeRun, RunState
from monitor.probe.run import Ran, run_items
from monitor.store.pending.finish import save_prompts


class Ended(NamedTuple):
    """A run as it ended, what ended it early, if that was an error, and which paths of the target found nothing.

    `unfound` has a sentence for each.
    """

    run: ProbeRun
    error: MonitorError | None
    unfound: Sequence[str]


def run_probe(
    application: Application,
    probe: Probe,
    *,
    stop: Event,
    turns: int | None = None,
    version: str | None = None,
    most: int | None = None,
    candidate: bool = False,
    check: Callable[[], None] = lambda: None,
    report: Callable[[ItemResult], None] = lambda _: None,
) -> Ended:
    """Asks the newest version of the probe's golden set, or its first `most` items.

    `turns` and `version` (of the chatbot) come before those of the probe. `candidate` says that this version is not
    deployed; a run of less than the whole golden set counts as one. `report` gets each result once it is stored.
    Once `stop` is set, the run ends as stopped. An error of the chatbot, the judge or the budget ends it as
    failed, and is returned, not raised. `check` is called once no other process can run the probe; what it raises is
    raised before anything is asked.

    Raises:
        WrongSettings: there is no such golden set, the probe is running already, or a setting is missing.
        Retriable, Fatal: the database, or what the judge's contexts come from, is out of reach or refuses.
    """
    probing = application.probing
    golden = probing.golden.newest(probe.golden)
    if golden is None:
        raise WrongSettings(no_golden_set(probe.golden))
    with probing.runs.running(probe.name) as ours:
        if not ours:
            raise WrongSettings(f"the probe {probe.name!r} is running already: monitor probe list shows its run")
        check()
        probing.runs.abandon(probe.name, now=application.now())
        with stage("probe", probe=probe.name, app=probe.app) as asked:
            ended = _run(
                application,
                probe,
                golden,
                stop=stop,
                turns=turns or probe.turns,
                version=probe.version if version is None else version,
                most=most,
                candidate=candidate or (most is not None and most < len(golden.items)),
                report=report,
            )
            asked.add(run=ended.run.number, items=ended.run.items, state=ended.run.state.value)
            return ended


def _run(
    application: Application,
    probe: Probe,
    golden: GoldenSet,
    *,
    stop: Event,
    turns: int,
    version: str,
    most: int | None,
    candidate: bool,
    report: Callable[[ItemResult], None],
) -> Ended:
    runs, mark = application.probing.runs, secrets.token_hex(16)
    items = golden.items[:most]
    with application.probing.asking(probe, turns=turns, mark=mark) as asking:
        with application.store.transaction() as connection:
            save_prompts(connection, [asking.prompts], application.now())
        run = runs.begin(
            ProbeRun(
                number=0,
                probe=probe.name,
                app=probe.app,
                environment=probe.environment,
                chatbot=version,
                golden=golden.name,
                golden_version=golden.version,
                golden_hash=golden.hash,
                items=len(items),
                target=asking.place,
                judge=asking.judge,
                prompts_hash=prompts_hash(asking.prompts),
                repeats=probe.repeats,
                turns=turns,
                state=RunState.RUNNING,
                began_at=application.now(),
                candidate=candidate,
            ),
            mark=mark,
        )
        told: Counter[str] = Counter()
        seen: set[str] = set()

        def done(place: int, result: ItemResult) -> None:
            runs.save(run.number, place, result)
            if result.version:
                told[result.version] += 1
                seen.add("version")
            if any(turn.failure is None for turn in result.turns):
                seen.add("answer")
            if any(turn.documents for turn in result.turns):
                seen.add("documents")
            report(result)

        ran, defect = Ran(asked=0), None
        try:
            ran = run_items(items, asking.converse, concurrency=probe.concurrency, stop=stop, done=done)
        except BaseException as raised:
            defect = raised
            raise
        finally:
            error = defect or ran.error
            whole = error is None and ran.asked == len(items)
            early = RunState.FAILED if isinstance(error, Exception) else RunState.STOPPED  # not by a second Ctrl-C
            runs.end(
                run.number,
                RunState.DONE if whole else early,
                now=application.now(),
                error=None if whole else _why(error, ran.asked, len(items)),
                chatbot=None if version or not told else told.most_common(1)[0][0],
            )
    ended = runs.run(run.number)
    if ended is None:
        raise OutOfReach(f"run {run.number} was removed while it ran")
    return Ended(ended, ran.error, _unfound(probe, seen))


def _unfound(probe: Probe, seen: Collection[str]) -> list[str]:
    """A sentence for each path beside the answer's that found nothing in any answer; none where nothing answered."""
    http = probe.target.http
    paths = {} if http is None or "answer" not in seen else {"documents": http.documents, "version": http.version}
    return [
        f"{name}: nothing stood at {path.text} in any answer of the chatbot: check this path in the probes file"
        for name, path in paths.items()
        if path is not None and name not in seen
    ]


def _why(error: BaseException | None, asked: int, items: int) -> str:
    said = "it was told to stop" if error is None else str(error) if isinstance(error, MonitorError) else repr(error)
    return f"{asked} of {items} questions were asked: {said}"
