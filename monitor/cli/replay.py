"""The command `monitor replay`."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.app.logs import ledger_line, say
from monitor.cli.opening import opened
from monitor.cli.rescore.command import rescore_command
from monitor.cli.terminal import AppOfEvents, AsJson, Dialect, Map, plural, print_json, progress_bar, stopping
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict
from monitor.core.pending import Work
from monitor.core.text.interaction_name import explain_command
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from monitor.app.replay import Summary, Unchanged

NAMED = 3  # answers that a sentence names


def replay(
    files: Annotated[
        list[Path], typer.Argument(help="JSON lines, JSON or CSV, also .gz and .zst; - is standard input.")
    ],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write one assessment per line; - is standard output.")
    ] = None,
    app_name: AppOfEvents = None,
    dialect: Dialect = None,
    places: Map = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if a line was rejected.")] = False,
    as_json: AsJson = False,
) -> None:
    """Assess the interactions in files and store them.

    Interactions that are stored already count as duplicates. Exits with 1 if every line was rejected.
    """
    from monitor.app.replay import replay as run_replay
    from monitor.ingest.mapping import event_map
    from monitor.store.pending.queue import PendingQueue

    if as_json and output == Path("-"):
        raise WrongSettings("--json and --output - both write to standard output: choose one")
    with stopping() as stop, opened(migrated=False) as application, progress_bar() as progress:
        summary = run_replay(
            application,
            files,
            output=output,
            app=app_name,
            dialect=dialect,
            event_map=event_map(places or ()),
            progress=progress,
            stop=stop,
        )
        waiting = {c.kind: c.waiting for c in PendingQueue(application.engine).counts(application.now()) if c.waiting}
        used = application.settings.profile or application.assessing.profile.name
    tally = summary.tally
    rescore = _rescore(summary.unchanged, used)
    if as_json:
        verdicts = {verdict.value: summary.verdicts[verdict] for verdict in Verdict}
        print_json(
            {
                **asdict(tally),
                "balanced": tally.balanced,
                "verdicts": verdicts,
                "rejected": summary.rejected,
                "unchanged": summary.unchanged.answers,
                "rescore": rescore,
                "other_texts": {"answers": summary.with_other_texts, "first": summary.other_texts},
                "collected": {
                    "messages": summary.collected,
                    "traces": len(summary.traces),
                    **{n: summary.turns[n] for n in ("assessed", "unscored")},
                },
            }
        )
    else:
        _print_summary(summary, waiting)
        if rescore is not None:
            stored = plural(summary.unchanged.answers, "answer")
            say(f"{stored} stored under another profile keep their verdicts; to judge them under this one too:")
            say(f"  {readable(rescore)}")
        for line in _next_steps(summary):
            say(readable(line))
        if stop.is_set():
            say("stopped before the end; a second run counts what is stored already as duplicates")
    useless = 0 < tally.received == tally.dead  # not the kind of file that was meant
    if useless and not as_json:
        say("nothing was assessed: see `monitor docs start/forms` for what a file may hold, and `monitor decode FILE`")
    if stop.is_set() or not tally.balanced or useless or (strict and tally.dead):
        raise typer.Exit(1)


def _next_steps(summary: Summary) -> Iterator[str]:
    """Yields the commands that show the answers, each with what it shows; nothing without answers."""
    if not summary.apps:
        return
    yield "next:"
    if summary.negative is not None:
        yield f"  {explain_command(*summary.negative)}  # why this answer is negative"
    (*_, app) = summary.apps
    of = f" --app {shlex.quote(app)}" if len(summary.apps) == 1 else ""
    yield f"  monitor explain{of}  # the newest answers with their verdicts"
    yield "  monitor serve  # all answers, on pages in the browser: the negative ones by themselves, and over time"


def _rescore(unchanged: Unchanged, profile: str) -> str | None:
    """The command that gives the unchanged answers a verdict under the profile; None where there are none."""
    if unchanged.first is None or unchanged.last is None:
        return None
    (*_, app) = unchanged.apps
    return rescore_command(
        profile, unchanged.first, unchanged.last + timedelta(microseconds=1), app if len(unchanged.apps) == 1 else None
    )


def _print_summary(summary: Summary, waiting: Mapping[Work, int]) -> None:
    """Prints what became of the input to standard error, and how much work is `waiting`, by kind."""
    say(ledger_line(summary.tally))
    if not summary.tally.received:
        say("nothing was read: the input is empty, or a table with nothing below the row that names its columns")
    if summary.collected:
        of = f" with spans of {plural(len(summary.traces), 'trace')}" if summary.traces else ""
        turns, unscored = summary.turns["assessed"], summary.turns["unscored"]
        say(
            f"{plural(summary.collected, 'message')}{of}, all closed now: "
            f"{plural(turns, 'turn')} assessed, {unscored} without scores; `monitor ledger` counts them"
        )
    if summary.other_texts:
        duplicates = plural(summary.with_other_texts, "duplicate")
        named = readable(", ".join(summary.other_texts[:NAMED])) + (", …" if summary.with_other_texts > NAMED else "")
        say(
            f"{duplicates} with another question or answer than is stored under the same id, which stays: {named}; "
            "if they are other answers, give each an id of its own, or use another --app"
        )
    if summary.verdicts:
        say(f"verdicts: {_shares(summary.verdicts)}")
    for line in summary.rejected:
        say(f"  rejected {readable(line)}")
    if (more := summary.tally.dead - len(summary.rejected)) > 0:
        say(f"  and {more} more: see `monitor deadletters list`")
    if waiting:
        work = ", ".join(f"{number} to {kind.replace('_', ' to ')}" for kind, number in waiting.items())
        say(f"stored interactions still to process: {work}; run `monitor pending work`")


def _shares(verdicts: Counter[Verdict]) -> str:
    total = verdicts.total()
    counts = ((verdict, verdicts[verdict]) for verdict in Verdict)
    return ", ".join(f"{number} {verdict.replace('_', '-')} ({number / total:.0%})" for verdict, number in counts)
