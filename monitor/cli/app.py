"""The command line: arguments in, a table or JSON out. What a command does stands in its own module."""

from __future__ import annotations

import logging
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from monitor.app.logs import ledger_line, log_to_stderr
from monitor.cli.alert.commands import alerts_app
from monitor.cli.alert.rules import rules_app
from monitor.cli.audit import audit_app
from monitor.cli.deadletters import deadletters_app
from monitor.cli.pending import pending_app
from monitor.cli.privacy import erase, retention
from monitor.cli.report import report_app
from monitor.cli.review.calibrate import calibrate, profiles
from monitor.cli.review.commands import review_app
from monitor.cli.review.evaluate import evaluate
from monitor.cli.terminal import AsJson, flat, literal, print_json, progress_bar, stopping
from monitor.cli.tokens import tokens_app
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict
from monitor.core.settings.load import load_settings

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Watches RAG chatbots: each answer is grounded, a refusal or self-generated, with the evidence for it.",
)
for group in (alerts_app, audit_app, deadletters_app, pending_app, report_app, review_app, rules_app, tokens_app):
    app.add_typer(group)
app.command()(calibrate)
app.command()(erase)
app.command()(evaluate)
app.command()(profiles)
app.command()(retention)


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
    log_to_stderr(logging.INFO if verbose else logging.WARNING)


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
    from monitor.app.replay import replay as run_replay
    from monitor.app.wiring.application import Application
    from monitor.store.pending.queue import Pending

    if as_json and output == Path("-"):
        raise WrongSettings("--json and --output - would both write to standard output: choose one")
    with stopping() as stop, Application(load_settings()) as application, progress_bar() as progress:
        summary = run_replay(
            application, files, output=output, app=app_name, dialect=dialect, progress=progress, stop=stop
        )
        waiting = {c.kind: c.waiting for c in Pending(application.engine).counts(application.now()) if c.waiting}
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
            err.print(f"  rejected {literal(line)}", style="yellow")
        if tally.dead > len(summary.rejected):
            err.print(f"  and {tally.dead - len(summary.rejected)} more; `monitor deadletters list` has them")
        if waiting:
            left = ", ".join(f"{number} to {kind}" for kind, number in waiting.items())
            err.print(f"still to be done for what is stored: {left}; `monitor pending work` does it")
        if stop.is_set():
            err.print("stopped before the end; a second run counts what is stored already as duplicate")
    if stop.is_set() or not tally.balanced or (strict and tally.dead):
        raise typer.Exit(1)


@app.command()
def run(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="JSON Lines files that a chatbot appends to; - is standard input. None: Kafka."),
    ] = None,
    *,
    app_name: Annotated[str | None, typer.Option("--app", help="App of events that name none.")] = None,
    dialect: Annotated[str | None, typer.Option(help="auto, native, cloudevents or ragas.")] = None,
) -> None:
    """Follow files, or read Kafka, assess what comes, and evaluate the alert rules; stops cleanly on SIGTERM."""
    from monitor.app.run import serve
    from monitor.app.wiring.application import Application

    logging.getLogger("monitor").setLevel(logging.INFO)
    with stopping() as stop, Application(load_settings()) as application:
        tally = serve(application, files or [], app=app_name, dialect=dialect, stop=stop)
    Console(stderr=True, highlight=False).print(ledger_line(tally))


@app.command()
def serve() -> None:
    """Serve the dashboard and the JSON API (MONITOR_WEB__HOST, …__PORT); stops cleanly on SIGTERM."""
    from monitor.app.wiring.application import Application
    from monitor.web.server import serve as serve_web

    logging.getLogger("monitor").setLevel(logging.INFO)
    with stopping() as stop, Application(load_settings()) as application:
        serve_web(application, stop)


@app.command()
def consume(
    *,
    topics: Annotated[list[str] | None, typer.Option("--topic", help="Instead of MONITOR_KAFKA__TOPICS.")] = None,
    group: Annotated[str | None, typer.Option(help="Instead of MONITOR_KAFKA__GROUP_ID.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="Read again from this time on, or from the `beginning`, and end.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="Before this time; default: what is there `now`.")] = None,
    profile: Annotated[str | None, typer.Option(help="Assess what is stored anew under this one, beside.")] = None,
    app_name: Annotated[str | None, typer.Option("--app", help="App of events that name none.")] = None,
    dialect: Annotated[str | None, typer.Option(help="auto, native, cloudevents or ragas.")] = None,
) -> None:
    """Read Kafka without evaluating alert rules: as one of several consumers, or a span of time once more."""
    from monitor.app.run import consume as run_consume
    from monitor.app.wiring.application import Application
    from monitor.cli.consume import chosen, span_between

    logging.getLogger("monitor").setLevel(logging.INFO)
    span = span_between(start, end)
    settings = chosen(load_settings(), topics=topics, group=group, profile=profile, span=span)
    with stopping() as stop, Application(settings) as application:
        tally = run_consume(
            application, app=app_name, dialect=dialect, stop=stop, span=span, rescore=profile is not None
        )
    Console(stderr=True, highlight=False).print(ledger_line(tally))
    if span is not None and stop.is_set():
        raise typer.Exit(1)


@app.command()
def demo(
    *,
    seed: Annotated[int, typer.Option(help="The same seed plays the same traffic.")] = 7,
    kafka: Annotated[
        bool, typer.Option("--kafka", help="Through a real broker: the configured one, or one run with Java.")
    ] = False,
    llm: Annotated[
        str | None,
        typer.Option(metavar="URL", help="An OpenAI-compatible server for the sidecar and the judge (costs calls)."),
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="No colours.")] = False,
) -> None:
    """Play 15 minutes of a support bot's traffic with a retrieval outage, and watch the alert come and go."""
    from monitor.cli.demo.demo import play_demo

    console = Console(no_color=plain or None, highlight=False)
    play_demo(load_settings(), seed=seed, kafka=kafka, llm=llm, console=console)


@app.command()
def doctor(*, as_json: AsJson = False) -> None:
    """Check database, migrations, embedder, profile, rules and receivers, and say how to mend what fails."""
    from monitor.app.doctor import examine
    from monitor.app.wiring.application import Application

    with Application(load_settings()) as application:
        findings = list(examine(application))
    if as_json:
        print_json([{"check": f.check, "good": f.good, "detail": f.detail, "mended_by": f.mended_by} for f in findings])
    else:
        table = Table(box=None, show_header=False, padding=(0, 1))
        for f in findings:
            mark = "[green]ok[/]" if f.good else "[red]fails[/]"
            table.add_row(mark, f.check, literal(f.detail if f.good else f"{f.detail}\n→ {f.mended_by}"))
        Console().print(table)
    if not all(f.good for f in findings):
        raise typer.Exit(1)


@app.command()
def migrate() -> None:
    """Bring the database to this release's tables; safe to run at any time and from several places."""
    from monitor.app.wiring.application import Application

    with Application(load_settings()) as application:
        Console(stderr=True).print(f"the database is at {application.migrate()}")


@app.command()
def explain(
    interaction_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the interaction.")],
    *,
    app_name: Annotated[str | None, typer.Option("--app", help="Where several apps share the id.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show one interaction sentence by sentence with its verdict, and why it was given."""
    from monitor.app.wiring.application import Application
    from monitor.assess.explain import findings_json
    from monitor.cli.explain import explanation

    with Application(load_settings()) as application:
        application.migrate()
        queries = application.queries
        rows = queries.explained(interaction_id, app_name)
        if not rows:
            waiting = [row for row in queries.unassessed(interaction_id) if app_name in {None, row["app"]}]
            if not waiting:
                raise WrongSettings(f"no interaction {interaction_id!r} is stored")
            why = waiting[0]["last_error"] or "a worker has not come to it"
            typer.echo(f"{interaction_id} is stored, and not assessed yet: {why}; see `monitor pending`", err=True)
            raise typer.Exit(1)
        judged = {row["app"]: queries.judgements(row["app"], interaction_id) for row in rows}
        profiles = [queries.profile(row["profile_hash"]) for row in rows]
        if as_json:
            print_json([
                {**row, "judgements": judged[row["app"]], "explanation": findings_json(row, profile)}
                for row, profile in zip(rows, profiles, strict=True)
            ])  # fmt: skip
            return
        for row, profile in zip(rows, profiles, strict=True):
            Console().print(explanation(row, profile, judged[row["app"]] if row["live"] else ()))


@app.command()
def ledger(
    *,
    group_name: Annotated[str | None, typer.Option("--group", help="Only this consumer group's.")] = None,
    topic: Annotated[str | None, typer.Option(help="Only that of this topic or file.")] = None,
    recount: Annotated[bool, typer.Option("--recount", help="Count the stored rows too; reads all of them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what became of every message, by group, topic and partition; exits with 1 where it does not add up."""
    from monitor.app.ledger import complaints, expired, ledger_json
    from monitor.app.wiring.application import Application
    from monitor.cli.ledger import ledger_table
    from monitor.store.ledger.ledger import Ledger

    with Application(load_settings()) as application:
        application.migrate()
        rows, recounted = Ledger(application.engine).read(group=group_name, topic=topic, recount=recount)
    wrong = list(complaints(rows, recounted))
    if as_json:
        print_json(ledger_json(rows, recounted if recount else None))
    elif not rows:
        typer.echo("nothing was read yet" if group_name is None and topic is None else "nothing of that was read yet")
    else:
        console = Console(highlight=False)
        console.print(ledger_table(rows))
        if lost := expired(rows):
            console.print(literal(lost), style="bold yellow")
        for line in wrong:
            console.print(literal(line), style="bold red")
        if not wrong:
            console.print("balanced, and so are the rows" if recount else "balanced")
    if wrong:
        raise typer.Exit(1)


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
