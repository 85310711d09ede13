"""The commands `monitor erase` and `monitor retention`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from monitor.app.privacy.retention import whole_months
from monitor.cli.terminal import AsJson, literal, print_json, stopping
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from monitor.store.privacy.retention import Due

if TYPE_CHECKING:
    from monitor.app.privacy.erasure import Found
    from monitor.core.settings.audit import AuditSettings
    from monitor.store.privacy.erasure import Wanted

SHOWN = 20  # interactions and dead letters that are named
_By = Annotated[str | None, typer.Option("--by", help="Who does it, for the audit trail; default: your login.")]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would go, and leave it.")]


def erase(
    *,
    app_name: Annotated[str, typer.Option("--app", help="Whose interactions.")],
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="All of this conversation.")] = None,
    interactions: Annotated[
        list[str] | None, typer.Option("--interaction", metavar="ID", help="These; may be given several times.")
    ] = None,
    tag: Annotated[str | None, typer.Option(metavar="NAME=VALUE", help="All with this tag.")] = None,
    reason: Annotated[
        str | None, typer.Option(help="Why; only that there was a reason is kept, not its words.")
    ] = None,
    by: _By = None,
    dead_letters: Annotated[
        bool, typer.Option("--dead-letters", help="Delete the dead letters too that name them.")
    ] = False,
    dry_run: _DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete for good what interactions say; verdicts, figures and times stay, and the audit trail stays provable."""
    from monitor.app.privacy.erasure import erase as run_erase
    from monitor.app.privacy.erasure import look
    from monitor.app.review import login_name, person
    from monitor.app.wiring.application import Application

    wanted = _wanted(app_name, conversation, interactions, tag)
    who = login_name() if by is None else person(by)
    with stopping() as stop, Application(load_settings()) as application:
        application.migrate()
        found = look(application, wanted)
        done = deleted = 0
        if not dry_run and (found.open or (dead_letters and found.dead_letters)):
            if not yes:
                _ask(found, dead_letters=dead_letters)
            done, deleted = run_erase(
                application, found, by=who, reason_given=bool(reason), dead_letters=dead_letters, stop=stop
            )
    if as_json:
        print_json(_erased_json(found, done, deleted, dry_run=dry_run))
    else:
        _say_erased(found, done, deleted, dry_run=dry_run, audit=application.settings.audit)
    if stop.is_set():
        typer.echo("stopped before the end; run it again for the rest", err=True)
        raise typer.Exit(1)


def retention(
    *,
    dry_run: _DryRun = False,
    by: _By = None,
    as_json: AsJson = False,
) -> None:
    """Remove what has been kept as long as MONITOR_RETENTION__… says; `monitor run` does it once a day."""
    from monitor.app.privacy.retention import PATIENCE, due, policy_of, remove
    from monitor.app.review import login_name, person
    from monitor.app.wiring.application import Application
    from monitor.core.retry import Interrupted, Retry
    from monitor.store.privacy.retention import Retention

    settings = load_settings()
    policy = policy_of(settings.retention)
    who = login_name() if by is None else person(by)
    parts = []
    with stopping() as stop, Application(settings) as application:
        application.migrate()
        store, now = Retention(application.engine), application.now()
        if dry_run:
            parts = due(store, policy, now)
        elif policy.limited:
            with store.holding() as ours:
                if not ours:
                    raise WrongSettings("another process is at it; try again later")
                try:
                    parts = remove(store, policy, by=who, now=now, again=Retry(stop=stop, patience=PATIENCE))
                except Interrupted:
                    parts = []
    if as_json:
        print_json(retention_json(parts, dry_run=dry_run))
    elif not policy.limited:
        typer.echo("everything is kept forever: MONITOR_RETENTION__KEEP and the like are not set")
    elif not parts:
        typer.echo("nothing is older than it is to be kept")
    else:
        console = Console(highlight=False)
        console.print(retention_table(parts))
        number = sum(one.due for one in parts)
        console.print(f"{number} interactions {'would be removed' if dry_run else 'removed'}")
    if stop.is_set():
        typer.echo("stopped before the end; run it again for the rest", err=True)
        raise typer.Exit(1)


def _wanted(app: str, conversation: str | None, ids: list[str] | None, tag: str | None) -> Wanted:
    from monitor.store.privacy.erasure import Wanted

    if sum(bool(given) for given in (conversation, ids, tag)) != 1:
        raise WrongSettings("whose? Say --conversation ID, --interaction ID or --tag NAME=VALUE, one of the three")
    name, equals, value = (tag or "").partition("=")
    if tag and not (name and equals and value):
        raise WrongSettings(f"--tag {tag}: write it as NAME=VALUE")
    return Wanted(app=app, conversation=conversation, ids=tuple(ids or ()), tag=(name, value) if tag else None)


def _ask(found: Found, *, dead_letters: bool) -> None:
    letters = f" and {len(found.dead_letters)} dead letters" if dead_letters and found.dead_letters else ""
    question = f"Erase for good what {len(found.open)} interactions of {found.wanted.app}{letters} say?"
    if not sys.stdin.isatty():
        raise WrongSettings(f"{question} Nobody is there to ask: say --yes")
    typer.confirm(question, abort=True, err=True)


def _erased_json(found: Found, done: int, deleted: int, *, dry_run: bool) -> dict[str, Any]:
    return {
        "app": found.wanted.app,
        "dry_run": dry_run,
        "interactions": [{"id": one.id, "occurred_at": one.occurred_at} for one in found.open],
        "erased": done,
        "erased_before": len(found.interactions) - len(found.open),
        "dead_letters": list(found.dead_letters),
        "dead_letters_deleted": deleted,
    }


def _say_erased(found: Found, done: int, deleted: int, *, dry_run: bool, audit: AuditSettings) -> None:
    console = Console(highlight=False, soft_wrap=True)
    before = len(found.interactions) - len(found.open)
    if not found.interactions:
        console.print("nothing of that is stored; what was erased before is found by its id only")
    elif not found.open:
        console.print(f"erased before: {before} interactions; nothing is left to erase")
    else:
        number = f"{len(found.open)} interactions would be erased" if dry_run else f"{done} interactions erased"
        console.print(f"{number}, {before} were before" if before else number)
    if dry_run:
        for one in found.open[:SHOWN]:
            console.print(literal(f"  {found.wanted.app}/{one.id}  {one.occurred_at:%Y-%m-%d %H:%M:%S %Z}"))
        if len(found.open) > SHOWN:
            console.print(f"  and {len(found.open) - SHOWN} more; --json has them all")
    if done:
        by_itself = f"within {audit.every:g} s by `monitor run`, or now " if audit.enabled else ""
        console.print(f"that it was done is sealed {by_itself}by `monitor audit seal`")
    if found.dead_letters:
        named = ", ".join(map(str, found.dead_letters[:SHOWN]))
        more = len(found.dead_letters) - SHOWN
        named += f" and {more} more" if more > 0 else ""
        console.print(
            literal(
                f"{deleted} dead letters that named them deleted"
                if deleted
                else f"dead letters that name them: {named}; --dead-letters deletes them"
            )
        )


def retention_json(parts: Sequence[Due], *, dry_run: bool) -> dict[str, Any]:
    """`{dry_run, interactions, parts: [{app, verdict, month, before, interactions, of, whole_month}]}`."""
    whole = whole_months(parts)
    return {
        "dry_run": dry_run,
        "interactions": sum(one.due for one in parts),
        "parts": [
            {
                "app": one.app, "verdict": one.verdict, "month": None if one.month is None else f"{one.month:%Y-%m}",
                "before": one.before, "interactions": one.due, "of": one.stored, "whole_month": one.month in whole,
            }
            for one in parts
            if one.due
        ],
    }  # fmt: skip


def retention_table(parts: Sequence[Due]) -> Table:
    """The same for people."""
    whole = whole_months(parts)
    table = Table("month", "app", "verdict", "before (UTC)", box=None)
    for heading in ("goes", "of"):
        table.add_column(heading, justify="right")
    table.add_column("how")
    for one in (one for one in parts if one.due):
        table.add_row(
            "other times" if one.month is None else f"{one.month:%Y-%m}", literal(one.app),
            "not assessed" if one.verdict is None else one.verdict.replace("_", "-"),
            f"{one.before:%Y-%m-%d %H:%M}", str(one.due), str(one.stored),
            "the whole month" if one.month in whole else "rows",
        )  # fmt: skip
    return table
