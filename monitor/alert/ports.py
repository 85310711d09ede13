"""Protocols at the seams of alerting: what rules look at, what is remembered and told, who is told, what people do."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from monitor.core.model import Json

if TYPE_CHECKING:
    from monitor.alert.evaluation.memory import Round, RuleMemory
    from monitor.alert.notification import Notification
    from monitor.alert.notify.dispatch import AlertGroup
    from monitor.alert.signal import Signal
    from monitor.alert.silence import Silence
    from monitor.alert.state import Alert, Transition
    from monitor.alert.target import HourSums
    from monitor.alert.window import Counts, Span


class SignalReader(Protocol):
    """What alert rules look at. Every method may raise `Retriable`."""

    def counts(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], spans: Sequence[Span]
    ) -> list[Counts]:
        """What was counted of `signal` in each of `spans`, one `Counts` per combination of the `by` labels that occurs.

        `selector` says which values of a label count. A label that the answers do not have is ``""``. A combination
        without anything in any span is left out; with `by` empty there is always one.
        """

    def hour_sums(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], span: Span
    ) -> list[HourSums]:
        """What baselines are learnt from: sums over the hours of `span`, which begins and ends with an hour of UTC.

        One for each combination of the `by` labels that occurs; `signal`, `selector` and `by` as for `counts`.
        """

    def momentary(self, signal: Signal, now: datetime) -> list[Counts]:
        """The state of a momentary signal, one `Counts` of one count per source."""

    def active_spans(self, rule_digest: str, since: datetime) -> Mapping[str, Sequence[Span]]:
        """When the alerts of a rule were active since then, by fingerprint."""


class AlertStore(SignalReader, Protocol):
    """What the evaluation reads and writes. Every method may raise `Retriable`, and then has changed nothing."""

    def evaluating(self) -> AbstractContextManager[bool]:
        """Holds the evaluator's lock for the block; yields False when another replica holds it."""

    def watermark(self, now: datetime) -> datetime | None:
        """Up to when all that had arrived is stored; None where nothing is being read."""

    def alerts(self) -> list[Alert]:
        """The current row of every fingerprint that is pending or active; of resolved ones at least some.

        These are those that resolved within an hour of the last evaluation, and those that a group still tells of.
        """

    def memory(self, rule_digest: str) -> RuleMemory:
        """What is remembered of a rule; empty of one never evaluated."""

    def save(self, done: Round) -> None:
        """Writes what one rule came to: alerts, their history, what is remembered; in one transaction.

        Raises:
            Retriable: the stored state and episode of an alert are not those of its transition's `previous` any more
                (the lock was lost and another replica evaluated): nothing was stored, the next round sees the truth.
                Without `previous` it may also be resolved, long ago.
        """

    def evaluated(self) -> Mapping[str, datetime]:
        """When each rule that is remembered was last evaluated, by digest, by whichever replica."""

    def end(self, transitions: Sequence[Transition], gone: Collection[str]) -> None:
        """Writes the end of alerts whose rule is gone, as `save` does, and forgets the rules of these digests."""


class Outbox(Protocol):
    """What was told, what is to be told, and by whom it is to be left alone. Every method may raise `Retriable`."""

    def groups(self) -> list[AlertGroup]:
        """Those that are not over."""

    def backlog(self) -> set[tuple[str, str]]:
        """Receiver and key of the groups that have a notification which waits to be sent."""

    def silences(self, now: datetime) -> list[Silence]:
        """Those that have not ended."""

    def enqueue(self, group: AlertGroup, notification: Notification, *, over: bool) -> None:
        """Writes the notification and the group as it stands after it, or its end, in one transaction.

        Raises:
            Retriable: the stored group does not stand where it stood: another replica has told of it.
        """

    def waiting(self) -> list[str]:
        """The receivers for which anything waits for delivery, in order."""

    def delivering(self, receiver: str) -> AbstractContextManager[bool]:
        """Holds the lock of who delivers to `receiver`; yields False when another replica holds it."""

    def due(self, now: datetime, receiver: str) -> list[Notification]:
        """Rows that wait for delivery to `receiver`, of one group only the first.

        Where that first one waits for its `retry_at`, the later ones wait behind it; one given up makes way. They come
        in the order in which they became due, so that one that fails again and again goes behind the others. Each has
        its `id`, `attempts` and `in_doubt`, and as `previous` the newest receipt of its episode and receiver.
        """

    def copy_to_fallback(self, receiver: str, fallback: str, *, made_before: datetime | None = None) -> None:
        """Puts for `fallback` what waits for `receiver`, once each, in its order.

        That is what belongs to an episode of which `fallback` was told instead already, so that it hears the end too;
        and what was made before `made_before`. Never what stands in itself, or repeats without calling anybody.
        """

    def mark_attempt(self, notification: Notification) -> None:
        """Notes, before it is sent, that it may have been."""

    def delivered(self, notification: Notification, receipt: Mapping[str, Json] | None, now: datetime) -> None:
        """Marks one as sent and keeps the receiver's receipt."""

    def failed(
        self,
        notification: Notification,
        error: str,
        retry_at: datetime | None,
        *,
        instead: Notification | None = None,
        attempted: bool = True,
    ) -> None:
        """Keeps the error, and counts an attempt where it was one; `retry_at` None gives up for good.

        `instead` is put into the outbox with it, unless its episode, receiver and number are there.
        """

    def purge(self, *, before: datetime, resent_before: datetime, limit: int) -> int:
        """Removes up to `limit` rows that nobody needs any more; how many.

        That is what was delivered, or made and given up, before `before`, of episodes that are over; and what was
        delivered before `resent_before`, called nobody and left no receipt: what is told again to who forgets.
        """


class Responses(Protocol):
    """What people do about alerts, each kept with who did it and when. Every method may raise `Retriable`."""

    def active_alerts(self, episode: str) -> tuple[Mapping[str, str], list[Alert]]:
        """The labels of the group that has this episode, and its alerts that are active; empty where it is over."""

    def acknowledge(self, alerts: Sequence[Alert], *, by: str, now: datetime, comment: str = "") -> int:
        """Marks those that are not acknowledged yet; how many."""

    def silence(self, silence: Silence, *, now: datetime) -> None:
        """Keeps a silence."""

    def unsilence(self, silence_id: str, *, by: str, now: datetime) -> bool:
        """Ends one that has not ended; whether there was one."""


class Receiver(Protocol):
    """Sends one notification once; `notify.py` owns the retries."""

    @property
    def resend(self) -> timedelta | None:
        """How often it is to be told again of what still fires, where it forgets that otherwise."""

    def send(self, notification: Notification) -> Mapping[str, Json] | None:
        """Delivers, and returns a receipt that later notifications of the same episode are given back, or None.

        Raises:
            Retriable: it may succeed later, after `retry_after` seconds if the service said so.
            Fatal: it never will (revoked token, unknown channel); the message says how to mend it.
        """

    def check(self) -> str:
        """Says in a few words where messages go, having tried as much as can be tried without sending one.

        Raises:
            Retriable, Fatal: as `send` does.
        """


class Actions(Protocol):
    """What a person may do about an episode from where they are told of it. Methods may raise `Retriable`.

    `by` names the person as the place knows them (`slack:U123 (ada)`), which the audit trail keeps. Each returns one
    plain line that says what came of it, also when there was nothing to do.
    """

    def acknowledge(self, episode: str, *, by: str) -> str:
        """Somebody is at it: the episode is not repeated any more."""

    def silence(self, episode: str, length: timedelta, *, by: str) -> str:
        """Nothing more is told of the episode's alerts for `length`."""
