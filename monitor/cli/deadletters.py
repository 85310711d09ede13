"""The commands `monitor deadletters …`."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.cli.fitting import fitted
from monitor.cli.opening import opened
from monitor.cli.terminal import (
    AppOfEvents,
    AsJson,
    Dialect,
    Map,
    confirm,
    duration,
    literal,
    plural,
    print_json,
    stopping,
)
from monitor.core.errors import WrongSettings, problem_at
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.store.deadletters.dead_letters import LetterFilter

deadletters_app = typer.Typer(
    name="deadletters", no_args_is_help=True, help="List, retry and purge messages that are not valid interactions."
)
SHOWN = 4_000  # characters of a message on a terminal
HIGHEST_ID = 2**63 - 1  # of Postgres's bigint
_Id = Annotated[int, typer.Argument(metavar="ID", min=1, max=HIGHEST_ID, help="Id, as `deadletters list` shows it.")]
_Ids = Annotated[
    list[int] | None, typer.Argument(metavar="ID", min=1, max=HIGHEST_ID, help="Ids, as `deadletters list` shows them.")
]
_Topic = Annotated[str | None, typer.Option(help="Only from this topic or file.")]
_Problem = Annotated[str | None, typer.Option(metavar="TEXT", help="Only where the problem contains this text.")]
_Since = Annotated[str | None, typer.Option(metavar="TIME", help="Only received at or after this time.")]
_Until = Annotated[str | None, typer.Option(metavar="TIME", help="Only received before this time.")]


@deadletters_app.command("list")
def deadletters_list(
    *,
    topic: _Topic = None,
    problem: _Problem = None,
    since: _Since = None,
    until: _Until = None,
    everything: Annotated[bool, typer.Option("--all", help="Include those that a retry has settled.")] = False,
    most: Annotated[int, typer.Option(min=1, help="How many to list, the newest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the newest dead letters: where each came from, and why it is not an interaction."""
    from monitor.store.deadletters.dead_letters import DeadLetters

    wanted = _wanted(topic, problem, since, until)
    if not everything:
        wanted = replace(wanted, open=True)
    with opened() as application:
        letters = DeadLetters(application.engine)
        rows, amount = letters.newest(wanted, most), letters.count(wanted)
    if as_json:
        print_json([{**row, "begins": row["begins"].decode("utf-8", "replace")} for row in rows])
        return
    table = Table("id", "received (UTC)", "position", "problem", "begins", box=None)
    if everything:
        table.add_column("outcome")
    for row in rows:
        table.add_row(
            str(row["id"]),
            f"{row['received_at']:%Y-%m-%d %H:%M:%S}",
            literal(_position(row)),
            literal(problem_at(row["path"], row["problem"])),
            literal(row["begins"][:60].decode("utf-8", "replace")),
            *([row["outcome"] or "open"] if everything else []),
        )
    if rows:
        console = Console()
        console.print(fitted(table, console.width))
    kind = "dead letters" if everything else "open dead letters"
    Console(highlight=False).print(f"{len(rows)} of {amount.total} {kind}" if rows else f"no {kind}")


@deadletters_app.command("show")
def deadletters_show(
    number: _Id,
    *,
    raw: Annotated[bool, typer.Option("--raw", help="Write the message as it arrived, and nothing else.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show everything known about one dead letter, and the message itself."""
    from monitor.store.deadletters.dead_letters import DeadLetters

    if raw and as_json:
        raise WrongSettings("--raw and --json both write to standard output: choose one")
    with opened() as application:
        row = DeadLetters(application.engine).whole(number)
    if row is None:
        raise WrongSettings(f"no dead letter {number}; `monitor deadletters list` shows the ids")
    if raw:
        sys.stdout.buffer.write(row["value"])
        sys.stdout.buffer.flush()
    elif as_json:
        print_json(_as_json(row))
    else:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for name, value in _described(row):
            table.add_row(name, Text(readable(value)))
        Console(highlight=False).print(table)


@deadletters_app.command("retry")
def deadletters_retry(
    ids: _Ids = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every open one that matches the other options.")] = False,
    topic: _Topic = None,
    problem: _Problem = None,
    since: _Since = None,
    until: _Until = None,
    app_name: AppOfEvents = None,
    dialect: Dialect = None,
    places: Map = None,
    as_json: AsJson = False,
) -> None:
    """Read open dead letters again under the settings now in force, and store those that have become interactions."""
    from monitor.app.deadletters import retry
    from monitor.ingest.mapping import event_map

    wanted = _chosen(ids, everything=everything, among=_wanted(topic, problem, since, until))
    with stopping() as stop, opened(migrated=False) as application:
        places_given = event_map(places or ())
        done = retry(application, wanted, app=app_name, dialect=dialect, event_map=places_given, stop=stop)
    if as_json:
        print_json({**asdict(done), "elsewhere": done.elsewhere})
    elif not done.asked:
        typer.echo("none of these dead letters is open" if ids else "no open dead letters")
    else:
        line = f"{done.asked} tried = {' + '.join(done.outcomes)}"
        typer.echo(f"{line} + {done.elsewhere} taken by another process" if done.elsewhere else line)
        if done.dead:
            typer.echo("`monitor deadletters list` shows why")
    if stop.is_set():
        typer.echo("stopped before the end", err=True)
    if done.vain or stop.is_set():
        raise typer.Exit(1)


@deadletters_app.command("purge")
def deadletters_purge(
    ids: _Ids = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every one that matches the other options.")] = False,
    older_than: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Only received longer ago than this, such as 90d.")
    ] = None,
    settled: Annotated[bool, typer.Option("--settled", help="Only those that a retry has settled.")] = False,
    topic: _Topic = None,
    problem: _Problem = None,
    since: _Since = None,
    until: _Until = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete dead letters for good.

    The ledger keeps counting those that were open.
    """
    from monitor.app.deadletters import check_known, purge_all
    from monitor.store.deadletters.dead_letters import DeadLetters

    among = _wanted(topic, problem, since, until)
    if settled:
        among = replace(among, open=False)
    length = None if older_than is None else duration(older_than, "--older-than")
    wanted = _chosen(ids, everything=everything or length is not None, among=among)
    with opened() as application:
        if length is not None:
            before = application.now() - length
            wanted = replace(wanted, until=before if wanted.until is None else min(before, wanted.until))
        letters = DeadLetters(application.engine)
        check_known(letters, wanted)
        amount = letters.count(wanted)  # dead letters that arrive while the user thinks are left alone
        if amount.total and not yes:
            confirm(f"Delete {plural(amount.total, 'dead letter')} for good, {amount.open} of them open?")
        with stopping() as stop:
            done = purge_all(application, wanted, last=amount.last, stop=stop)
    if as_json:
        print_json(asdict(done))
    else:
        typer.echo(f"deleted {plural(done.total, 'dead letter')}, {done.open} of them open")
    if stop.is_set():
        typer.echo("stopped before the end", err=True)
        raise typer.Exit(1)


def _wanted(topic: str | None, problem: str | None, since: str | None, until: str | None) -> LetterFilter:
    from monitor.ingest.times import instant
    from monitor.store.deadletters.dead_letters import LetterFilter

    return LetterFilter(
        topic=topic,
        problem=problem,
        since=None if since is None else instant(since, "--since"),
        until=None if until is None else instant(until, "--until"),
    )


def _chosen(ids: list[int] | None, *, everything: bool, among: LetterFilter) -> LetterFilter:
    """The dead letters with these ids, or all `among` the ones that the options select.

    Raises:
        WrongSettings: neither ids nor --all were given, or both.
    """
    if not ids and not everything:
        raise WrongSettings("give ids, or --all; --topic and the other options narrow --all down")
    if ids and (everything or any(value is not None for value in asdict(among).values())):
        raise WrongSettings("give either ids, or --all with its options, not both")
    return replace(among, ids=tuple(ids)) if ids else among


def _position(row: Mapping[str, Any]) -> str:
    name = row["topic"].rpartition("#")[0] or row["topic"]  # a followed file is `path#identity`; the path is enough
    partition = f"/{row['partition']}" if row["partition"] else ""
    return f"{name}{partition}:{row['position']}"


def _described(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields names and values for a terminal."""
    yield "id", str(row["id"])
    yield "topic", row["topic"]
    yield "partition", str(row["partition"])
    yield "position", str(row["position"])
    yield "received", f"{row['received_at']:%Y-%m-%d %H:%M:%S} UTC"
    yield "group", row["group_id"] or "– (no ledger counts it)"
    yield "problem", problem_at(row["path"], row["problem"])
    settled = row["settled_at"] and f"{row['outcome']} by a retry at {row['settled_at']:%Y-%m-%d %H:%M:%S} UTC"
    yield "outcome", settled or "open"
    if row["key"] is not None:
        yield "key", row["key"].decode("utf-8", "replace")
    for name, value in zip(row["header_names"], row["header_values"], strict=True):
        yield "header", f"{name}: {value.decode('utf-8', 'replace')}"
    stored = "" if len(row["value"]) == row["size"] else f", of which {len(row['value']):,} are stored"
    yield "size", f"{row['size']:,} bytes{stored}"
    text = row["value"].decode("utf-8", "replace")
    more = len(text) - SHOWN
    yield "message", text if more <= 0 else f"{text[:SHOWN]}\n… and {more:,} more characters; --raw writes all of it"


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with bytes as text; bytes that are not UTF-8 are base64 under `<name>_base64`."""
    bytes_ = {"header_names", "header_values", "value", "key", "digest"}
    headers = zip(row["header_names"], row["header_values"], strict=True)
    return {
        **{name: value for name, value in row.items() if name not in bytes_},
        **_text("key", row["key"]),
        "headers": [{"name": name, **_text("value", value)} for name, value in headers],
        **_text("value", row["value"]),
    }


def _text(name: str, value: bytes | None) -> dict[str, str | None]:
    if value is None:
        return {name: None}
    try:
        return {name: value.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(value).decode()}
