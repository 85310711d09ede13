"""The command `monitor demo`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
        with _ending_in_order():
            play_probe(load_settings(), console=console, llm=llm)
        return
    from monitor.cli.demo.demo import play_demo

    with _ending_in_order():
        play_demo(load_settings(), seed=seed, kafka=kafka, llm=llm, console=console, serve=serve)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """SIGTERM, and SIGHUP when the terminal is closed, end the block like Ctrl-C, so that no server outlives it."""

    def end(number: int, _: object) -> None:
        for one in before:
            signal.signal(one, signal.SIG_IGN)  # a second one must not interrupt the cleaning up
        sys.exit(128 + number)  # as a shell says it

    both = (signal.SIGTERM, signal.SIGHUP)
    before = [one for one in both if signal.getsignal(one) is signal.SIG_DFL]  # nohup has it ignored
    for one in before:
        signal.signal(one, end)
    try:
        yield
    finally:
        for one in before:
            signal.signal(one, signal.SIG_DFL)
