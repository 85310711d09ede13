"""The command `monitor alerts simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monitor.cli.terminal import AsJson, print_json
from monitor.core.errors import WrongSettings

if TYPE_CHECKING:
    from monitor.app.backtest import Simulated

RulesFile = Annotated[Path | None, typer.Argument(help="Rules file; default: the one in force.")]


def alerts_simulate(
    file: RulesFile = None,
    *,
    scenario: Annotated[str | None, typer.Option(help="Without it, the command lists the scenarios.")] = None,
    weeks: Annotated[int, typer.Option(min=1, max=1_000, help="How many weeks to play.")] = 4,
    seed: Annotated[int, typer.Option(help="The same seed plays the same traffic.")] = 7,
    as_json: AsJson = False,
) -> None:
    """Play simulated weeks to the rules: count false pages, and measure how soon each rule sees an incident."""
    from rich.console import Console

    from monitor.app.backtest import on_scenario
    from monitor.cli.alert.rules import rules_of
    from monitor.cli.alert.tables import simulated_table
    from monitor.simulate.minute_counts import SCENARIOS

    if scenario is None:
        for name, known in SCENARIOS.items():
            typer.echo(f"{name:12} {known.description}")
        return
    if scenario not in SCENARIOS:
        raise WrongSettings(f"no scenario {scenario!r}; known: {', '.join(SCENARIOS)}")
    played = [on_scenario(rule, SCENARIOS[scenario], weeks=weeks, seed=seed) for rule in rules_of(file).rules]
    if as_json:
        print_json([_simulated_json(simulated) for simulated in played])
    else:
        Console(highlight=False, emoji=False).print(simulated_table(played))


def _simulated_json(simulated: Simulated) -> dict[str, Any]:
    return {
        "name": simulated.rule.name,
        "weeks": simulated.weeks,
        "false_pages": simulated.false_pages,
        "why_not": simulated.why_not,
        "delay_seconds": [None if delay is None else delay.total_seconds() for delay in simulated.delays],
        "pages_again": simulated.pages_again,
    }
