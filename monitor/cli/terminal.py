"""What the commands share: common options, signals, the progress bar, foreign text and JSON on a terminal."""

from __future__ import annotations

import faulthandler
import json
import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from monitor.app.logs import say
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.core.batch import Tally
    from monitor.ingest.files import FileSource

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
AppOfEvents = Annotated[str | None, typer.Option("--app", help="App of the events that name none.")]
Dialect = Annotated[
    str | None,
    typer.Option(help="auto, native, cloudevents, ragas, otlp, otlp_proto, otlp_json, phoenix, langsmith or langfuse."),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="Where a field stands, such as question=prompt; repeat for others. See `monitor docs start/forms`.",
    ),
]
LAST_RESORT = 55.0  # seconds; more than all parts need to end in order, less than docker/compose.yaml waits
PRINTED_WITHIN = 3.0  # seconds for the tracebacks after that; a terminal that stands still takes them for ever


@contextmanager
def stopping() -> Iterator[Event]:
    """Yields an event that SIGTERM and Ctrl-C set; a second Ctrl-C ends the process at once.

    A process that is still there LAST_RESORT seconds later ends all the same, with a traceback of each thread and exit
    code 1: by a thread of the interpreter's own, which needs no turn among the others. Where not even that can be
    printed, since nobody reads the terminal (Ctrl-S), SIGALRM ends it.
    """
    stop = Event()

    def on_signal(number: int, _: object) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not stop.is_set():
            # First, since what follows may never come to an end: what was interrupted may hold the event's lock or the
            # terminal's.
            faulthandler.dump_traceback_later(LAST_RESORT, exit=True, file=sys.__stderr__ or sys.stderr)
            signal.setitimer(signal.ITIMER_REAL, LAST_RESORT + PRINTED_WITHIN)
            stop.set()
            again = "; Ctrl-C again ends at once" if number == signal.SIGINT else ""
            say(f"stopping; anything in flight is finished first{again}", level=logging.INFO)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def progress_bar() -> Iterator[Callable[[FileSource, Tally], None]]:
    """Yields a function that reports progress: as a bar on a terminal, not at all elsewhere."""
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
            description = f"{tally.assessed} assessed, {tally.duplicate} duplicate, {tally.dead} dead"
            bar.update(task, description=description, completed=source.bytes_read, total=source.bytes_total)

        yield report


def confirm(question: str) -> None:
    """Asks before something that cannot be undone; a no ends the command.

    Raises:
        WrongSettings: standard input is not a terminal.
    """
    if not sys.stdin.isatty():
        raise WrongSettings(f"{question} Add --yes to confirm: there is no terminal to ask on")
    typer.confirm(question, abort=True, err=True)


def actor(by: str | None) -> str:
    """The name for the audit trail: `--by`, or the login name without it.

    Raises:
        WrongSettings: the name is empty, too long or not printable.
    """
    from monitor.app.review.labels import login_name, person

    return login_name() if by is None else person(by)


def duration(text: str, option: str, *, longest: timedelta | None = None) -> timedelta:
    """The length of time that `option` gives, such as 90d.

    Raises:
        WrongSettings: `text` is not a length of time, or longer than `longest`.
    """
    from monitor.core.text.duration import parse_duration

    try:
        return parse_duration(text) if longest is None else parse_duration(text, longest=longest)
    except ValueError as error:
        raise WrongSettings(f"{option}: {error}") from None


def point_in_time(text: str, option: str) -> datetime:
    """The time that `option` gives, in UTC where it names no zone.

    Raises:
        WrongSettings: `text` is not a time.
    """
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise WrongSettings(f"{option}: {text!r} is not a time: write 2026-03-01 or 2026-03-01T12:00:00Z") from None


@contextmanager
def text_of(path: Path) -> Iterator[TextIO]:
    """Yields the file, open for reading.

    Raises:
        WrongSettings: it cannot be read, or is not UTF-8.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            yield lines
    except OSError as error:
        raise WrongSettings(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WrongSettings(f"{path}: is not UTF-8") from None


def plural(number: int, noun: str) -> str:
    """`1 interaction`, `2 interactions`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def literal(text: str) -> str:
    """`text` from outside, escaped so that it is no markup and cannot steer the terminal."""
    return escape(readable(text))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.total_seconds() if isinstance(value, timedelta) else str(value)


def print_json(value: object) -> None:
    """Prints indented JSON: times in RFC 3339, lengths of time in seconds, other foreign types as text.

    Where standard output is not UTF-8, other characters than ASCII are escaped.
    """
    escaped = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    sys.stdout.write(json.dumps(value, ensure_ascii=escaped, indent=2, default=_plain) + "\n")


def tag_option(text: str) -> tuple[str, str]:
    """The name and the value of `--tag NAME=VALUE`.

    Raises:
        WrongSettings: it has another form.
    """
    from monitor.store.interaction.filters import parsed_tag

    try:
        return parsed_tag(text)
    except ValueError as error:
        raise WrongSettings(f"--tag {error}") from None
