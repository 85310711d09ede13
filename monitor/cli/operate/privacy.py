"""The commands `monitor erase` and `monitor retention`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.fitting import fitted
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, actor, confirm, literal, plural, print_json, stopping, tag_option
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings

if TYPE_CHECKING:
    from monitor.app.privacy.erasure import ErasurePlan
    from monitor.core.settings.audit import AuditSettings
    from monitor.store.privacy.erasure import ErasureTarget
    from monitor.store.privacy.retention import DueRows

SHOWN = 20  # interactions and dead letters listed by name
_By = Annotated[str | None, typer.Option("--by", help="Your name for the audit trail; default: your login.")]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing.")]


def erase(
    *,
    app_name: Annotated[str, typer.Option("--app", help="The app of the interactions.")],
    conversation: Annotated[str | None, typer.Option(metavar="ID", help="Erase this conversation.")] = None,
    trace: Annotated[str | None, typer.Option(metavar="ID", help="Erase the answers of this trace.")] = None,
    interactions: Annotated[
        list[str] | None, typer.Option("--interaction", metavar="ID", help="Erase this interaction; may be repeated.")
    ] = None,
    tag: Annotated[str | None, typer.Option(metavar="NAME=VALUE", help="Erase interactions with this tag.")] = None,
    reason: Annotated[
        str | None, typer.Option(help="Why. The trail records that a reason was given, not its text.")
    ] = None,
    by: _By = None,
    dead_letters: Annotated[
        bool, typer.Option("--dead-letters", help="Also delete dead letters that name them.")
    ] = False,
    dry_run: _DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase the texts of interactions for good.

    Verdicts, figures and times stay, and the audit trail stays provable.
    """
    from monitor.app.privacy.erasure import erase as run_erase
    from monitor.app.privacy.erasure import plan_erasure
    from monitor.privacy.tag_digest import tag_digests
    from monitor.store.privacy.erasure import Erasure

    wanted = _wanted(app_name, conversation, trace, interactions, tag)
    who = actor(by)
    with stopping() as stop, opened() as application:
        if wanted.tag is not None:
            digests = tag_digests(application.auditing.known_tag_keys(), *wanted.tag)
            wanted = replace(wanted, tag_digests=digests)
        found = plan_erasure(Erasure(application.engine), wanted)
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
        _print_erased(found, done, deleted, dry_run=dry_run, audit=application.settings.audit)
    if stop.is_set():
        typer.echo("stopped before the end; run the command again for the rest", err=True)
        raise typer.Exit(1)


def retention(
    *,
    dry_run: _DryRun = False,
    by: _By = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove also what has been due for days.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove interactions, and the texts of probes, older than MONITOR_RETENTION__… allows.

    `monitor run` does this once a day. Where much has been due for days, a clock may be wrong: then nothing is removed
    without --yes, and the command exits with 1.
    """
    from monitor.app.privacy.retention import (
        PATIENCE,
        doubt,
        due,
        due_probe_texts,
        policy_of,
        remove,
        remove_probe_texts,
        trusted_time,
    )
    from monitor.core.retry import Interrupted, Retry
    from monitor.store.privacy.probe_texts import ProbeTexts
    from monitor.store.privacy.retention import Retention

    settings = load_settings()
    policy = policy_of(settings.retention)
    who = actor(by)
    parts, probe_runs, refused = [], 0, None
    with stopping() as stop, opened(settings) as application:
        store, texts = Retention(application.engine), ProbeTexts(application.engine)
        now = trusted_time(store, application.now())
        if policy.limited and (dry_run or not yes):
            parts, probe_runs = due(store, policy, now), due_probe_texts(texts, policy, now)
            refused = None if yes else doubt(store, parts, now)
        if policy.limited and not dry_run and refused is None:
            with store.holding() as ours:
                if not ours:
                    raise WrongSettings("another process is removing interactions; try again later")
                again = Retry(stop=stop, patience=PATIENCE)
                parts, probe_runs = [], 0
                with suppress(Interrupted):
                    parts = remove(store, policy, by=who, now=now, again=again)
                    probe_runs = remove_probe_texts(texts, policy, by=who, now=now, again=again)
    if as_json:
        print_json(retention_json(parts, probe_runs, dry_run=dry_run, refused=refused))
    elif not policy.limited:
        typer.echo("everything is kept forever: no MONITOR_RETENTION__KEEP… is set")
    else:
        _print_retention(parts, probe_runs, done=not dry_run and refused is None)
    if refused is not None:
        typer.echo(f"{'it would be refused' if dry_run else 'nothing was removed'}: {refused}", err=True)
    if stop.is_set():
        typer.echo("stopped before the end; run the command again for the rest", err=True)
    if stop.is_set() or (refused is not None and not dry_run):
        raise typer.Exit(1)


def _print_retention(parts: Sequence[DueRows], probe_runs: int, *, done: bool) -> None:
    console, removed = Console(highlight=False), "removed" if done else "would be removed"
    if parts:
        console.print(fitted(retention_table(parts), console.width))
        console.print(f"{plural(sum(part.due for part in parts), 'interaction')} {removed}")
    else:
        console.print("no interaction is older than the settings allow")
    if probe_runs:
        console.print(f"the texts of {plural(probe_runs, 'run')} of probes {removed}; their scores stay")


def _wanted(
    app: str, conversation: str | None, trace: str | None, ids: list[str] | None, tag: str | None
) -> ErasureTarget:
    from monitor.store.privacy.erasure import ErasureTarget

    if sum(bool(given) for given in (conversation, trace, ids, tag)) != 1:
        raise WrongSettings("choose one of --conversation ID, --trace ID, --interaction ID and --tag NAME=VALUE")
    return ErasureTarget(
        app=app, conversation=conversation, trace=trace, ids=tuple(ids or ()), tag=tag_option(tag) if tag else None
    )


def _ask(found: ErasurePlan, *, dead_letters: bool) -> None:
    number = len(found.dead_letters) if dead_letters else 0
    letters = f" and delete {plural(number, 'dead letter')}" if number else ""
    interactions = plural(len(found.open), "interaction")
    golden = f", with {plural(found.golden_items, 'golden item')} made of them," if found.golden_items else ""
    confirm(f"Erase the texts of {interactions} of {found.target.app}{golden}{letters} for good?")


def _erased_json(found: ErasurePlan, done: int, deleted: int, *, dry_run: bool) -> dict[str, Any]:
    return {
        "app": found.target.app,
        "dry_run": dry_run,
        "interactions": [{"id": it.id, "occurred_at": it.occurred_at} for it in found.open],
        "erased": done,
        "erased_before": len(found.interactions) - len(found.open),
        "golden_items": found.golden_items,
        "dead_letters": list(found.dead_letters),
        "dead_letters_deleted": deleted,
    }


def _print_erased(found: ErasurePlan, done: int, deleted: int, *, dry_run: bool, audit: AuditSettings) -> None:
    console = Console(highlight=False, soft_wrap=True)
    before = len(found.interactions) - len(found.open)
    if not found.interactions:
        console.print("no such interaction is stored; erased ones are found only by their id")
    elif not found.open:
        console.print(f"erased before: {plural(before, 'interaction')}; nothing is left to erase")
    else:
        erased = plural(len(found.open) if dry_run else done, "interaction")
        line = f"{erased} would be erased" if dry_run else f"{erased} erased"
        console.print(f"{line}; erased before: {before}" if before else line)
        if found.golden_items:
            items = plural(found.golden_items, "golden item")
            made = "was" if found.golden_items == 1 else "were"
            console.print(f"with them {items} that {made} made of them, and what chatbots answered to these")
    if dry_run:
        for it in found.open[:SHOWN]:
            console.print(literal(f"  {found.target.app}/{it.id}  {it.occurred_at:%Y-%m-%d %H:%M:%S %Z}"))
        if len(found.open) > SHOWN:
            console.print(f"  and {len(found.open) - SHOWN} more; --json lists all of them")
    if done:
        automatic = f"`monitor run` seals the erasure within {audit.every:g} s; " if audit.enabled else ""
        console.print(f"{automatic}`monitor audit seal` seals it now")
    if deleted:
        console.print(f"deleted {plural(deleted, 'dead letter')} that named them")
    elif found.dead_letters:
        names = ", ".join(map(str, found.dead_letters[:SHOWN]))
        more = len(found.dead_letters) - SHOWN
        names += f" and {more} more" if more > 0 else ""
        console.print(literal(f"dead letters that name them: {names}; --dead-letters deletes these too"))


def retention_json(
    parts: Sequence[DueRows], probe_runs: int = 0, *, dry_run: bool, refused: str | None = None
) -> dict[str, Any]:
    """`{dry_run, interactions, probe_runs, parts: [{app, verdict, month, before, interactions, of, whole_month}]}`.

    With `refused`, why none of it is removed without --yes, where there is a reason.
    """
    from monitor.app.privacy.retention import whole_months

    whole = whole_months(parts)
    return {
        "dry_run": dry_run,
        "interactions": sum(part.due for part in parts),
        "probe_runs": probe_runs,
        "parts": [
            {
                "app": part.app,
                "verdict": part.verdict,
                "month": None if part.month is None else f"{part.month:%Y-%m}",
                "before": part.before,
                "interactions": part.due,
                "of": part.stored,
                "whole_month": part.month in whole,
            }
            for part in parts
            if part.due
        ],
        **({} if refused is None else {"refused": refused}),
    }


def retention_table(parts: Sequence[DueRows]) -> Table:
    """One line for each part that holds something to remove."""
    from monitor.app.privacy.retention import whole_months

    whole = whole_months(parts)
    table = Table("month", "app", "verdict", "before (UTC)", box=None)
    for heading in ("removed", "of"):
        table.add_column(heading, justify="right")
    table.add_column("how")
    for part in (part for part in parts if part.due):
        table.add_row(
            "other times" if part.month is None else f"{part.month:%Y-%m}",
            literal(part.app),
            "not assessed" if part.verdict is None else part.verdict.replace("_", "-"),
            f"{part.before:%Y-%m-%d %H:%M}",
            str(part.due),
            str(part.stored),
            "the whole month" if part.month in whole else "rows",
        )
    return table
