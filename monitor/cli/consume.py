"""What the options of `monitor consume` mean: the settings they stand before, and the span that is read again."""

from __future__ import annotations

from datetime import datetime

from pydantic import ValidationError

from monitor.core.errors import InvalidMessage, WrongSettings
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import KafkaSettings
from monitor.ingest.kafka.span import Span
from monitor.ingest.times import instant

BEGINNING, NOW = "beginning", "now"


def span_between(start: str | None, end: str | None) -> Span | None:
    """The span of `--from` and `--to`, None where neither is given.

    Raises:
        WrongSettings: one of them is no time, or only the end is given.
    """
    if start is None and end is None:
        return None
    if start is None:
        raise WrongSettings(f"--to needs --from; `--from {BEGINNING}` takes everything that is still there")
    return Span(
        start=None if start == BEGINNING else _time(start, "--from"),
        end=None if end in {None, NOW} else _time(str(end), "--to"),
    )


def _time(text: str, option: str) -> datetime:
    try:
        return instant(text, option)
    except InvalidMessage as error:
        raise WrongSettings(f"{error}; `{BEGINNING}` and `{NOW}` are understood too") from None


def chosen(
    settings: Settings, *, topics: list[str] | None, group: str | None, profile: str | None, span: Span | None
) -> Settings:
    """`settings` with what the options put before them.

    Raises:
        WrongSettings: a span without a group of its own, or another profile without a span.
    """
    kafka = settings.kafka
    if span is not None and (group is None or group == kafka.group_id):
        raise WrongSettings("--from reads again beside the live consumers: give it a --group of its own")
    if profile is not None and span is None:
        raise WrongSettings("--profile assesses a span anew, so it needs --from; for what comes, set MONITOR_PROFILE")
    over: dict[str, object] = {"topics": tuple(topics), "topic_pattern": None} if topics else {}
    if group is not None:
        over["group_id"] = group
    try:
        kafka = KafkaSettings.model_validate({**kafka.model_dump(), **over})
    except ValidationError as error:
        raise WrongSettings("; ".join(f"{e['loc'][0]}: {e['msg']}" for e in error.errors())) from None
    return settings.model_copy(update={"kafka": kafka, "profile": profile or settings.profile})
