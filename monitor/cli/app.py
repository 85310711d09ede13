"""The command line: every command with the place of its code, and the options that come before a command."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Annotated

import typer

from monitor.app.log_format import LogFormat
from monitor.app.logs import log_to_stderr
from monitor.cli.lazy_group import lazy_group

# Each with its place and the first sentence of its help, so that `monitor --help` need not import them.
COMMANDS = {
    "Assess answers": (
        (
            "run",
            "monitor.cli.run:run",
            "Follow files or read Kafka, assess each answer, evaluate the alert rules, and run scheduled probes.",
        ),
        (
            "consume",
            "monitor.cli.run:consume",
            "Read Kafka without evaluating alert rules: as one of several consumers, or to read a span of time again.",
        ),
        (
            "collect",
            "monitor.cli.collect:collect",
            "Take OpenTelemetry traces and events by HTTP and gRPC, assess each answer, and evaluate the alert rules.",
        ),
        ("replay", "monitor.cli.replay:replay", "Assess the interactions in files and store them."),
        (
            "decode",
            "monitor.cli.decode:decode",
            "Show what would be read from files: each interaction, or why there is none. Stores nothing.",
        ),
        (
            "demo",
            "monitor.cli.demo.command:demo",
            "Play 15 minutes of a support bot with two incidents: one alert comes and goes, the other goes on firing.",
        ),
    ),
    "Look at answers and alerts": (
        ("serve", "monitor.cli.run:serve", "Serve the dashboard and the JSON API."),
        (
            "explain",
            "monitor.cli.explain.command:explain",
            "Explain one answer: the verdict, what the documents support and what they do not, and where to look next.",
        ),
        (
            "ledger",
            "monitor.cli.ledger:ledger",
            "Show what became of every message, by group, topic and partition, and how far behind the reading is.",
        ),
        ("alerts", "monitor.cli.alert.commands:alerts_app", "List, acknowledge, silence and test alerts."),
        ("rules", "monitor.cli.alert.rules:rules_app", "Check the alert rules, and save and compare versions of them."),
        ("report", "monitor.cli.report:report_app", "Write, send and list weekly reports, one per app."),
        (
            "pending",
            "monitor.cli.pending:pending_app",
            "Show and do the work that stored interactions wait for: assess, ask the sidecar, judge, send verdicts.",
        ),
        (
            "deadletters",
            "monitor.cli.deadletters:deadletters_app",
            "List, retry and purge messages that are not valid interactions.",
        ),
    ),
    "Measure and improve verdicts": (
        (
            "rates",
            "monitor.cli.review.rates:rates",
            "Show how many answers are flagged, and beside it the true rate as far as labels tell it.",
        ),
        (
            "evaluate",
            "monitor.cli.review.evaluate:evaluate",
            "Measure the verdicts on labelled answers: ROC, AUC, thresholds, refusals and calibration, with intervals.",
        ),
        ("calibrate", "monitor.cli.review.calibrate:calibrate", "Fit your own profile to labelled answers."),
        (
            "rescore",
            "monitor.cli.rescore.command:rescore",
            "Give stored answers a second verdict under another profile, beside the one shown.",
        ),
        (
            "profiles",
            "monitor.cli.review.calibrate:profiles",
            "List the shipped profiles, those of earlier releases and the configured one, or show one of them.",
        ),
        (
            "review",
            "monitor.cli.review.commands:review_app",
            "Offer answers to label, store and export labels, compare verdicts with people.",
        ),
        (
            "reference",
            "monitor.cli.reference:reference_app",
            "Freeze what is usual for an app, so that each later answer gets its rank among the usual ones.",
        ),
    ),
    "Ask chatbots golden questions": (
        (
            "probe",
            "monitor.cli.probe.commands:probe_app",
            "Ask a chatbot golden questions, and see whether its answers are right.",
        ),
        (
            "golden",
            "monitor.cli.probe.golden:golden_app",
            "Keep golden sets: questions with reference answers, which probes ask.",
        ),
    ),
    "Operate": (
        (
            "doctor",
            "monitor.cli.operate.doctor:doctor",
            "Check the database, models, profile, rules and receivers, and say how to fix what fails.",
        ),
        (
            "health",
            "monitor.cli.operate.health:health",
            "Ask the processes that answer at the ports set here whether they can work.",
        ),
        ("migrate", "monitor.cli.operate.doctor:migrate", "Bring the database to this release's tables."),
        ("settings", "monitor.cli.operate.doctor:settings", "Show every setting, set or default, with secrets masked."),
        (
            "docs",
            "monitor.cli.docs:docs",
            "Show a page of the documentation, as it is for this release; without a name, list the pages.",
        ),
        (
            "retention",
            "monitor.cli.operate.privacy:retention",
            "Remove interactions, and the texts of probes, older than MONITOR_RETENTION__… allows.",
        ),
        ("erase", "monitor.cli.operate.privacy:erase", "Erase the texts of interactions for good."),
        (
            "audit",
            "monitor.cli.audit.commands:audit_app",
            "Seal, verify, prove and export the tamper-evident audit trail.",
        ),
        (
            "tokens",
            "monitor.cli.operate.tokens:tokens_app",
            "Create, list and revoke access tokens for the dashboard, the API and for sending.",
        ),
    ),
}

app = typer.Typer(
    cls=lazy_group(COMMANDS),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Watch RAG chatbots: tell whether each answer is grounded, a refusal or self-generated, and why.",
)


def _use_settings_file(context: typer.Context, path: Path) -> None:
    """In the environment it holds for the whole command, and for every process that this starts."""
    before = os.environ.get("MONITOR_CONFIG")
    os.environ["MONITOR_CONFIG"] = str(path.absolute())

    def set_again() -> None:
        del os.environ["MONITOR_CONFIG"]
        if before is not None:
            os.environ["MONITOR_CONFIG"] = before

    context.call_on_close(set_again)


def _print_version(asked: bool) -> None:  # noqa: FBT001  typer passes the option's value by position
    if asked:
        from importlib import metadata

        typer.echo(f"monitor {metadata.version('rag-monitor')}")
        raise typer.Exit


@app.callback()
def _configure(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Settings file in TOML; default: MONITOR_CONFIG, or monitor.toml in this folder.",
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log progress, not only warnings.")] = False,
    log_format: Annotated[
        LogFormat | None,
        typer.Option(envvar="MONITOR_LOG_FORMAT", help="Of log lines; json: one object a line. Default: text."),
    ] = None,
) -> None:
    del version  # `_print_version` has handled it
    if config is not None:
        _use_settings_file(context, config)
    log_to_stderr(logging.INFO if verbose else logging.WARNING, log_format, command=context.invoked_subcommand)
