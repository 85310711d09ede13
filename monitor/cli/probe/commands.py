"""The commands `monitor probe …`."""

from __future__ import annotations

import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.opening import opened
from monitor.cli.probe.agreement import agreement
from monitor.cli.probe.named_runs import compared_runs, none_stored
from monitor.cli.terminal import AsJson, actor, print_json, stopping
from monitor.core.errors import MonitorError, OutOfReach, WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application
    from monitor.probe.junit import Threshold
    from monitor.probe.result import ItemResult, ProbeRun

probe_app = typer.Typer(
    name="probe",
    no_args_is_help=True,
    help="Ask a chatbot golden questions, and see whether its answers are right.",
)
_NOT_JUDGED = "no answer could be judged"
_Run = Annotated[str, typer.Argument(metavar="RUN", help="The number of a run, or a version of the chatbot.")]


@probe_app.command("run")
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A probe of the file that MONITOR_PROBES names.")],
    *,
    version: Annotated[str | None, typer.Option(help="The version of the chatbot; default: what it tells.")] = None,
    golden: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Ask the questions of this file, kept as the golden set of its name."),
    ] = None,
    turns: Annotated[int | None, typer.Option(min=1, max=20, help="The most turns of a conversation.")] = None,
    candidate: Annotated[
        bool,
        typer.Option("--candidate", help="This version is not deployed: count the run in no alert, chart or report."),
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Ask only the first N questions, and count the run as a candidate's."),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="FIGURE=LIMIT", help="Exit with 1 under this mean, such as correctness=4.0; repeatable."),
    ] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the run as JUnit XML.")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask every question of a golden set, and grade the answers.

    Exits with 1 if a threshold is not reached or the run was stopped, and with 3 if what it needs is out of reach.
    """
    from monitor.app.probe.before import run_before, shared_items
    from monitor.app.probe.run import run_probe
    from monitor.cli.probe.tables import print_run, progress
    from monitor.probe.result import RunState

    thresholds = _thresholds(fail_under or [])
    if junit is not None and not junit.parent.is_dir():
        raise WrongSettings(f"--junit: there is no folder {junit.parent}")
    with opened() as application, stopping() as stop:
        probe = application.probing.probe(name)
        if golden is not None:
            probe = replace(probe, golden=_imported(application, golden))
        known = application.probing.golden.newest(probe.golden)
        with progress(min(limit or 10**9, len(known.items)) if known else 0, quiet=as_json) as report:
            done, error, unfound = run_probe(
                application,
                probe,
                stop=stop,
                turns=turns,
                version=version,
                most=limit,
                candidate=candidate,
                report=report,
            )
        results = application.probing.runs.results(done.number)
        before = run_before(application.probing.runs, done)
        problems = _problems(done, results, thresholds)
        error = error or _out_of_reach(results)
        if junit is not None:
            _write_junit(junit, done, results, thresholds)
        if as_json:
            print_json({**run_json(done, results), "failed": problems})
        else:
            shared = shared_items(application.probing.golden, before, done)
            told = done if done.error is None else replace(done, error=done.error.removesuffix(f": {error}"))
            print_run(told, results, runs=application.probing.runs, before=before, shared=shared)
            for line in (f"failed: {problem}" for problem in problems if not _is_told(problem, done, error)):
                typer.echo(line)
            for line in unfound:
                typer.echo(readable(line))
    if error is not None:  # which ends up on standard error, so that nothing above repeats it
        raise error
    if problems or done.state is not RunState.DONE:
        raise typer.Exit(1)


@probe_app.command("list")
def list_(
    *,
    probe: Annotated[str | None, typer.Option(help="Only runs of this probe.")] = None,
    app_name: Annotated[str | None, typer.Option("--app", help="Only runs about this app.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="The most runs to list.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List runs, the newest first, with their figures."""
    from monitor.cli.probe.tables import print_runs
    from monitor.probe.figures import figures

    with opened() as application:
        runs = application.probing.runs.runs(probe=probe, app=app_name, most=limit)
        scored = application.probing.runs.scored([one.number for one in runs])
        why = "" if scored else none_stored(application.probing.runs, probe=probe, app=app_name)
    if as_json:
        print_json([{**asdict(one.run), "figures": figures(one.scores).to_json()} for one in scored])
    elif scored:
        print_runs(scored)
    else:
        typer.echo(why)


@probe_app.command("show")
def show(
    number: Annotated[int, typer.Argument(metavar="RUN", min=1, help="The number of a run.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Show a run: its figures, and each question with the conversation about it, the worst first."""
    from monitor.app.probe.before import run_before, shared_items
    from monitor.cli.probe.tables import print_items, print_run

    with opened() as application:
        found = application.probing.runs.run(number)
        if found is None:
            raise WrongSettings(f"there is no run {number}: monitor probe list")
        results = application.probing.runs.results(number)
        if as_json:
            print_json(run_json(found, results))
            return
        before = run_before(application.probing.runs, found)
        shared = shared_items(application.probing.golden, before, found)
        print_run(found, results, runs=application.probing.runs, before=before, shared=shared, leads_on=False)
    print_items(found, results)


@probe_app.command("compare")
def compare(
    before: _Run,
    after: _Run,
    *,
    probe: Annotated[str | None, typer.Option(help="Versions: only runs of this probe.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs question by question: is one version of the chatbot better?"""
    from monitor.app.probe.before import shared_items
    from monitor.cli.probe.tables import print_comparison
    from monitor.probe.compare import compare as compared

    with opened() as application:
        first, second = compared_runs(application.probing.runs, before, after, probe=probe)
        same = shared_items(application.probing.golden, first, second)
        scored = {one.run.number: one.scores for one in application.probing.runs.scored([first.number, second.number])}
    found = compared(scored[first.number], scored[second.number], same=same, same_turns=first.turns == second.turns)
    if as_json:
        print_json({"before": asdict(first), "after": asdict(second), **found.to_json()})
    else:
        print_comparison(first, second, found)


def run_json(run: ProbeRun, results: list[ItemResult]) -> dict[str, object]:
    """A run with its figures and results."""
    from monitor.probe.figures import figures

    return {
        "run": asdict(run),
        "figures": figures([one.scored for one in results]).to_json(),
        "items": [
            {
                **{name: value for name, value in asdict(result).items() if name not in {"turns", "spend"}},
                "spend": asdict(result.spend),
                "turns": [
                    {
                        **{name: value for name, value in asdict(turn).items() if name != "grade"},
                        "scores": [] if turn.grade is None else turn.grade.scores,
                        "feedback": "" if turn.grade is None else turn.grade.feedback,
                        "reason": None if turn.grade is None else turn.grade.reason,
                    }
                    for turn in result.turns
                ],
            }
            for result in results
        ],
    }


def _thresholds(given: list[str]) -> list[Threshold]:
    from monitor.probe.junit import parse_threshold

    try:
        return [parse_threshold(text) for text in given]
    except ValueError as error:
        raise WrongSettings(f"--fail-under: {error}") from None


def _problems(run: ProbeRun, results: list[ItemResult], thresholds: list[Threshold]) -> list[str]:
    from monitor.probe.figures import figures
    from monitor.probe.junit import checks

    found = figures([one.scored for one in results])
    problems = [problem for _, problem in checks(found, thresholds) if problem is not None]
    if results and not found.unsure.count:
        problems.append(f"{_NOT_JUDGED}: {_reason(results[0])}")
    return [*problems, *([run.error] if run.error else [])]


def _is_told(problem: str, run: ProbeRun, error: MonitorError | None) -> bool:
    """Whether the run or the error that ends the command says the same."""
    return problem == run.error or (isinstance(error, OutOfReach) and problem.startswith(_NOT_JUDGED))


def _reason(result: ItemResult) -> str:
    """Why an item has no grade."""
    turn = result.turns[0]
    return readable(turn.failure or (turn.grade and turn.grade.reason) or "no grade")


def _out_of_reach(results: list[ItemResult]) -> OutOfReach | None:
    """The error of a run in which no question reached the chatbot."""
    failures = [one.turns[0].failure or "" for one in results if one.turns]
    if not failures or not all(failure.startswith("out_of_reach: ") for failure in failures):
        return None
    return OutOfReach(f"no question reached the chatbot: {failures[0].partition(': ')[2]}")


def _write_junit(path: Path, run: ProbeRun, results: list[ItemResult], thresholds: list[Threshold]) -> None:
    from monitor.core.files import replacing
    from monitor.probe.figures import figures
    from monitor.probe.junit import junit_xml

    content = junit_xml(run, results, figures([one.scored for one in results]), thresholds)
    with replacing(path) as file:
        file.write(content)


def _imported(application: Application, path: Path) -> str:
    """The name of the golden set that the file has become: the file's, unless a configured probe asks that set."""
    from monitor.probe.formats.read import read_golden

    if asked := next((one.name for one in application.probing.probes().values() if one.golden == path.stem), None):
        raise WrongSettings(
            f"--golden: the probe {asked!r} asks the golden set {path.stem!r}, which this file would change: give the "
            f"file another name, or import it with monitor golden import {shlex.quote(str(path))} --set {path.stem}"
        )
    items = read_golden(path)
    return application.probing.golden.save(path.stem, items, by=actor(None), now=application.now()).name


probe_app.command("agreement")(agreement)
