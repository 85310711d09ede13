"""Prints runs of probes, their items, and what a comparison found."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from monitor.assess.judge.correctness.grade import HIGHEST
from monitor.cli.terminal import literal, plural
from monitor.core.text.plain import readable
from monitor.probe.compare import CONFIDENCE, FEWEST, Compared, Difference, compare
from monitor.probe.figures import Mean, RunFigures, figures
from monitor.probe.result import ItemResult, ItemState, ProbeRun, RunState, ScoredRun

if TYPE_CHECKING:
    from monitor.store.probe.runs import ProbeRuns

_NAMES: Final = {
    "correctness": "correctness, 1 to 5",
    "wscore": "wscore, 0 to 5",
    "lscore": "turns (lscore)",
    "mscore": "best answer (mscore)",
    "unsure": "not sure",
}
_OUTCOMES: Final = {
    "better": "better",
    "worse": "worse",
    "no_difference_shown": "no difference shown",
    "too_few": f"fewer than {FEWEST} questions",
}
_WORST = 3  # items that are named below a run
_SHOWN = 200  # characters of a text


@contextmanager
def progress(items: int, *, quiet: bool) -> Iterator[Callable[[ItemResult], None]]:
    """Yields a function that counts results: on a bar on a terminal, not at all elsewhere."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=quiet or not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task("asking", total=items)
        yield lambda _: bar.advance(task)


def print_run(
    run: ProbeRun,
    results: Sequence[ItemResult],
    *,
    runs: ProbeRuns,
    before: ProbeRun | None,
    shared: Collection[str] | None,
    program: str = "monitor",
    leads_on: bool = True,
) -> None:
    """The figures of a run, how it compares with the one before it, its worst questions, and what shows all of them.

    `program` is how a line for a shell begins that runs the program. Without `leads_on` the questions are left out: all
    of them follow.
    """
    found = figures([one.scored for one in results])
    typer.echo(f"run {run.number} of the probe {readable(run.probe)}: {_about(run)}")
    _print_figures(run, found)
    for state in (ItemState.FAILED, ItemState.UNGRADED):
        if number := found.states.get(state, 0):
            who = "the chatbot did not answer" if state is ItemState.FAILED else "the judge did not grade"
            typer.echo(f"{who} {plural(number, 'question')}")
    if run.error:
        typer.echo(f"{run.state}: {readable(run.error)}")
    if before is not None and found.unsure.count:  # something was judged
        earlier = next(iter(runs.scored([before.number])), None)
        if earlier is not None:
            compared = compare(earlier.scores, [one.scored for one in results], same=shared)
            typer.echo(f"against run {before.number}{_version(before)}: {_line(compared.differences['correctness'])}")
            typer.echo(f"  {program} probe compare {before.number} {run.number}")
    if leads_on and results:
        _print_worst(results)
        typer.echo(f"  {program} probe show {run.number}")


def _print_figures(run: ProbeRun, found: RunFigures) -> None:
    """The figures that something was measured for."""
    table = Table(box=None, pad_edge=False)
    for name in ("figure", "mean", "95 % interval", "questions"):
        table.add_column(name, justify="left" if name == "figure" else "right")
    for name, words in _NAMES.items():
        mean = found.named(name)
        if mean.mean is not None and (run.turns > 1 or name in {"correctness", "unsure"}):
            table.add_row(words, _value(mean, share=name == "unsure"), _interval(mean, name), str(mean.count))
    if table.rows:
        Console().print(table)


def _print_worst(results: Sequence[ItemResult]) -> None:
    below = [one for one in results if one.correctness is not None and one.correctness < HIGHEST]
    worst = sorted(below, key=lambda one: one.correctness or 0)
    for one in worst[:_WORST]:
        typer.echo(f"  {one.correctness:g}  {readable(one.item.id)}: {_short(one.item.question)}")


def print_items(run: ProbeRun, results: Sequence[ItemResult]) -> None:
    """Each item of a run with its turns, the worst first."""
    console = Console(highlight=False)
    for one in sorted(results, key=lambda one: (one.correctness or 0, one.item.id)):
        console.print(f"\n[bold]{literal(one.item.id)}[/bold] {one.state} {_scores(one, turns=run.turns)}")
        console.print(f"  reference  {literal(_short(one.item.reference))}")
        for number, turn in enumerate(one.turns, start=1):
            console.print(f"  {number} asked    {literal(_short(turn.question))}")
            console.print(f"    answer   {literal(_short(turn.failure or turn.answer))}")
            if turn.composed is not None:
                console.print(f"    composed {literal(_short(turn.composed))}")
            if turn.grade is not None:
                score = "no grade" if turn.grade.score is None else f"{turn.grade.score:g}"
                console.print(f"    judge    {score}: {literal(_short(turn.grade.reason or turn.grade.feedback))}")
            if turn.leaks:
                console.print(f"    kept out {literal(', '.join(turn.leaks))}")


def print_runs(scored: Sequence[ScoredRun]) -> None:
    """A line for each run; the number of questions gives way to wscore where a run has further turns."""
    with_turns = any(one.run.turns > 1 for one in scored)
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    names = ["run", "probe", "chatbot", "began (UTC)", "state", "correctness", "not sure"]
    for name in [*names, "wscore" if with_turns else "asked"]:
        words = name in {"probe", "chatbot", "state"}
        foreign = name in {"probe", "chatbot"}  # of any length: they go on in the next line, whole
        table.add_column(name, justify="left" if words else "right", no_wrap=not foreign, overflow="fold")
    for one in scored:
        found, run = figures(one.scores), one.run
        row = [
            str(run.number),
            literal(run.probe),
            literal(run.chatbot) or "-",
            f"{run.began_at:%Y-%m-%d %H:%M}",
            "candidate" if run.candidate and run.state is RunState.DONE else run.state,
            _value(found.correctness),
            _value(found.unsure, share=True),
        ]
        last = str(len(one.scores)) if not with_turns else _value(found.wscore) if run.turns > 1 else "-"
        table.add_row(*row, last)
    Console().print(table)


def print_comparison(before: ProbeRun, after: ProbeRun, found: Compared) -> None:
    """What a comparison found, and the questions that moved most."""
    typer.echo(f"run {before.number}{_version(before)} against run {after.number}{_version(after)}")
    for name, difference in found.differences.items():
        if name == "correctness" or (difference.pairs and (name != "wscore" or max(before.turns, after.turns) > 1)):
            typer.echo(f"{_NAMES[name]}: {_line(difference, share=name == 'unsure')}")
    for line in _unlike(before, after):
        typer.echo(line)
    if found.unpaired:
        typer.echo(f"{plural(found.unpaired, 'question')} were judged in one of the runs only")
    for one in found.moved[:10]:
        if one.by < 0:
            typer.echo(f"  {_score(one.before)} -> {_score(one.after)}  {readable(one.item)}")


def _unlike(before: ProbeRun, after: ProbeRun) -> Iterator[str]:
    """What else than the chatbot may move the scores between two runs."""
    asked = [f"{one.probe} about {one.app} in {one.environment}" for one in (before, after)]
    if asked[0] != asked[1]:
        yield f"the runs are of different probes: {readable(asked[0])}, then {readable(asked[1])}"
    if before.golden_hash != after.golden_hash:
        yield "the golden sets differ: only questions with the same text and reference are compared"
    if before.turns != after.turns:
        yield f"wscore is not compared: conversations had up to {before.turns} turns, then {after.turns}"
    if before.judge != after.judge:
        yield f"the judge changed, which moves scores by itself: {readable(before.judge)}, then {readable(after.judge)}"
    elif (before.turns, before.repeats) == (after.turns, after.repeats) and before.prompts_hash != after.prompts_hash:
        yield "the judge's prompts changed, which moves scores by itself"
    if before.repeats != after.repeats:
        yield f"answers were judged {before.repeats} times each, then {after.repeats}"


def _line(difference: Difference, *, share: bool = False) -> str:
    if difference.mean is None:
        return "no question was judged in both runs"
    words = f"{_signed(difference.mean, share=share)} over {plural(difference.pairs, 'question')}"
    if difference.lower is None or difference.upper is None:
        return f"{words}: {_OUTCOMES[difference.outcome]}, too few to compare"
    low, high = (_signed(bound, share=share) for bound in (difference.lower, difference.upper))
    interval = "" if low == high else f" ({CONFIDENCE:.0%} interval {low} to {high})"
    return f"{words}{interval}: {_OUTCOMES[difference.outcome]}"


def _score(value: float) -> str:
    return f"{value:g}" if value else "not sure"


def _signed(value: float, *, share: bool) -> str:
    return f"{value * 100:+.1f} pp" if share else f"{value:+.2f}"


def _about(run: ProbeRun) -> str:
    about = f"{plural(run.items, 'question')} of {shlex.quote(readable(run.golden))}, version {run.golden_version}"
    return f"{_state(run)}, {about}, {readable(run.target)}{_version(run)}, judged by {readable(run.judge)}"


def _state(run: ProbeRun) -> str:
    return f"{run.state} (candidate)" if run.candidate else run.state


def _version(run: ProbeRun) -> str:
    return f" ({readable(run.chatbot)})" if run.chatbot else ""


def _scores(one: ItemResult, *, turns: int) -> str:
    """Its scores; those of a conversation say nothing about a single turn."""
    of_turns = (("wscore", one.wscore), ("turns", one.lscore), ("best", one.mscore))
    named = (("correctness", one.correctness), *(of_turns if turns > 1 else ()))
    return ", ".join(f"{name} {value:g}" for name, value in named if value is not None)


def _value(mean: Mean, *, share: bool = False) -> str:
    if mean.mean is None:
        return "-"
    return f"{mean.mean:.1%}" if share else f"{mean.mean:.2f}"


def _interval(mean: Mean, name: str) -> str:
    if mean.lower is None or mean.upper is None:
        return "-"
    low, high = (f"{bound:.1%}" if name == "unsure" else f"{bound:.2f}" for bound in (mean.lower, mean.upper))
    return low if low == high else f"{low} to {high}"


def _short(text: str) -> str:
    line = readable(" ".join(text.split()))
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
