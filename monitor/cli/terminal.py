"""What the commands share: signals, the progress bar, and foreign text and JSON on a terminal."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.core.model import Tally
    from monitor.ingest.files import FileSource

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@contextmanager
def stopping() -> Iterator[Event]:
    """An event that SIGTERM and Ctrl-C set; a second Ctrl-C ends at once."""
    stop = Event()

    def on_signal(number: int, _: object) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not stop.is_set():
            sys.stderr.write("monitor: stopping; what is in flight is finished first\n")
        stop.set()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def progress_bar() -> Iterator[Callable[[FileSource, Tally], None]]:
    """A function to report progress to: a bar on a terminal, nothing elsewhere."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("reading", total=None)

        def report(source: FileSource, tally: Tally) -> None:
            words = f"{tally.assessed} assessed, {tally.duplicate} duplicate, {tally.dead} dead"
            bar.update(task, description=words, completed=source.bytes_read, total=source.bytes_total)

        yield report


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested settings as (name in the environment without its prefix, value)."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}", value


def literal(text: str) -> str:
    """So that foreign text is neither markup nor steers the terminal."""
    return escape(readable(text))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.total_seconds() if isinstance(value, timedelta) else str(value)


def print_json(value: object) -> None:
    """On standard output, indented; times as in RFC 3339, lengths in seconds, other foreign types as their text."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=_plain) + "\n")
