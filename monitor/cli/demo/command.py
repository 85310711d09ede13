"""The command `monitor demo`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

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
    plain: Annotated[bool, typer.Option("--plain", help="Print without colours.")] = False,
) -> None:
    """Play 15 minutes of a support bot's traffic with a retrieval outage, and watch the alert come and go."""
    from monitor.cli.demo.demo import play_demo

    console = Console(no_color=plain or None, highlight=False)
    play_demo(load_settings(), seed=seed, kafka=kafka, llm=llm, console=console)
