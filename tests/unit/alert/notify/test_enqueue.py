from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.notification import Description, Notification
from monitor.alert.notify.deliver import deliver
from monitor.alert.notify.enqueue import dispatch
from monitor.alert.rule import Grouping
from monitor.alert.silence import silencing
from monitor.alert.state import Alert, State
from monitor.core.errors import Fatal, Retriable
from monitor.simulate.fakes.outbox import MemoryOutbox, MemoryReceiver
from tests.factories.alert.alerts import a_rule_set, a_silence, an_alert
from tests.factories.alert.notifications import an_example, at

WAIT, INTERVAL, REPEAT = timedelta(seconds=30), timedelta(minutes=1), timedelta(minutes=5)
RULES = a_rule_set(grouping=Grouping(by=("app",), wait=WAIT, interval=INTERVAL, repeat=REPEAT))
SAID = Description(changes=("Topic refunds: 40 % of answers are negative, 4 % elsewhere.",), examples=(an_example(),))


def described(_told, _now):
    return SAID


def tell(outbox, now: datetime, *alerts: Alert, describe=described, link=lambda _: None, **more) -> list[Notification]:
    return dispatch(RULES, alerts, outbox, now, describe=describe, link=link, **more)


@pytest.fixture
def outbox() -> MemoryOutbox:
    return MemoryOutbox()


def test_notifications_are_numbered_described_and_linked(outbox):
    (first,) = tell(outbox, at(1), an_alert(), link=lambda alert: f"https://monitor.example/alerts/{alert.fingerprint}")
    assert (first.number, first.news, first.group_labels, first.at) == (0, "firing", {"app": "shop"}, at(1))
    assert (first.changes, first.examples) == (SAID.changes, SAID.examples)
    assert first.url == "https://monitor.example/alerts/" + "f" * 32
    assert [row.notification for row in outbox.rows] == [replace(first, id=1)]


def test_nothing_is_sent_twice(outbox):
    assert len(tell(outbox, at(1), an_alert())) == 1
    assert tell(outbox, at(1), an_alert()) == []
    assert len(outbox.rows) == 1


class Refusing(MemoryOutbox):
    """Cannot store what is about the app named bank."""

    def enqueue(self, group, notification, *, over):
        if group.labels == {"app": "bank"}:
            raise Fatal("database: invalid input syntax for type json")
        super().enqueue(group, notification, over=over)


def test_a_notification_that_cannot_be_stored_holds_up_no_other(caplog):
    bank = an_alert(fingerprint="b" * 32, labels={"app": "bank"}, severity="critical")
    shop = an_alert(severity="warning")
    outbox = Refusing()
    assert [made.group_labels for made in tell(outbox, at(1), bank, shop)] == [{"app": "shop"}]
    assert "of alert 'negative-rate' for memory cannot be stored; the next round tries again" in caplog.text
    assert tell(outbox, at(1.2), bank, shop) == []


def test_the_description_stays_with_the_episode_until_it_is_repeated(outbox):
    asked = []

    def describe(alert, now):
        asked.append((alert.episode, now))
        return Description(changes=(f"Change {len(asked)}.",))

    tell(outbox, at(1), an_alert(), describe=describe)
    tell(outbox, at(2), an_alert(acknowledged_by="ada"), describe=describe)
    other = an_alert(fingerprint="b" * 32, episode="e2", severity="info")
    tell(outbox, at(4), an_alert(acknowledged_by="ada"), other, describe=describe)
    tell(outbox, at(9), an_alert(acknowledged_by="ada"), other, describe=describe)
    assert [(row.notification.news, row.notification.changes[0]) for row in outbox.rows] == [
        ("firing", "Change 1."),
        ("acknowledged", "Change 1."),
        ("changed", "Change 2."),
        ("repeated", "Change 3."),
    ]


def test_receivers_of_the_same_alert_share_what_was_found_out(outbox):
    asked = []

    def describe(alert, _now):
        asked.append(alert.episode)
        return SAID

    tell(outbox, at(1), an_alert(receivers=("slack", "pager")), describe=describe)
    assert asked == ["e1"]
    assert [row.notification.changes for row in outbox.rows] == [SAID.changes] * 2


def test_a_page_goes_out_though_what_changed_cannot_be_found_out(outbox, caplog):
    def describe(_told, _now):
        raise Retriable("this takes too long")

    (notification,) = tell(outbox, at(1), an_alert(), describe=describe)
    assert (notification.changes, notification.examples) == ((), ())
    assert "negative-rate" in caplog.text


def test_silences_of_the_store_hold(outbox):
    outbox.silenced.append(a_silence(end=5))
    assert tell(outbox, at(1), an_alert()) == []
    assert len(tell(outbox, at(5), an_alert())) == 1


# --- random histories ---


class Killed(BaseException):
    """The process is gone."""


class DyingOutbox(MemoryOutbox):
    """One that is killed before (`dies` counted down to 0) or after (to 1) a write of the round."""

    dies: int | None = None

    def enqueue(self, *args, **more) -> None:
        self._step()
        super().enqueue(*args, **more)
        self._step()

    def mark_attempt(self, notification) -> None:
        self._step()
        super().mark_attempt(notification)

    def delivered(self, *args) -> None:
        self._step()  # it was sent, and this is not noted
        super().delivered(*args)

    def _step(self) -> None:
        if self.dies is not None:
            self.dies -= 1
            if self.dies < 0:
                raise Killed


MOVES = {
    State.INACTIVE: (State.PENDING, State.FIRING),
    State.PENDING: (State.INACTIVE, State.FIRING),
    State.FIRING: (State.NO_DATA, State.RESOLVED),
    State.NO_DATA: (State.FIRING, State.RESOLVED),
    State.RESOLVED: (State.PENDING, State.FIRING),
}
NAMES = {"a": ("shop", ("slack", "pager")), "b": ("shop", ("slack",)), "c": ("bank", ("pager",))}


class World:
    """Alerts that come and go, people who silence and acknowledge, and a process that is killed now and then."""

    def __init__(self) -> None:
        self.alerts: dict[str, Alert] = {}
        self.outbox = DyingOutbox()
        self.receivers = {"slack": MemoryReceiver(), "pager": MemoryReceiver()}
        self.now = at(0)
        self.loud_since: dict[str, datetime] = {}
        self.acted_at = at(0)
        self.survived = 0  # rounds in a row
        self.episodes = 0

    def step(self, dice: Random) -> None:
        name = dice.choice("abc")
        match dice.choices(("move", "acknowledge", "silence", "round"), (8, 1, 1, 10))[0]:
            case "move":
                receivers = ("pager",) if dice.random() < 0.1 else NAMES[name][1]
                self.move(name, dice.randrange(2), receivers)
            case "acknowledge":
                self.acknowledge(name)
            case "silence":
                self.silence(name, timedelta(minutes=dice.randrange(1, 10)))
            case _:
                for _ in range(dice.choice((1, 1, 2, 4, 25))):
                    self.now += timedelta(seconds=15)
                    self.round(dice.choice((None, None, None, *range(6))))

    def move(self, name: str, way: int, receivers: Sequence[str]) -> None:
        app, _ = NAMES[name]
        before = self.alerts.get(name)
        state = before.state if before else State.INACTIVE
        after = MOVES[state][way]
        if before is None or state in (State.INACTIVE, State.RESOLVED):
            self.episodes += 1
            before = an_alert(
                fingerprint=name * 32,
                episode=f"{name}{self.episodes}",
                rule=name,
                labels={"app": app},
                receivers=(),
                active_since=self.now,
                fired_at=None,
            )
        if after is State.FIRING and before.fired_at is None:
            before = replace(before, fired_at=self.now, receivers=tuple(receivers))
        self.loud_since.pop(name, None)
        self.alerts[name] = replace(before, state=after, resolved_at=self.now if after is State.RESOLVED else None)

    def acknowledge(self, name: str) -> None:
        alert = self.alerts.get(name)
        if alert and alert.state.active and alert.acknowledged_by is None:
            self.alerts[name] = replace(alert, acknowledged_by="ada", acknowledged_at=self.now)
            self.acted_at = self.now

    def silence(self, name: str, length: timedelta) -> None:
        made = replace(a_silence(f'rule="{name}"'), starts_at=self.now, ends_at=self.now + length)
        self.outbox.silenced.append(made)

    def round(self, dies: int | None = None) -> None:
        self.outbox.dies = dies
        stored = [alert for alert in self.alerts.values() if alert.state is not State.INACTIVE]
        rounds, self.survived = self.survived, 0
        with suppress(Killed):
            tell(self.outbox, self.now, *stored, describe=lambda *_: Description())
            deliver(self.outbox, self.receivers, self.now, random=Random(7))
            self.survived = rounds + 1
        self.outbox.dies = None
        self._look()

    def _look(self) -> None:
        for name, alert in self.alerts.items():
            quiet = silencing(self.outbox.silenced, alert.matched, self.now) is not None
            if quiet:
                self.acted_at = self.now
            if quiet or not alert.state.active:
                self.loud_since.pop(name, None)
                continue
            since = max(self.loud_since.setdefault(name, self.now), self.acted_at)
            # an acknowledgement and a silence are sent first, in a round each
            if self.survived >= 3 and self.now - since >= WAIT + INTERVAL:
                for receiver in alert.receivers:
                    statuses = [
                        t for r in self.notifications(receiver) for t in r.alerts if t.fingerprint == alert.fingerprint
                    ]
                    assert statuses[-1].status == alert.state.value

    def notifications(self, receiver: str) -> list[Notification]:
        return [row.notification for row in self.outbox.rows if row.notification.receiver == receiver]


@given(st.integers(0, 2**32))
def test_whatever_happens_everybody_hears_the_whole_story_once(seed):
    world, dice = World(), Random(seed)
    for _ in range(150):
        world.step(dice)
    for name, alert in list(world.alerts.items()):
        if alert.state.active:
            world.alerts[name] = replace(alert, state=State.RESOLVED, resolved_at=world.now)
    for _ in range(30):
        world.now += INTERVAL
        world.round()

    assert world.outbox.groups() == []
    assert all(row.delivered_at for row in world.outbox.rows)
    for receiver, its in world.receivers.items():
        queued = world.notifications(receiver)
        for episode in {n.episode for n in queued}:
            assert_whole([n for n in queued if n.episode == episode])
        sent = [(n.episode, n.number) for n in its.sent]
        assert set(sent) == {(n.episode, n.number) for n in queued}
        again = [n for index, n in enumerate(its.sent) if (n.episode, n.number) in sent[:index]]
        assert all(n.in_doubt for n in again)  # only after a death between sending and noting it


def assert_whole(story: Sequence[Notification]) -> None:
    assert [sent.number for sent in story] == list(range(len(story)))
    assert (story[0].news, story[-1].news) == ("firing", "resolved")
    assert [sent.over for sent in story] == [sent.news == "resolved" for sent in story]
    assert [sent.at for sent in story] == sorted(sent.at for sent in story)
