"""Spans and log records of OpenTelemetry, whatever wrote them, and what a message holds that is not one interaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from monitor.core.message import Position

if TYPE_CHECKING:
    from monitor.core.model import Feedback, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """An event within a span; `at` counts nanoseconds since 1970."""

    name: str
    at: int
    attributes: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One step of a trace. Ids are lower-case hex, times nanoseconds since 1970; `ended` is 0 if it is not known.

    `resource` holds what is read of the process that wrote it, like `service.name`. `failed`: its status is `error`.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    started: int
    ended: int
    scope: str = ""  # the name of the instrumentation
    failed: bool = False
    problem: str = ""  # the message of the status
    attributes: Mapping[str, Json] = field(default_factory=dict)
    dropped_attributes: int = 0
    events: tuple[SpanEvent, ...] = ()
    resource: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """A log record that belongs to a span; `name` is that of the event, from whichever field holds it."""

    trace_id: str
    span_id: str
    name: str
    at: int
    body: Json = None
    attributes: Mapping[str, Json] = field(default_factory=dict)
    scope: str = ""
    resource: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a message holds that is not exactly one interaction.

    Spans and log records wait with their trace until it is whole. `events` are native events, as JSON, which are read
    one by one. `feedback` is on stored interactions. `app` comes before any name that the spans or events give.
    """

    received_at: datetime
    position: Position | None = None
    app: str | None = None
    spans: tuple[Span, ...] = ()
    logs: tuple[LogRecord, ...] = ()
    events: tuple[bytes, ...] = ()
    feedback: tuple[Feedback, ...] = ()
