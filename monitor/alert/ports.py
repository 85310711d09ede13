"""The ports of alerting: signals, alert state, the outbox, responses by people, receivers and actions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar, Protocol

from monitor.core.model import Json

if TYPE_CHECKING:
    from monitor.alert.answers import NewAnswers
    from monitor.alert.evaluation.memory import Round, RuleMemory
    from monitor.alert.labelled import LabelledRate
    from monitor.alert.notification import Notification
    from monitor.alert.notify.dispatch import AlertGroup
    from monitor.alert.probed import Probed
    from monitor.alert.signal import Signal
    from monitor.alert.silence import Silence
    from monitor.alert.state import Alert, Transition
    from monitor.alert.target import HourSums
    from monitor.alert.window import Counts, Span


LONGEST_WAIT = timedelta(hours=2)  # longer than any pause of `deliver`, as another machine's clock sees it


class CountReader(Protocol):
    """Counts the signals that have counts over spans of time. May raise `Retriable`."""

    def counts(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], spans: Sequence[Span]
    ) -> list[Counts]:
        """Counts `signal` in each of `spans`; one `Counts` for each combination of the `by` labels that occurs.

        `selector` lists the label values that count. A label that an answer lacks is ``""``. A combination with nothing
        in any span is left out; with `by` empty there is always one `Counts`.
        """


class SignalReader(CountReader, Protocol):
    """Reads the signals that alert rules watch. Every method may raise `Retriable`."""

    def hour_sums(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], span: Span
    ) -> list[HourSums]:
        """Sums for learning baselines over the hours of `span`, which begins and ends on a full hour of UTC.

        One `HourSums` for each combination of the `by` labels that occurs; the arguments are those of `counts`.
        """

    def momentary(self, signal: Signal, now: datetime) -> list[Counts]:
        """The state of a momentary signal, one `Counts` of one count per source."""

    def active_spans(self, rule_digest: str, since: datetime) -> Mapping[str, Sequence[Span]]:
        """The spans since `since` in which alerts of the rule were active, by fingerprint."""

    def new_answers(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], *, after: int | None, most: int
    ) -> NewAnswers:
        """The listed answers beyond the place `after` (None: from the first that is kept) under `selector`.

        At most about `most`: a conversation is not cut in two. Answers without a value of the signal are left out.
        """

    def labelled(self, signal: Signal) -> list[LabelledRate]:
        """The true rate of the newest labelled period of each app that has one; `signal` names the verdict."""

    def probed(self, signal: Signal, *, also: Collection[int], now: datetime) -> list[Probed]:
        """The up to `RUNS` newest runs of each probe that are done, and those of the numbers `also`, the newest first.

        `signal` names the score. A probe whose newest run ended `MAX_AGE` ago, or earlier, is left out. For `unjudged`
        it is the newest run alone, without values, even if an error ended it.
        """


class AlertStore(SignalReader, Protocol):
    """Reads and writes what the evaluation needs. A method that raises `Retriable` has changed nothing."""

    def evaluating(self) -> AbstractContextManager[bool]:
        """Holds the evaluator's lock for the block; yields False when another replica holds it."""

    def list_new_answers(self, now: datetime) -> None:
        """Lists answers that were stored since the last call, a bounded number of them, for `new_answers`.

        Each answer is listed once, in whatever order it is stored; a question answered alike within the list is listed
        once, and a conversation half an hour after its first answer.
        """

    def watermark(self, now: datetime) -> datetime | None:
        """The time up to which everything that arrived is stored; None if nothing is being read."""

    def alerts(self) -> list[Alert]:
        """The current row of every fingerprint that is pending or active, and of the resolved ones that still matter.

        Those are the alerts that resolved within an hour of the last evaluation, and the alerts of open groups.
        """

    def memory(self, rule_digest: str) -> RuleMemory:
        """The memory of a rule; empty for a rule that was never evaluated."""

    def save(self, done: Round) -> None:
        """Writes the result of one rule in one transaction: alerts, their history, the memory.

        Raises:
            Retriable: the stored state and episode of an alert no longer match its transition's `previous` (the lock
                was lost and another replica evaluated). Nothing was stored; the next round reads the current state.
                Without `previous`, a stored alert must have been resolved.
        """

    def evaluated(self) -> Mapping[str, datetime]:
        """The time of the last evaluation of each remembered rule by any replica, by digest."""

    def end(self, transitions: Sequence[Transition], gone: Collection[str]) -> None:
        """Ends alerts whose rule is gone, as `save` does, and forgets the rules with the digests in `gone`."""


class Outbox(Protocol):
    """Keeps groups, silences and the queue of notifications. Every method may raise `Retriable`."""

    def groups(self) -> list[AlertGroup]:
        """The groups that are not over."""

    def backlog(self) -> set[tuple[str, str]]:
        """Receiver and key of each group with a notification that waits to be sent."""

    def silences(self, now: datetime) -> list[Silence]:
        """The silences that have not ended."""

    def enqueue(self, group: AlertGroup, notification: Notification, *, over: bool) -> None:
        """Writes the notification and the updated group, or the end of the group, in one transaction.

        Raises:
            Retriable: another replica has changed the stored group.
        """

    def waiting(self) -> list[str]:
        """The receivers with notifications that wait for delivery, in order."""

    def delivering(self, receiver: str) -> AbstractContextManager[bool]:
        """Holds the delivery lock of `receiver`; yields False when another replica holds it."""

    def due(self, now: datetime, receiver: str) -> list[Notification]:
        """The notifications to send to `receiver` now, only the first of each group.

        One that would wait longer than `LONGEST_WAIT` is due: the clock was set back since it failed. While the first
        one waits for its `retry_at`, the later ones of the group wait behind it; one that was given up makes way. They
        come in the order in which they became due, so that one that keeps failing goes behind the others. Each has its
        `id`, `attempts` and `in_doubt`, and as `previous` the newest receipt of its episode and receiver.
        """

    def copy_to_fallback(self, receiver: str, fallback: str, *, made_before: datetime | None = None) -> None:
        """Queues a copy for `fallback` of notifications that wait for `receiver`, once each, in order.

        Copied are notifications of episodes for which `fallback` already got a copy, so that it hears the end too, and
        those made before `made_before`. Copies, and repetitions that page nobody, are never copied.
        """

    def mark_attempt(self, notification: Notification) -> None:
        """Notes before sending that the notification may have arrived."""

    def delivered(self, notification: Notification, receipt: Mapping[str, Json] | None, now: datetime) -> None:
        """Marks the notification as sent and keeps the receiver's receipt."""

    def failed(
        self,
        notification: Notification,
        error: str,
        retry_at: datetime | None,
        *,
        instead: Notification | None = None,
        attempted: bool = True,
    ) -> None:
        """Keeps the error, and counts an attempt if `attempted`; with `retry_at` None the notification is given up.

        `instead` is queued in the same transaction, unless its episode, receiver and number are already there.
        """

    def purge(self, *, before: datetime, resent_before: datetime, limit: int) -> int:
        """Removes up to `limit` rows that nobody needs any more; returns how many.

        Those are notifications of episodes that are over, delivered, or made and given up, before `before`; and those
        delivered before `resent_before` that paged nobody and left no receipt: repetitions for receivers that forget.
        """


class Responses(Protocol):
    """Keeps what people do about alerts, with who did it and when. Every method may raise `Retriable`."""

    def active_alerts(self, episode: str) -> tuple[Mapping[str, str], list[Alert]]:
        """The labels of the group that has this episode, and its active alerts; both empty if the episode is over."""

    def acknowledge(self, alerts: Sequence[Alert], *, by: str, now: datetime, comment: str = "") -> int:
        """Marks the alerts that are not acknowledged yet; returns how many."""

    def silence(self, silence: Silence, *, now: datetime) -> None: ...

    def unsilence(self, silence_id: str, *, by: str, now: datetime) -> bool:
        """Ends the silence; returns False if there is none that has not ended."""


class Receiver(Protocol):
    """Sends one notification once; `notify/deliver.py` owns the retries."""

    resend: ClassVar[timedelta | None] = None  # how often to repeat what still fires, for a receiver that forgets

    def send(self, notification: Notification) -> Mapping[str, Json] | None:
        """Delivers once. Returns a receipt, which later notifications of the episode carry as `previous`, or None.

        Raises:
            Retriable: a later attempt may succeed, after `retry_after` seconds if the service says so.
            Fatal: no attempt will ever succeed (revoked token, unknown channel); the message says what to change.
        """

    def check(self) -> str:
        """Tests as much as possible without sending, and says in a few words where messages go.

        Raises:
            Retriable, Fatal: as `send` does.
        """


class Actions(Protocol):
    """What a person can do about an episode from its message. Methods may raise `Retriable`.

    `by` names the person as the service knows them (`slack:U123 (ada)`); the audit trail keeps it. Each method returns
    one plain line that says what it did, or why there was nothing to do.
    """

    def acknowledge(self, episode: str, *, by: str) -> str:
        """Stops the repetition of the episode: somebody works on it."""

    def silence(self, episode: str, length: timedelta, *, by: str) -> str:
        """Stops notifications of the episode's alerts for `length`."""
