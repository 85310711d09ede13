"""Fakes of the outbox and of a receiver, which pass the contract suites of the real ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import ClassVar

from typing_extensions import override

from monitor.alert.notification import Notification
from monitor.alert.notify.dispatch import AlertGroup
from monitor.alert.ports import LONGEST_WAIT, Outbox, Receiver
from monitor.alert.silence import Silence
from monitor.core.errors import Retriable
from monitor.core.model import Json


@dataclass(slots=True, kw_only=True)
class OutboxRow:
    """A notification and its delivery."""

    notification: Notification
    retry_at: datetime | None = None
    delivered_at: datetime | None = None
    receipt: Mapping[str, Json] | None = None
    error: str | None = None
    given_up: bool = False

    @property
    def waits(self) -> bool:
        """Whether the notification is still to be delivered."""
        return self.delivered_at is None and not self.given_up

    def purgeable(self, before: datetime, resent_before: datetime, unfinished: Collection[str]) -> bool:
        """Whether the row may be deleted, see `Outbox.purge`."""
        notification = self.notification
        if self.delivered_at is not None and notification.resent and self.receipt is None:
            return self.delivered_at < resent_before
        done = self.delivered_at or (notification.at if self.given_up else None)
        return done is not None and done < before and notification.episode not in unfinished


@dataclass(slots=True)
class MemoryOutbox(Outbox):
    """An `Outbox` in memory, for one thread that enqueues and one per receiver that delivers.

    `out_of_reach` makes every method raise `Retriable`.
    """

    rows: list[OutboxRow] = field(default_factory=list)
    silenced: list[Silence] = field(default_factory=list)
    out_of_reach: bool = False
    locked_by_another: bool = False
    _groups: dict[tuple[str, str], AlertGroup] = field(default_factory=dict)
    _putting: Lock = field(default_factory=Lock)

    @override
    def groups(self) -> list[AlertGroup]:
        self._reach()
        return list(self._groups.values())

    @override
    def backlog(self) -> set[tuple[str, str]]:
        self._reach()
        waiting = (row.notification for row in self.rows if row.delivered_at is None and not row.given_up)
        return {(notification.receiver, notification.group) for notification in waiting}

    @override
    def silences(self, now: datetime) -> list[Silence]:
        self._reach()
        return [silence for silence in self.silenced if silence.ends_at > now]

    @override
    def enqueue(self, group: AlertGroup, notification: Notification, *, over: bool) -> None:
        self._reach()
        key = group.receiver, group.key
        before = self._groups.get(key)
        stood = (None, 0) if before is None else (before.episode, before.number)
        if stood != ((None if group.number == 1 else group.episode), group.number - 1):
            raise Retriable(f"the group {group.key} of {group.receiver} was changed by another replica")
        if over:
            del self._groups[key]
        else:
            self._groups[key] = group
        self._put(notification)

    @contextmanager
    @override
    def delivering(self, receiver: str) -> Iterator[bool]:
        del receiver
        self._reach()
        yield not self.locked_by_another

    @override
    def waiting(self) -> list[str]:
        self._reach()
        return sorted({row.notification.receiver for row in self.rows if row.waits})

    @override
    def due(self, now: datetime, receiver: str) -> list[Notification]:
        self._reach()
        first: dict[str, OutboxRow] = {}
        for row in self.rows:
            if row.waits and row.notification.receiver == receiver:
                first.setdefault(row.notification.group, row)
        ready = [row for row in first.values() if row.retry_at is None or not now < row.retry_at <= now + LONGEST_WAIT]
        ready.sort(key=lambda row: (row.retry_at or row.notification.at, row.notification.attempts))
        return [replace(row.notification, previous=self._receipt(row.notification)) for row in ready]

    @override
    def copy_to_fallback(self, receiver: str, fallback: str, *, made_before: datetime | None = None) -> None:
        self._reach()
        sent = [row.notification for row in self.rows if row.notification.receiver == fallback]
        reasons = {notification.episode: notification.instead_of for notification in sent}
        for row in list(self.rows):
            waiting = row.notification
            if not row.waits or waiting.receiver != receiver or waiting.instead_of or waiting.resent:
                continue
            reason = reasons.get(waiting.episode)
            if reason or (made_before is not None and waiting.at < made_before):
                plain = f"{receiver} ({row.error or 'not delivered yet'})"
                self._put(replace(waiting, receiver=fallback, instead_of=reason or plain))

    @override
    def mark_attempt(self, notification: Notification) -> None:
        self._reach()
        row = self._row(notification)
        row.notification = replace(row.notification, in_doubt=True)

    @override
    def delivered(self, notification: Notification, receipt: Mapping[str, Json] | None, now: datetime) -> None:
        self._reach()
        row = self._row(notification)
        row.delivered_at, row.receipt, row.error = now, receipt, None

    @override
    def failed(
        self,
        notification: Notification,
        error: str,
        retry_at: datetime | None,
        *,
        instead: Notification | None = None,
        attempted: bool = True,
    ) -> None:
        self._reach()
        row = self._row(notification)
        row.notification = replace(row.notification, attempts=row.notification.attempts + attempted)
        row.error, row.retry_at, row.given_up = error, retry_at, retry_at is None
        if instead is not None:
            self._put(instead)

    @override
    def purge(self, *, before: datetime, resent_before: datetime, limit: int) -> int:
        self._reach()
        unfinished = {group.episode for group in self._groups.values()}
        unfinished |= {row.notification.episode for row in self.rows if row.waits}
        gone = [row for row in self.rows if row.purgeable(before, resent_before, unfinished)][:limit]
        self.rows = [row for row in self.rows if row not in gone]
        return len(gone)

    def _put(self, notification: Notification) -> None:
        with self._putting:
            if _place(notification) in {_place(row.notification) for row in self.rows}:
                return
            number = max((row.notification.id or 0 for row in self.rows), default=0) + 1
            row = replace(notification, id=number, attempts=0, in_doubt=False, previous=None)
            self.rows.append(OutboxRow(notification=row))

    def _receipt(self, notification: Notification) -> Mapping[str, Json] | None:
        same = (notification.episode, notification.receiver)
        receipts = [r.receipt for r in self.rows if (r.notification.episode, r.notification.receiver) == same]
        return next((receipt for receipt in reversed(receipts) if receipt is not None), None)

    def _row(self, notification: Notification) -> OutboxRow:
        return next(row for row in self.rows if row.notification.id == notification.id)

    def _reach(self) -> None:
        if self.out_of_reach:
            raise Retriable("the store is out of reach")


class MemoryReceiver(Receiver):
    """A `Receiver` that keeps the notifications; `failures` are raised first, one per call."""

    resend: ClassVar[timedelta | None] = None

    def __init__(self, *failures: Exception) -> None:
        self.sent: list[Notification] = []
        self.failures = list(failures)

    @override
    def send(self, notification: Notification) -> Mapping[str, Json] | None:
        """The receipt names the place of the first message of the episode."""
        if self.failures:
            raise self.failures.pop(0)
        self.sent.append(notification)
        return notification.previous or {"place": len(self.sent)}

    @override
    def check(self) -> str:
        if self.failures:
            raise self.failures.pop(0)
        return "memory"


def _place(notification: Notification) -> tuple[str, str, int]:
    return notification.episode, notification.receiver, notification.number
