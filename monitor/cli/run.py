"""The commands that keep running: `monitor run`, `monitor consume` and `monitor serve`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from monitor.cli.opening import opened
from monitor.cli.terminal import AppOfEvents, Dialect, Map, stopping
from monitor.core.errors import InvalidMessage, WrongSettings
from monitor.core.settings.kafka import KafkaSettings
from monitor.core.settings.load import Settings, load_settings
from monitor.core.yaml.problems import problems_of, written

if TYPE_CHECKING:
    from datetime import datetime

    from monitor.core.batch import Tally
    from monitor.ingest.kafka.span import Span

BEGINNING, NOW = "beginning", "now"


def run(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="JSON Lines files that a chatbot appends to; - is standard input. Default: Kafka."),
    ] = None,
    *,
    app_name: AppOfEvents = None,
    dialect: Dialect = None,
    places: Map = None,
) -> None:
    """Follow files or read Kafka, assess each answer, evaluate the alert rules, and run scheduled probes.

    With neither files nor Kafka it runs the probes alone, if there are any. Stops cleanly on SIGTERM.
    """
    from monitor.app.run import serve as run_until_stopped
    from monitor.ingest.mapping import event_map

    _log_progress()
    with stopping() as stop, opened(migrated=False) as application:
        tally = run_until_stopped(
            application, files or [], app=app_name, dialect=dialect, event_map=event_map(places or ()), stop=stop
        )
    _print_ledger(tally)


def serve() -> None:
    """Serve the dashboard and the JSON API.

    Prints a link that signs you in once, while there is no access token. Stops cleanly on SIGTERM.
    MONITOR_WEB__HOST and MONITOR_WEB__PORT set the address.
    """
    from monitor.web.server import serve as serve_web

    _log_progress()
    with stopping() as stop, opened(migrated=False) as application:
        serve_web(application, stop)


def consume(
    *,
    topics: Annotated[list[str] | None, typer.Option("--topic", help="Overrides MONITOR_KAFKA__TOPICS.")] = None,
    group: Annotated[str | None, typer.Option(help="Overrides MONITOR_KAFKA__GROUP_ID.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="Read again from this time, or from the `beginning`, and exit.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="Stop before this time; default: `now`.")] = None,
    profile: Annotated[
        str | None, typer.Option(help="Add assessments under this profile to what is stored; needs --from.")
    ] = None,
    app_name: AppOfEvents = None,
    dialect: Dialect = None,
) -> None:
    """Read Kafka without evaluating alert rules: as one of several consumers, or to read a span of time again."""
    from monitor.app.run import consume as run_consume

    _log_progress()
    span = span_between(start, end)
    settings = overridden(load_settings(), topics=topics, group=group, profile=profile, span=span)
    with stopping() as stop, opened(settings, migrated=False) as application:
        tally = run_consume(
            application, app=app_name, dialect=dialect, stop=stop, span=span, rescore=profile is not None
        )
    _print_ledger(tally)
    if span is not None and stop.is_set():
        raise typer.Exit(1)


def span_between(start: str | None, end: str | None) -> Span | None:
    """The span of time between `--from` and `--to`, or None without either.

    Raises:
        WrongSettings: one of them is not a time, or only the end is given.
    """
    from monitor.ingest.kafka.span import Span

    if start is None and end is None:
        return None
    if start is None:
        raise WrongSettings(f"--to needs --from; `--from {BEGINNING}` reads everything that Kafka still has")
    return Span(
        start=None if start == BEGINNING else _time(start, "--from"),
        end=None if end is None or end == NOW else _time(end, "--to"),
    )


def overridden(
    settings: Settings, *, topics: list[str] | None, group: str | None, profile: str | None, span: Span | None
) -> Settings:
    """`settings` with the options of `monitor consume` in place of theirs.

    Raises:
        WrongSettings: a span without a group of its own, another profile without a span, or a value no setting takes.
    """
    kafka = settings.kafka
    if span is not None and (group is None or group == kafka.group_id):
        raise WrongSettings("--from must not disturb the live consumers: give it a --group of its own")
    if profile is not None and span is None:
        raise WrongSettings("--profile needs --from; to assess new messages under it, set MONITOR_PROFILE")
    changes: dict[str, object] = {"topics": tuple(topics), "topic_pattern": None} if topics else {}
    if group is not None:
        changes["group_id"] = group
    try:
        kafka = KafkaSettings.model_validate({**kafka.model_dump(), **changes})
    except ValidationError as error:
        problems = problems_of(error, KafkaSettings)
        raise WrongSettings("; ".join(f"{written(path)}: {problem}" for path, problem in problems)) from None
    return settings.model_copy(update={"kafka": kafka, "profile": profile or settings.profile})


def _time(text: str, option: str) -> datetime:
    from monitor.ingest.times import instant

    try:
        return instant(text, option)
    except InvalidMessage as error:
        raise WrongSettings(f"{error}; `{BEGINNING}` and `{NOW}` work too") from None


def _log_progress() -> None:
    logging.getLogger("monitor").setLevel(logging.INFO)


def _print_ledger(tally: Tally) -> None:
    from monitor.app.logs import ledger_line, say

    say(ledger_line(tally))
