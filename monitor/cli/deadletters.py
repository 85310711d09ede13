"""The commands `monitor deadletters …`."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from monitor.cli.terminal import AsJson, literal, print_json, stopping
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.store.deadletters.dead_letters import Wanted

deadletters_app = typer.Typer(name="deadletters", no_args_is_help=True, help="Messages that cannot be interactions.")
SHOWN = 4_000  # characters of a message
HIGHEST_ID = 2**63 - 1  # that Postgres takes for one
_Id = Annotated[int, typer.Argument(metavar="ID", min=1, max=HIGHEST_ID, help="Its id in the list.")]
_Ids = Annotated[list[int] | None, typer.Argument(metavar="ID", min=1, max=HIGHEST_ID, help="Ids in the list.")]
_Topic = Annotated[str | None, typer.Option(help="Only those of this topic or file.")]
_Problem = Annotated[str | None, typer.Option(metavar="TEXT", help="Only those whose problem contains this.")]
_Since = Annotated[str | None, typer.Option(metavar="TIME", help="Only those received from then on.")]
_Until = Annotated[str | None, typer.Option(metavar="TIME", help="Only those received before.")]


@deadletters_app.command("list")
def deadletters_list(
    *,
    topic: _Topic = None,
    problem: _Problem = None,
    since: _Since = None,
    until: _Until = None,
    everything: Annotated[bool, typer.Option("--all", help="Those too that a retry has settled.")] = False,
    most: Annotated[int, typer.Option(min=1, help="How many, the newest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """The newest dead letters: where each stood, and why it is no interaction."""
    from monitor.app.wiring.application import Application
    from monitor.store.deadletters.dead_letters import DeadLetters

    wanted = _wanted(topic, problem, since, until)
    if not everything:
        wanted = replace(wanted, open=True)
    with Application(load_settings()) as application:
        application.migrate()
        letters = DeadLetters(application.engine)
        rows, amount = letters.newest(wanted, most), letters.amount(wanted)
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
            literal(f"{row['path']}: {row['problem']}"),
            literal(row["begins"][:60].decode("utf-8", "replace")),
            *([row["outcome"] or "open"] if everything else []),
        )
    for column in table.columns:
        column.overflow = "fold"  # never cut: what is there is there to be copied
    table.columns[0].no_wrap = True
    if rows:
        Console().print(table)
    kind = "dead letters" if everything else "open dead letters"
    Console(highlight=False).print(f"{len(rows)} of {amount.total} {kind}" if rows else f"no {kind}")


@deadletters_app.command("show")
def deadletters_show(
    number: _Id,
    *,
    raw: Annotated[bool, typer.Option("--raw", help="Write the message as it came, and nothing else.")] = False,
    as_json: AsJson = False,
) -> None:
    """Everything that is known of one, and the message itself."""
    from monitor.app.wiring.application import Application
    from monitor.store.deadletters.dead_letters import DeadLetters

    if raw and as_json:
        raise WrongSettings("--raw and --json would both write to standard output: choose one")
    with Application(load_settings()) as application:
        application.migrate()
        row = DeadLetters(application.engine).whole(number)
    if row is None:
        raise WrongSettings(f"no dead letter {number}; `monitor deadletters list` has their ids")
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
    everything: Annotated[bool, typer.Option("--all", help="Every open one, or those that the options name.")] = False,
    topic: _Topic = None,
    problem: _Problem = None,
    since: _Since = None,
    until: _Until = None,
    app_name: Annotated[str | None, typer.Option("--app", help="App of events that name none.")] = None,
    dialect: Annotated[str | None, typer.Option(help="auto, native, cloudevents or ragas.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read open ones once more under the settings of today, and store those that are interactions now."""
    from monitor.app.deadletters import retry
    from monitor.app.wiring.application import Application

    wanted = _chosen(ids, everything=everything, among=_wanted(topic, problem, since, until))
    with stopping() as stop, Application(load_settings()) as application:
        done = retry(application, wanted, app=app_name, dialect=dialect, stop=stop)
    if as_json:
        print_json({**asdict(done), "elsewhere": done.elsewhere})
    elif not done.asked:
        typer.echo("no open dead letter among them" if ids else "no open dead letters")
    else:
        line = f"{done.asked} tried = {done.assessed} assessed + {done.duplicate} duplicate + {done.dead} still dead"
        typer.echo(f"{line} + {done.elsewhere} taken by another process" if done.elsewhere else line)
        if done.dead:
            typer.echo("`monitor deadletters list` says why they are")
    if stop.is_set():
        typer.echo("stopped before the end", err=True)
    if done.vain or stop.is_set():
        raise typer.Exit(1)


@deadletters_app.command("purge")
def deadletters_purge(
    ids: _Ids = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every one, or those that the options name.")] = False,
    older_than: Annotated[str | None, typer.Option(metavar="DURATION", help="As in 90d, since their receipt.")] = None,
    settled: Annotated[bool, typer.Option("--settled", help="Only those that a retry has settled.")] = False,
    topic: _Topic = None,
    problem: _Problem = None,
    since: _Since = None,
    until: _Until = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete dead letters for good; the ledger keeps count of those that were open."""
    from monitor.app.deadletters import check_known, purge_all
    from monitor.app.wiring.application import Application
    from monitor.store.deadletters.dead_letters import DeadLetters

    among = _wanted(topic, problem, since, until)
    if settled:
        among = replace(among, open=False)
    length = None if older_than is None else _duration(older_than)
    with Application(load_settings()) as application:
        if length is not None:
            before = application.now() - length
            among = replace(among, until=before if among.until is None else min(before, among.until))
        wanted = _chosen(ids, everything=everything or length is not None, among=among)
        application.migrate()
        letters = DeadLetters(application.engine)
        check_known(letters, wanted)
        amount = letters.amount(wanted)  # and what comes while somebody thinks about it is left alone
        if amount.total and not yes:
            _ask(f"Delete {amount.total} dead letters for good, {amount.open} of them open?")
        with stopping() as stop:
            done = purge_all(application, wanted, last=amount.last, stop=stop)
    if as_json:
        print_json(asdict(done))
    else:
        typer.echo(f"{done.total} dead letters deleted, {done.open} of them open")
    if stop.is_set():
        typer.echo("stopped before the end", err=True)
        raise typer.Exit(1)


def _wanted(topic: str | None, problem: str | None, since: str | None, until: str | None) -> Wanted:
    from monitor.ingest.times import instant
    from monitor.store.deadletters.dead_letters import Wanted

    return Wanted(
        topic=topic,
        problem=problem,
        since=None if since is None else instant(since, "--since"),
        until=None if until is None else instant(until, "--until"),
    )


def _chosen(ids: list[int] | None, *, everything: bool, among: Wanted) -> Wanted:
    """The ids, or all that the options leave.

    Raises:
        WrongSettings: neither was asked for, or both.
    """
    if not ids and not everything:
        raise WrongSettings("which ones? Name their ids, or say --all; --topic and the like narrow that down")
    if ids and (everything or any(value is not None for value in asdict(among).values())):
        raise WrongSettings("either ids, or --all and the like: not both")
    return replace(among, ids=tuple(ids)) if ids else among


def _duration(text: str) -> timedelta:
    from monitor.core.duration import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise WrongSettings(f"--older-than: {error}") from None


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise WrongSettings(f"{question} Nobody is there to ask: say --yes")
    typer.confirm(question, abort=True, err=True)


def _position(row: Mapping[str, Any]) -> str:
    name = row["topic"].rpartition("#")[0] or row["topic"]  # no more of a followed file than its path
    partition = f"/{row['partition']}" if row["partition"] else ""
    return f"{name}{partition}:{row['position']}"


def _described(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and values for a terminal."""
    yield "id", str(row["id"])
    yield "topic", row["topic"]
    yield "partition", str(row["partition"])
    yield "position", str(row["position"])
    yield "received", f"{row['received_at']:%Y-%m-%d %H:%M:%S} UTC"
    yield "group", row["group_id"] or "– (in no ledger)"
    yield "problem", f"{row['path']}: {row['problem']}"
    settled = row["settled_at"] and f"{row['outcome']} by a retry at {row['settled_at']:%Y-%m-%d %H:%M:%S} UTC"
    yield "outcome", settled or "open"
    if row["key"] is not None:
        yield "key", row["key"].decode("utf-8", "replace")
    for name, value in zip(row["header_names"], row["header_values"], strict=True):
        yield "header", f"{name}: {value.decode('utf-8', 'replace')}"
    kept = "" if len(row["value"]) == row["size"] else f", of which {len(row['value']):,} were kept"
    yield "size", f"{row['size']:,} bytes{kept}"
    text = row["value"].decode("utf-8", "replace")
    more = len(text) - SHOWN
    yield "message", text if more <= 0 else f"{text[:SHOWN]}\n… and {more:,} more characters; --raw writes all of it"


def _as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Bytes as text, or under another name in base64 where they are none."""
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
