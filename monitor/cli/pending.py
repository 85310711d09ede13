"""The commands `monitor pending …`: work that stored interactions still wait for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.fitting import fitted
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, literal, plural, print_json, stopping
from monitor.core.pending import Work
from monitor.core.reason_words import UNSCORED_WORDS

if TYPE_CHECKING:
    from monitor.store.pending.queue import PendingCount

pending_app = typer.Typer(
    name="pending",
    help="Show and do the work that stored interactions wait for: assess, ask the sidecar, judge, send verdicts.",
    invoke_without_command=True,
)
Kind = Annotated[Work | None, typer.Option(help="Only this kind of work.")]


@pending_app.callback()
def summary(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Show how much work waits and why, and what calls to language models used today."""
    if context.invoked_subcommand is not None:
        return
    from monitor.store.interaction.turns.unscored_counts import unscored_totals
    from monitor.store.pending.budget import usage_since
    from monitor.store.pending.queue import PendingQueue

    with opened() as application:
        now = application.now()
        unscored = unscored_totals(application.engine)
        counts = PendingQueue(application.engine).counts(now)
        used = [row._asdict() for row in usage_since(application.engine, now.replace(hour=0))]
    if as_json:
        print_json({"pending": [asdict(count) for count in counts], "used_today": used, "unscored": unscored})
        return
    console = Console(highlight=False)
    console.print(_counts(counts, now) if counts else "nothing is pending")
    if unscored:
        why = ", ".join(f"{UNSCORED_WORDS[reason]} ({number:,})" for reason, number in unscored.items())
        console.print(f"{plural(sum(unscored.values()), 'turn')} cannot be scored and wait for nothing; they {why}")
    if used:
        console.print(_used(used))


@pending_app.command("list")
def list_(
    *,
    kind: Kind = None,
    given_up: Annotated[bool | None, typer.Option(help="Only what was given up, or only what was not.")] = None,
    most: Annotated[int, typer.Option("--most", "-n", min=1, help="How many to list, the longest queued first.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List the work item by item."""
    from monitor.store.pending.queue import PendingQueue

    with opened() as application:
        rows = PendingQueue(application.engine).rows(kind=kind, given_up=given_up, most=most)
    if as_json:
        print_json(rows)
        return
    if not rows:
        typer.echo("nothing is pending")
        return
    table = Table("kind", "app", "id", "queued (UTC)", "tries", "next (UTC)", "last error", box=None, pad_edge=False)
    for row in rows:
        following = "given up" if row["given_up"] else f"{row['not_before']:%m-%d %H:%M:%S}"
        table.add_row(
            row["kind"],
            literal(row["app"]),
            literal(row["interaction_id"]),
            f"{row['queued_at']:%m-%d %H:%M:%S}",
            str(row["attempts"]),
            following,
            literal(row["last_error"] or ""),
        )
    console = Console(highlight=False)
    console.print(fitted(table, console.width))


@pending_app.command()
def work() -> None:
    """Do the work that is due now, and exit.

    `monitor run`, `consume` and `collect` do it all the time.
    """
    from monitor.app.pending.workers import work_off

    with stopping() as stop, opened(migrated=False) as application:
        application.prepare()
        taken = work_off(application, stop)
    typer.echo(f"{plural(taken, 'item')} processed; `monitor pending` shows what is left", err=True)


@pending_app.command()
def retry(*, kind: Kind = None) -> None:
    """Make work due at once that was given up or waits after a failure."""
    from monitor.store.pending.queue import PendingQueue

    with opened() as application:
        revived = PendingQueue(application.engine).revive(application.now(), kind=kind)
    typer.echo(f"{plural(revived, 'item')} due now", err=True)


def _counts(counts: Sequence[PendingCount], now: datetime) -> Table:
    table = Table("work", box=None, pad_edge=False)
    for heading in ("waiting", "due", "in progress", "failed before", "given up"):
        table.add_column(heading, justify="right")
    table.add_column("oldest")
    table.add_column("last error", overflow="fold")
    for c in counts:
        oldest = "" if c.oldest is None else str(timedelta(seconds=int((now - c.oldest).total_seconds())))
        numbers = (c.waiting, c.due, c.claimed, c.failed, c.given_up)
        table.add_row(c.kind, *map(str, numbers), oldest, literal(c.last_error or ""))
    return table


def _used(used: Sequence[Mapping[str, Any]]) -> Table:
    table = Table("used today (UTC)", "model", box=None, pad_edge=False)
    for heading in ("calls", "tokens in", "tokens out", "cost"):
        table.add_column(heading, justify="right")
    for row in used:
        cost = f"{row['cost']:.4f}" if row["cost"] else "–"
        numbers = (row["calls"], row["input_tokens"], row["output_tokens"])
        table.add_row(row["purpose"], literal(row["model"]), *(f"{number:,}" for number in numbers), cost)
    return table
