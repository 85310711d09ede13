"""The commands `monitor rules …`, and `monitor alerts simulate`: rules before they hold."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from monitor.cli.alert.commands import alerts_app
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, print_json
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings

if TYPE_CHECKING:
    from monitor.alert.rule import RuleSet
    from monitor.alert.window import Span

rules_app = typer.Typer(name="rules", no_args_is_help=True, help="The alert rules.")

File = Annotated[Path | None, typer.Argument(help="Default: the rules in force.")]


@rules_app.command("check")
def rules_check(
    file: File = None,
    *,
    against: Annotated[
        str | None, typer.Option(metavar="30d", help="Say how often each would have fired on that much stored history.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read a rules file and say, with line numbers, what is wrong with it; receivers need not be set up for that."""
    from monitor.cli.alert.tables import episodes_table, rehearsed_table, rules_table

    rules = _rules(file)
    if against is not None:
        span, rehearsed = _against(rules, against)
        if as_json:
            print_json([
                {
                    "name": its.rule.name, "counted": its.answers, "why_not": its.why_not,
                    "episodes": [
                        {"labels": e.labels, "fired_at": e.fired_at, "resolved_at": e.resolved_at, "worst": e.worst}
                        for e in its.episodes
                    ],
                }
                for its in rehearsed
            ])  # fmt: skip
            return
        console = Console(highlight=False, emoji=False)
        console.print(rehearsed_table(rehearsed, span))
        if any(its.episodes for its in rehearsed):
            console.print(episodes_table(rehearsed))
        return
    if as_json:
        print_json([
            {
                "name": r.name, "signal": str(r.signal), "method": r.method.name, "target": str(r.method.target),
                "window_seconds": r.method.window.total_seconds(), "severity": r.severity,
            }
            for r in rules.rules
        ])  # fmt: skip
        return
    Console(highlight=False, emoji=False).print(rules_table(rules.rules))


@alerts_app.command("simulate")
def alerts_simulate(
    file: File = None,
    *,
    scenario: Annotated[str | None, typer.Option(help="One of those that the command lists without this.")] = None,
    weeks: Annotated[int, typer.Option(min=1, max=1_000, help="So many runs of a week.")] = 4,
    seed: Annotated[int, typer.Option(help="The same seed plays the same traffic.")] = 7,
    as_json: AsJson = False,
) -> None:
    """Play simulated weeks to the rules: false pages, and how soon each sees an incident."""
    from monitor.app.backtest import on_scenario
    from monitor.cli.alert.tables import simulated_table
    from monitor.simulate.minute_counts import SCENARIOS

    if scenario is None:
        for name, its in SCENARIOS.items():
            typer.echo(f"{name:12} {its.description}")
        return
    if scenario not in SCENARIOS:
        raise WrongSettings(f"no scenario {scenario!r}; known: {', '.join(SCENARIOS)}")
    played = [on_scenario(rule, SCENARIOS[scenario], weeks=weeks, seed=seed) for rule in _rules(file).rules]
    if as_json:
        print_json([
            {
                "name": its.rule.name, "weeks": its.weeks, "false_pages": its.false_pages, "why_not": its.why_not,
                "delay_seconds": [None if delay is None else delay.total_seconds() for delay in its.delays],
                "pages_again": its.pages_again,
            }
            for its in played
        ])  # fmt: skip
        return
    Console(highlight=False, emoji=False).print(simulated_table(played))


def _rules(file: Path | None) -> RuleSet:
    from monitor.alert.receivers import RECEIVERS
    from monitor.alert.rules.file import load_rules

    return load_rules(file or load_settings().rules, receivers=tuple(RECEIVERS))


def _against(rules: RuleSet, length: str) -> tuple[Span, list[Any]]:
    from monitor.alert.window import MINUTE, window_at
    from monitor.app.backtest import on_history
    from monitor.core.duration import parse_duration

    try:
        wanted = parse_duration(length) // MINUTE * MINUTE
    except ValueError as error:
        raise WrongSettings(f"--against: {error}") from None
    if wanted < MINUTE:
        raise WrongSettings("--against: at least a minute, such as 30d")
    with opened() as application:
        span = window_at(application.now(), wanted, timedelta())
        return span, [on_history(rule, application.alerting.store, span) for rule in rules.rules]
