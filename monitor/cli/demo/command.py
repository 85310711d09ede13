"""The command `monitor demo`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings


def demo(
    *,
    seed: Annotated[int, typer.Option(help="The same seed plays the same traffic.")] = 7,
    kafka: Annotated[
        bool, typer.Option("--kafka", help="Go through a real broker: the configured one, or one started with Java.")
    ] = False,
    llm: Annotated[
        str | None,
        typer.Option(metavar="URL", help="OpenAI-compatible server for the sidecar and the judge; calls may cost."),
    ] = None,
    probe: Annotated[
        bool, typer.Option("--probe", help="Instead, probe two versions of the bot: the one that got worse is caught.")
    ] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Open the dashboard on it at the end; Ctrl-C ends it.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Print without colours.")] = False,
) -> None:
    """Play 15 minutes of a support bot with two incidents: one alert comes and goes, the other goes on firing."""
    console = Console(no_color=plain or None, highlight=False)
    if probe:
        from monitor.cli.demo.with_probe import play_probe

        if kafka or serve:
            raise WrongSettings(f"--probe asks the bot itself: leave out {'--kafka' if kafka else '--serve'}")
        play_probe(load_settings(), console=console, llm=llm)
        return
    from monitor.cli.demo.demo import play_demo

    play_demo(load_settings(), seed=seed, kafka=kafka, llm=llm, console=console, serve=serve)
