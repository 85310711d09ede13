"""The command `monitor rescore`."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from monitor.cli.opening import opened
from monitor.cli.rescore.tables import estimate_words, moves_json, print_moves
from monitor.cli.terminal import AsJson, actor, confirm, plural, point_in_time, print_json, stopping
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application
    from monitor.store.rescore.answers import RescoreSpan
    from monitor.store.rescore.comparison import Move

ASKED_FROM = 60.0  # seconds of work, from which on it asks first: nothing that is shown changes
_HASH = re.compile("[0-9a-f]{8,16}")


def rescore(
    *,
    profile: Annotated[str, typer.Option(help="Name, file or hash of a profile; a hash for --compare and --use only.")],
    start: Annotated[str, typer.Option("--from", metavar="TIME", help="Answers from this time on.")],
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="And before this one; default: now.")] = None,
    app_name: Annotated[str | None, typer.Option("--app", help="Only this app; default: all apps.")] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Only show how the verdicts under the profile differ from those shown.")
    ] = False,
    use: Annotated[
        bool, typer.Option("--use", help="Show and count the verdicts under the profile in place of the present ones.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would do and how long it takes.")
    ] = False,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who does it; default: your login.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Give stored answers a second verdict under another profile, beside the one shown.

    Nothing that is shown or counted changes before --use, and --use under the earlier profile takes it back.
    """
    if compare and use:
        raise WrongSettings("give either --compare or --use, not both")
    who = actor(by)
    stored_only = compare or use
    settings = load_settings() if stored_only else load_settings(profile=profile)
    with stopping() as stop, opened(settings, migrated=stored_only) as application:
        if not stored_only:
            application.migrate() if dry_run else application.prepare()
        span, name = _span(application, profile, start, end, app_name, stored_only=stored_only)
        words = _words(profile, span)
        if use:
            result = _use(
                application, span, name, words, by=who, ask=not yes, dry_run=dry_run, stop=stop, quiet=as_json
            )
        elif compare:
            result = {}
        else:
            result = _add(application, span, name, ask=not yes, dry_run=dry_run, stop=stop, quiet=as_json)
        moves = _moves(application, span)
        if as_json:
            print_json({**_span_json(span, name), **result, **moves_json(moves)})
        else:
            print_moves(moves, name)
            if stop.is_set():
                typer.echo("stopped before the end; the same command goes on from here", err=True)
            elif not use and any(move.answers > move.in_use for move in moves):
                typer.echo(f"to show and count them in place of the present ones: {words} --use")
    if stop.is_set():
        raise typer.Exit(1)


def _span(
    application: Application, profile: str, start: str, end: str | None, app: str | None, *, stored_only: bool
) -> tuple[RescoreSpan, str]:
    """What to do, and the name of the profile."""
    from monitor.assess.classify.profile import read_profile
    from monitor.store.rescore.answers import RescoreSpan

    found = None
    if stored_only and _HASH.fullmatch(profile) and not Path(profile).exists():
        found = application.queries.profile_name(profile)
        if found is None:
            raise WrongSettings(f"--profile {profile}: no stored profile, or more than one, has a hash like this")
    if found is None:
        used = read_profile(profile) if stored_only else application.assessing.profile
        # earlier shipped profiles share a name with the present one, and are called as they were named
        found = used.hash, used.name if Path(profile).suffix else profile
    since = point_in_time(start, "--from")
    until = application.now() if end is None else point_in_time(end, "--to")
    if since >= until:
        raise WrongSettings("--from must be before --to")
    return RescoreSpan(profile_hash=found[0], since=since, until=until, app=app), found[1]


def rescore_command(profile: str, since: datetime, until: datetime, app: str | None) -> str:
    """The command for this profile and span, without what it is to do."""
    named = "" if app is None else f" --app {shlex.quote(app)}"
    return f"monitor rescore --profile {shlex.quote(profile)} --from {_time(since)} --to {_time(until)}{named}"


def _words(profile: str, span: RescoreSpan) -> str:
    return readable(rescore_command(profile, span.since, span.until, span.app))


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _add(
    application: Application, span: RescoreSpan, name: str, *, ask: bool, dry_run: bool, stop: Any, quiet: bool
) -> dict[str, Any]:
    from monitor.app.rescore import estimate, rescore

    found = estimate(application, span)
    left = found.totals.left
    typer.echo(estimate_words(found, name), err=True)
    added = 0
    if left and not dry_run:
        if ask and found.seconds >= ASKED_FROM:
            confirm(f"Assess {plural(left, 'answer')} again?")
        with _bar("assessing", left, quiet=quiet) as progress:
            added = rescore(application, span, stop=stop, progress=progress)
        typer.echo(f"{plural(added, 'verdict')} added", err=True)
    totals = found.totals
    return {
        "answers": totals.answers,
        "already": totals.assessed,
        "erased": totals.erased,
        "left": left - added,
        "added": added,
        "estimated_seconds": round(found.seconds, 1),
    }


def _use(
    application: Application,
    span: RescoreSpan,
    name: str,
    words: str,
    *,
    by: str,
    ask: bool,
    dry_run: bool,
    stop: Any,
    quiet: bool,
) -> dict[str, Any]:
    from monitor.app.rescore import use
    from monitor.store.rescore.answers import RescoreAnswers

    totals = RescoreAnswers(application.engine).totals(span)
    of_new_answers = application.assessing.profile  # read first: nothing must fail once verdicts are in use
    waiting = sum(move.answers - move.in_use for move in _moves(application, span))
    typer.echo(
        f"{plural(waiting, 'answer')} of {totals.answers} would show the verdict under {readable(name)}", err=True
    )
    if totals.left:
        typer.echo(f"{totals.left} have none under it and keep theirs; first run: {words}", err=True)
    replaced: Counter[str] = Counter()
    if waiting and not dry_run:
        if ask:
            confirm("Lists, rates, reports and alerts will count these verdicts. Put them in use?")
        with _bar("putting in use", waiting, quiet=quiet) as progress:
            replaced = use(application, span, by=by, now=application.now(), stop=stop, progress=progress)
        typer.echo(f"{plural(replaced.total(), 'verdict')} put in use", err=True)
    back = {hash_: f"{_words(hash_, span)} --use" for hash_ in replaced}
    for hash_, command in back.items():
        typer.echo(f"to go back for {plural(replaced[hash_], 'answer')}: {command}", err=True)
    if replaced and of_new_answers.hash != span.profile_hash:
        typer.echo(
            f"new answers still get their verdicts under {readable(of_new_answers.name)}: set MONITOR_PROFILE for "
            "`monitor run`, and restart it",
            err=True,
        )
    return {"put_in_use": replaced.total(), "replaced": dict(replaced), "back": list(back.values())}


def _moves(application: Application, span: RescoreSpan) -> list[Move]:
    from monitor.store.rescore.comparison import compare

    return compare(application.engine, span)


def _span_json(span: RescoreSpan, name: str) -> dict[str, Any]:
    profile = {"name": name, "hash": span.profile_hash}
    return {"profile": profile, "app": span.app, "from": span.since, "to": span.until}


@contextmanager
def _bar(doing: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    console = Console(stderr=True)
    with Progress(
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=quiet or not console.is_terminal,
    ) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done: bar.update(task, completed=done)
