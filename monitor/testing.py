"""Fakes that keep their promises: each passes the contract suite of the adapter it stands in for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import Any, TypeVar

from pydantic import ValidationError

from monitor.alert.notification import Notification
from monitor.alert.rule import LABELS, Selector
from monitor.alert.state import Alert, State, Transition
from monitor.alert.window import WindowCount
from monitor.errors import Fenced, Retriable
from monitor.llm.exchange import BudgetSpent, Form, NoAnswer, Purpose, Reply, Request, Spend
from monitor.message import DeadLetter
from monitor.model import Assessment, Batch, Interaction, Json, Tally

T = TypeVar("T", bound=Form)


@dataclass(slots=True)
class MemoryStore:
    """A `Store` in memory, for one thread. `failures` are raised first, one per write, which then stores nothing."""

    assessments: dict[tuple[str, str], Assessment] = field(default_factory=dict)
    pending: dict[tuple[str, str], Interaction] = field(default_factory=dict)
    dead_letters: dict[tuple[str, int, int, bytes], DeadLetter] = field(default_factory=dict)
    offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    failures: list[Exception] = field(default_factory=list)

    def write(self, batch: Batch) -> Tally:
        """As the port says."""
        if self.failures:
            raise self.failures.pop(0)
        moved = dict(self.offsets)
        for o in batch.offsets:
            if moved.get((o.topic, o.partition)) != o.expected:
                raise Fenced(f"{o.topic}: another process reads it too, and has stored what came after {o.expected}")
            moved[o.topic, o.partition] = o.next
        self.offsets = moved
        new = waiting = 0
        for assessment in batch.assessments:
            key = (assessment.interaction.app, assessment.interaction.id)
            if key not in self.assessments and key not in self.pending:
                self.assessments[key] = assessment
                new += 1
        for interaction in batch.pending:
            key = (interaction.app, interaction.id)
            if key not in self.assessments and key not in self.pending:
                self.pending[key] = interaction
                waiting += 1
        for letter in batch.dead_letters:
            at, value = letter.message.position, letter.message.value
            self.dead_letters.setdefault((at.topic, at.partition, at.offset, value), letter)
        return Tally(
            received=batch.received,
            assessed=new,
            duplicate=len(batch.assessments) + len(batch.pending) - new - waiting,
            dead=len(batch.dead_letters),
            pending=waiting,
        )


@dataclass(slots=True, kw_only=True)
class OutboxRow:
    """One notification with what became of it."""

    notification: Notification
    retry_at: datetime | None = None
    delivered_at: datetime | None = None
    receipt: Mapping[str, Json] | None = None
    error: str | None = None
    given_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Minute:
    labels: Mapping[str, str]
    minute: datetime
    total: int
    matching: Mapping[str, int]


@dataclass(slots=True)
class MemoryAlertStore:
    """An `AlertStore` in memory, for one thread. `out_of_reach` makes every method raise `Retriable`."""

    outbox: list[OutboxRow] = field(default_factory=list)
    history: list[Transition] = field(default_factory=list)
    out_of_reach: bool = False
    locked_by_another: bool = False
    _minutes: list[_Minute] = field(default_factory=list)
    _alerts: dict[str, Alert] = field(default_factory=dict)

    def count(self, minute: datetime, labels: Mapping[str, str], total: int, **matching: int) -> None:
        """Adds answers to the rollup: `matching` says of how many each signal holds; labels not named are ``""``."""
        known: dict[str, str] = {label: labels.get(label, "") for label in LABELS}
        start = minute.replace(second=0, microsecond=0)
        self._minutes.append(_Minute(labels=known, minute=start, total=total, matching=matching))

    @contextmanager
    def evaluating(self) -> Iterator[bool]:
        """As the port says."""
        self._reach()
        yield not self.locked_by_another

    @contextmanager
    def delivering(self) -> Iterator[bool]:
        """As the port says."""
        self._reach()
        yield not self.locked_by_another

    def window_counts(
        self, selector: Selector, signal: str, by: Sequence[str], start: datetime, end: datetime
    ) -> list[WindowCount]:
        """As the port says."""
        self._reach()
        wanted = {label: getattr(selector, label) for label in LABELS}
        sums: dict[tuple[str, ...], tuple[int, int]] = {}
        for row in self._minutes:
            if start <= row.minute < end and all(not v or row.labels[k] in v for k, v in wanted.items()):
                group = tuple(row.labels[label] for label in by)
                matching, total = sums.get(group, (0, 0))
                sums[group] = matching + row.matching.get(signal, 0), total + row.total
        return [
            WindowCount(labels=dict(zip(by, group, strict=True)), matching=matching, total=total)
            for group, (matching, total) in sorted(sums.items())
            if total
        ]

    def alerts(self) -> list[Alert]:
        """As the port says."""
        self._reach()
        return [alert for alert in self._alerts.values() if alert.state is not State.INACTIVE]

    def save(self, transitions: Sequence[Transition], notifications: Sequence[Notification]) -> None:
        """As the port says."""
        self._reach()
        for change in transitions:
            if _key(self._alerts.get(change.alert.fingerprint)) != _key(change.previous):
                raise Retriable(f"the alert {change.alert.fingerprint} was changed by another evaluator")
        self._alerts.update({change.alert.fingerprint: change.alert for change in transitions})
        self.history += transitions
        known = {(r.notification.episode, r.notification.receiver, r.notification.status) for r in self.outbox}
        for notification in notifications:
            if (notification.episode, notification.receiver, notification.status) not in known:
                stored = replace(notification, id=len(self.outbox) + 1, attempts=0, previous=None)
                self.outbox.append(OutboxRow(notification=stored))

    def due(self, now: datetime) -> list[Notification]:
        """As the port says."""
        self._reach()
        first: dict[tuple[str, str], OutboxRow] = {}
        for row in self.outbox:
            if row.delivered_at is None and not row.given_up:
                first.setdefault((row.notification.fingerprint, row.notification.receiver), row)
        return [
            replace(row.notification, previous=self._receipt(row.notification))
            for row in first.values()
            if row.retry_at is None or row.retry_at <= now
        ]

    def delivered(self, notification: Notification, receipt: Mapping[str, Json] | None, now: datetime) -> None:
        """As the port says."""
        self._reach()
        row = self._row(notification)
        row.delivered_at, row.receipt, row.error = now, receipt, None

    def failed(self, notification: Notification, error: str, retry_at: datetime | None) -> None:
        """As the port says."""
        self._reach()
        row = self._row(notification)
        row.notification = replace(row.notification, attempts=row.notification.attempts + 1)
        row.error, row.retry_at, row.given_up = error, retry_at, retry_at is None

    def _receipt(self, notification: Notification) -> Mapping[str, Json] | None:
        same = (notification.episode, notification.receiver)
        receipts = [r.receipt for r in self.outbox if (r.notification.episode, r.notification.receiver) == same]
        return next((receipt for receipt in reversed(receipts) if receipt is not None), None)

    def _row(self, notification: Notification) -> OutboxRow:
        return next(row for row in self.outbox if row.notification.id == notification.id)

    def _reach(self) -> None:
        if self.out_of_reach:
            raise Retriable("the store is out of reach")


class MemoryReceiver:
    """A `Receiver` that keeps what it is sent; `failures` are raised first, one per call."""

    def __init__(self, *failures: Exception) -> None:
        self.sent: list[Notification] = []
        self.failures = list(failures)

    def send(self, notification: Notification) -> Mapping[str, Json] | None:
        """As the port says; the receipt names the place of the first message of the episode."""
        if self.failures:
            raise self.failures.pop(0)
        self.sent.append(notification)
        return notification.previous or {"place": len(self.sent)}

    def check(self) -> str:
        """As the port says."""
        if self.failures:
            raise self.failures.pop(0)
        return "memory"


@dataclass(slots=True, kw_only=True)
class ScriptedLanguageModel:
    """A `LanguageModel` that answers from `answers`: by the prompt's name, one text after the other, the last for ever.

    An answer that is an exception is raised. What does not have the prompt's form is `NoAnswer`: nothing is repaired.
    """

    answers: Mapping[str, Sequence[str | Exception]]
    model: str = "scripted"
    asked: list[Request[Any]] = field(default_factory=list)

    def ask(self, request: Request[T], *, deadline: float | None = None) -> Reply[T]:  # noqa: ARG002  it never waits
        """As the port says; a call costs one token each way."""
        name = request.prompt.name
        turn = sum(earlier.prompt.name == name for earlier in self.asked)
        self.asked.append(request)
        given = self.answers[name]
        answer = given[min(turn, len(given) - 1)]
        if isinstance(answer, Exception):
            raise answer
        spend = Spend(calls=1, input_tokens=1, output_tokens=1)
        try:
            value = request.prompt.form.model_validate_json(answer, strict=True)
        except ValidationError as error:
            raise NoAnswer("malformed", str(error), spend) from None
        return Reply(value=value, model=self.model, spend=spend)


@dataclass(slots=True, kw_only=True)
class MemoryBudget:
    """A `Budget` in memory, for any number of threads; `most_calls` are for all purposes together."""

    most_calls: int | None = None
    taken: Counter[Purpose] = field(default_factory=Counter)
    counted: dict[Purpose, Spend] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def take(self, purpose: Purpose, model: str, *, calls: int = 1) -> None:  # noqa: ARG002  it is one for all models
        """As the port says; `retry_after` is a minute."""
        with self._lock:
            if self.most_calls is not None and self.taken.total() + calls > self.most_calls:
                raise BudgetSpent(f"the budget of {self.most_calls} calls is spent", retry_after=60.0)
            self.taken[purpose] += calls

    def count(self, purpose: Purpose, model: str, spend: Spend) -> None:  # noqa: ARG002  the same
        """As the port says; what the spend says of calls is kept too, for tests to compare."""
        with self._lock:
            self.counted[purpose] = self.counted.get(purpose, Spend()) + spend


def _key(alert: Alert | None) -> tuple[str, State] | None:
    return None if alert is None or alert.state is State.INACTIVE else (alert.episode, alert.state)
