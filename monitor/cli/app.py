"""Assembles the command line from the commands of each noun."""

from __future__ import annotations

import logging
from importlib import metadata
from typing import Annotated

import typer

from monitor.app.log_format import LogFormat
from monitor.app.logs import log_to_stderr
from monitor.cli.alert.commands import alerts_app
from monitor.cli.alert.rules import rules_app
from monitor.cli.audit.commands import audit_app
from monitor.cli.collect import collect
from monitor.cli.deadletters import deadletters_app
from monitor.cli.decode import decode
from monitor.cli.demo.command import demo
from monitor.cli.doctor import doctor, migrate, settings
from monitor.cli.explain.command import explain
from monitor.cli.health import health
from monitor.cli.ledger import ledger
from monitor.cli.pending import pending_app
from monitor.cli.privacy import erase, retention
from monitor.cli.probe.commands import probe_app
from monitor.cli.probe.golden import golden_app
from monitor.cli.reference import reference_app
from monitor.cli.replay import replay
from monitor.cli.report import report_app
from monitor.cli.rescore.command import rescore
from monitor.cli.review.calibrate import calibrate, profiles
from monitor.cli.review.commands import review_app
from monitor.cli.review.evaluate import evaluate
from monitor.cli.review.rates import rates
from monitor.cli.run import consume, run, serve
from monitor.cli.tokens import tokens_app

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Watch RAG chatbots: tell whether each answer is grounded, a refusal or self-generated, and why.",
)
_COMMANDS = {
    "Assess answers": (run, consume, collect, replay, decode, demo),
    "Look at answers and alerts": (serve, explain, ledger),
    "Measure and improve verdicts": (rates, evaluate, calibrate, rescore, profiles),
    "Operate": (doctor, health, migrate, settings, retention, erase),
}
_GROUPS = {
    "Look at answers and alerts": (alerts_app, rules_app, report_app, pending_app, deadletters_app),
    "Measure and improve verdicts": (review_app, reference_app),
    "Ask chatbots golden questions": (probe_app, golden_app),
    "Operate": (audit_app, tokens_app),
}
for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
for _panel, _groups in _GROUPS.items():
    for _group in _groups:
        app.add_typer(_group, rich_help_panel=_panel)


def _print_version(asked: bool) -> None:  # noqa: FBT001  typer passes the option's value by position
    if asked:
        typer.echo(f"monitor {metadata.version('rag-monitor')}")
        raise typer.Exit


@app.callback()
def _configure(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log progress, not only warnings.")] = False,
    log_format: Annotated[
        LogFormat | None,
        typer.Option(envvar="MONITOR_LOG_FORMAT", help="Of log lines; json: one object a line. Default: text."),
    ] = None,
) -> None:
    del version  # `_print_version` has handled it
    log_to_stderr(logging.INFO if verbose else logging.WARNING, log_format, command=context.invoked_subcommand)
