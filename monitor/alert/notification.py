"""What a receiver is handed: everything it needs to say, so that it asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

from monitor.core.model import Json

Severity: TypeAlias = Literal["critical", "warning", "info"]
Unit: TypeAlias = Literal["share", "number", "seconds"]
Status: TypeAlias = Literal["firing", "no_data", "error", "resolved"]
# Why receivers are told: an episode begins, alerts joined or left it, it goes on, somebody acted on it, it is over.
News: TypeAlias = Literal["firing", "changed", "repeated", "acknowledged", "silenced", "resolved"]

SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")  # from worst to least
MAX_EXAMPLES = 3
MAX_EXAMPLE_CHARS = 4_000  # a receiver shows less; an answer of a megabyte has no business in the outbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One bad answer, with the verdict on it. `id` is the interaction's; `url` leads to it."""

    id: str
    question: str
    answer: str
    verdict: str
    reasons: tuple[str, ...] = ()
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifiedAlert:
    """One alert as a notification tells of it.

    `value`, `lower`, `upper` and `bound` (the line it is held against) are in `unit`: a share in [0, 1], a number as it
    is, or seconds; the bounds are None where nothing bounds it. `below`: it fires under the line, not above it.
    `samples` is what was counted in `window`.
    """

    fingerprint: str
    episode: str
    rule: str
    signal: str  # as `Signal` says it: "rate of negative", "mean of sda", "lag"
    method: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    severity: Severity
    status: Status
    unit: Unit
    value: float | None
    lower: float | None
    upper: float | None
    bound: float
    below: bool = False
    samples: int
    window: timedelta
    detail: str | None = None
    started_at: datetime  # when the breach began
    fired_at: datetime
    resolved_at: datetime | None = None
    acknowledged_by: str | None = None
    silenced_until: datetime | None = None
    note: str | None = None  # why it ended, where that is not plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What was counted from `at` on, up to the next point."""

    at: datetime
    value: float | None
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How the signal went before and while the alert fired, for a chart."""

    points: tuple[Point, ...]
    bound: float
    unit: Unit
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What is known of an episode beside its figures: what changed, a sentence each, the most telling first."""

    changes: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    course: Course | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One message to one receiver about one episode of a group of alerts; most groups hold one alert.

    `episode` names the run of the group from the first alert that was told to when all are over: one Slack thread, one
    PagerDuty incident. `number` counts its notifications to this receiver from 0. `alerts` are all of the group that
    are not over and those that ended since the notification before, the worst first; never empty. Times are aware.

    `id`, `attempts`, `in_doubt` and `previous` belong to the outbox row. `in_doubt`: an attempt may have arrived though
    nothing is known of it. `previous` is the last receipt that this receiver gave for this episode.
    """

    receiver: str
    group: str
    episode: str
    number: int
    news: News
    group_labels: Mapping[str, str]
    alerts: tuple[NotifiedAlert, ...]
    at: datetime
    pages: bool = False  # somebody is called: it begins, goes on unheard, or something joined that nobody knows of
    by: str | None = None  # who acted, for `acknowledged` and `silenced`
    instead_of: str | None = None  # the receiver that should have been told, and why it could not be
    changes: tuple[str, ...] = ()  # what changed, a sentence each, the most telling first
    examples: tuple[Example, ...] = ()
    course: Course | None = None
    url: str | None = None
    id: int | None = None
    attempts: int = 0
    in_doubt: bool = False
    previous: Mapping[str, Any] | None = None

    @property
    def leading(self) -> NotifiedAlert:
        """The alert that the heading is about."""
        return self.alerts[0]

    @property
    def over(self) -> bool:
        """Whether nothing of the group fires any more."""
        return all(alert.status == "resolved" for alert in self.alerts)

    @property
    def resent(self) -> bool:
        """Whether it only tells again, and calls nobody: for receivers that forget."""
        return self.news == "repeated" and not self.pages

    @property
    def severity(self) -> Severity:
        """The worst of what is not over, of all once everything is."""
        burning = [a.severity for a in self.alerts if a.status != "resolved"] or [a.severity for a in self.alerts]
        return min(burning, key=SEVERITIES.index)

    @property
    def started_at(self) -> datetime:
        """When the first of its breaches began."""
        return min(alert.started_at for alert in self.alerts)

    def to_json(self) -> dict[str, Json]:
        """The payload of an outbox row."""
        payload: dict[str, Json] = _NOTIFICATION.dump_python(self, mode="json", exclude=set(_OF_THE_ROW))
        return payload

    @classmethod
    def from_json(cls, payload: Mapping[str, Any], **of_the_row: Any) -> Notification:
        """The reverse, with what the outbox row adds."""
        return _NOTIFICATION.validate_python({**payload, **of_the_row})


_OF_THE_ROW = ("id", "attempts", "in_doubt", "previous")
_NOTIFICATION = TypeAdapter(Notification)
