"""What a receiver is handed: everything it needs to say, so that it asks nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from monitor.alert.state import State, Transition
from monitor.model import Json

if TYPE_CHECKING:
    from monitor.alert.rule import Severity

Status: TypeAlias = Literal["firing", "resolved"]

MAX_EXAMPLES = 3
MAX_EXAMPLE_CHARS = 4_000  # a receiver shows less; an answer of a megabyte has no business in the outbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One bad answer, with the verdict on it. `id` is the interaction's."""

    id: str
    question: str
    answer: str
    verdict: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One message to one receiver about one episode of an alert.

    `id`, `attempts` and `previous` belong to the outbox row: None, 0 and None until it is stored. `previous` is the
    last receipt that this receiver gave for this episode. Rates are in [0, 1]; times are timezone-aware.
    """

    receiver: str
    episode: str
    fingerprint: str
    rule: str
    signal: str
    labels: Mapping[str, str]
    status: Status
    severity: Severity
    value: float | None
    lower: float
    upper: float
    samples: int
    threshold: float
    window: timedelta
    started_at: datetime  # when the breach began
    at: datetime  # when the alert came to this status
    annotations: Mapping[str, str] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    note: str | None = None
    url: str | None = None
    id: int | None = None
    attempts: int = 0
    previous: Mapping[str, Json] | None = None

    def to_json(self) -> dict[str, Json]:
        """The payload of an outbox row, without `id`, `attempts` and `previous`, which are the row's own."""
        return {
            "receiver": self.receiver,
            "episode": self.episode,
            "fingerprint": self.fingerprint,
            "rule": self.rule,
            "signal": self.signal,
            "labels": dict(self.labels),
            "status": self.status,
            "severity": self.severity,
            "value": self.value,
            "lower": self.lower,
            "upper": self.upper,
            "samples": self.samples,
            "threshold": self.threshold,
            "window_seconds": self.window.total_seconds(),
            "started_at": self.started_at.isoformat(),
            "at": self.at.isoformat(),
            "annotations": dict(self.annotations),
            "examples": [
                {"id": e.id, "question": e.question, "answer": e.answer, "verdict": e.verdict, "reasons": [*e.reasons]}
                for e in self.examples
            ],
            "note": self.note,
            "url": self.url,
        }

    @classmethod
    def from_json(
        cls,
        payload: Mapping[str, Any],
        *,
        id: int,  # noqa: A002  the field's name
        attempts: int = 0,
        previous: Mapping[str, Json] | None = None,
    ) -> Notification:
        """The reverse of `to_json`, with what the outbox row adds. Keys it does not know are ignored."""
        examples = (Example(**{**example, "reasons": tuple(example["reasons"])}) for example in payload["examples"])
        return cls(
            receiver=payload["receiver"],
            episode=payload["episode"],
            fingerprint=payload["fingerprint"],
            rule=payload["rule"],
            signal=payload["signal"],
            labels=payload["labels"],
            status=payload["status"],
            severity=payload["severity"],
            value=payload["value"],
            lower=payload["lower"],
            upper=payload["upper"],
            samples=payload["samples"],
            threshold=payload["threshold"],
            window=timedelta(seconds=payload["window_seconds"]),
            started_at=datetime.fromisoformat(payload["started_at"]),
            at=datetime.fromisoformat(payload["at"]),
            annotations=payload["annotations"],
            examples=tuple(examples),
            note=payload["note"],
            url=payload["url"],
            id=id,
            attempts=attempts,
            previous=previous,
        )


def notifications_of(
    change: Transition, *, examples: Sequence[Example] = (), url: str | None = None
) -> tuple[Notification, ...]:
    """One notification per receiver of the alert, none where the transition tells nobody."""
    if not change.notifies:
        return ()
    alert = change.alert
    return tuple(
        Notification(
            receiver=receiver,
            episode=alert.episode,
            fingerprint=alert.fingerprint,
            rule=alert.rule,
            signal=alert.signal,
            labels=alert.labels,
            status="firing" if alert.state is State.FIRING else "resolved",
            severity=alert.severity,
            value=alert.value,
            lower=alert.lower,
            upper=alert.upper,
            samples=alert.samples,
            threshold=alert.threshold,
            window=alert.window,
            started_at=alert.active_since,
            at=change.at,
            annotations=alert.annotations,
            examples=tuple(_shortened(example) for example in examples[:MAX_EXAMPLES]),
            note=change.note,
            url=url,
        )
        for receiver in alert.receivers
    )


def _shortened(example: Example) -> Example:
    return Example(
        id=example.id,
        question=example.question[:MAX_EXAMPLE_CHARS],
        answer=example.answer[:MAX_EXAMPLE_CHARS],
        verdict=example.verdict,
        reasons=example.reasons,
    )
