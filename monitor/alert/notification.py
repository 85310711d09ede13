"""A notification as receivers get it: complete, so that a receiver reads nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from monitor.core.model import Json

Severity: TypeAlias = Literal["critical", "warning", "info"]
Unit: TypeAlias = Literal["share", "number", "seconds"]
Status: TypeAlias = Literal["firing", "no_data", "error", "resolved"]
# Why a notification is sent: an episode begins, its alerts changed, it goes on, a person acted on it, it is over.
News: TypeAlias = Literal["firing", "changed", "repeated", "acknowledged", "silenced", "resolved"]

SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")  # from worst to least
MAX_EXAMPLES = 3
MAX_EXAMPLE_CHARS = 4_000  # receivers show less; an answer of a megabyte would only fill the outbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One bad answer with its verdict. `id` is the interaction's; `url` leads to it, `trace_url` to its trace.

    The trace is in another tool of the team's.
    """

    id: str
    question: str
    answer: str
    verdict: str
    reasons: tuple[str, ...] = ()
    url: str | None = None
    trace_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifiedAlert:
    """One alert as it stands when a notification is made.

    `value`, `lower`, `upper` and `bound` (the threshold) are in `unit`: a share in [0, 1], a plain number, or seconds.
    `lower` and `upper` are None if nothing bounds the value. `below`: the alert fires below the threshold, not above
    it. `samples` is the number of answers or messages counted in `window`. `fired_at` is the start that people are
    told, and from which durations count; the alert breached before, since `breaching_since`. `notified_at` is when the
    notification's receiver was first notified, or again after a silence; None from an earlier release.
    `escalated_after`: the receiver is that of a step of the escalation, and is notified since nobody acknowledged the
    alert for so long.
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
    breaching_since: Annotated[datetime, Field(alias="started_at")]  # its name in the rows of all releases
    fired_at: datetime
    resolved_at: datetime | None = None
    acknowledged_by: str | None = None
    silenced_until: datetime | None = None
    notified_at: datetime | None = None
    escalated_after: timedelta | None = None
    note: str | None = None  # why it ended, if that is not obvious
    quiet_since: datetime | None = None  # nothing was counted since then; the figures are those from before


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The value and the number of answers from `at` up to the next point."""

    at: datetime
    value: float | None
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The signal before and while the alert fired, for a chart."""

    points: tuple[Point, ...]
    bound: float
    unit: Unit
    name: str
    started_at: datetime | None = None  # when the alert fired; None from an earlier release


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What explains an episode beyond its figures.

    `cause` says in at most three sentences which part broke, how sure that is, and what to do next; `changes` has
    one sentence each, the most telling first. `run_url` leads to the run of a probe that the alert is about.
    """

    cause: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    course: Course | None = None
    run_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One message to one receiver about one episode of a group of alerts; most groups hold one alert.

    `episode` names one run of the group, from the first notification until all alerts are over: one Slack thread.
    `number` counts its notifications to this receiver from 0. `alerts` has all alerts of the group that are not over
    and those that ended since the last notification, the worst first; it is never empty. Times are aware.

    `id`, `attempts`, `in_doubt` and `previous` belong to the outbox row. `in_doubt`: an earlier attempt may have
    arrived. `previous` is the last receipt of this receiver for this episode.
    """

    receiver: str
    group: str
    episode: str
    number: int
    news: News
    group_labels: Mapping[str, str]
    alerts: tuple[NotifiedAlert, ...]
    at: datetime
    escalated_after: timedelta | None = None  # nobody acknowledged an alert for so long that this receiver gets it
    pages: bool = False  # calls somebody: the episode begins, goes on unacknowledged, or something new joined
    by: str | None = None  # the person who acted, for `acknowledged` and `silenced`
    instead_of: str | None = None  # the receiver that failed, and why
    cause: tuple[str, ...] = ()  # which part broke, how sure that is, what to do next
    changes: tuple[str, ...] = ()  # one sentence each, the most telling first
    examples: tuple[Example, ...] = ()
    course: Course | None = None
    url: str | None = None
    run_url: str | None = None  # of the probe's run that it is about
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
        """Whether all alerts of the group are resolved."""
        return all(alert.status == "resolved" for alert in self.alerts)

    @property
    def resent(self) -> bool:
        """Whether it only repeats and pages nobody: for receivers that forget."""
        return self.news == "repeated" and not self.pages

    @property
    def owner(self) -> str | None:
        """Whose rule the leading alert's is; not yet made harmless."""
        return self.leading.annotations.get("owner")

    @property
    def runbook(self) -> str | None:
        """What to do about the leading alert: a URL, or a text that leads to it; not yet made harmless."""
        return self.leading.annotations.get("runbook")

    @property
    def links(self) -> tuple[tuple[str | None, str], ...]:
        """Where to look, with words for each; not yet made harmless."""
        return (self.url, "Open in monitor"), (self.run_url, "Run of the probe"), (self.runbook, "Runbook")

    @property
    def severity(self) -> Severity:
        """The worst severity of the alerts that are not over, or of all alerts once all are over."""
        burning = [a.severity for a in self.alerts if a.status != "resolved"] or [a.severity for a in self.alerts]
        return min(burning, key=SEVERITIES.index)

    @property
    def fired_at(self) -> datetime:
        """When the first of its alerts fired."""
        return min(alert.fired_at for alert in self.alerts)

    def to_json(self) -> dict[str, Json]:
        """The payload of an outbox row."""
        payload: dict[str, Json] = _NOTIFICATION.dump_python(self, mode="json", exclude=set(_ROW_FIELDS), by_alias=True)
        return payload

    @classmethod
    def from_json(cls, payload: Mapping[str, Any], **row_fields: Any) -> Notification:
        """Reads what `to_json` returns; `row_fields` are the fields that the outbox row adds."""
        return _NOTIFICATION.validate_python({**payload, **row_fields})


_ROW_FIELDS = ("id", "attempts", "in_doubt", "previous")
_NOTIFICATION = TypeAdapter(Notification)
