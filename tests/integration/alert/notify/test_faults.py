"""Alerting that is killed, doubled or cut off at any step: nothing is lost, and nothing is sent twice.

One episode lives through all its news (`LIFE`) on a real PostgreSQL and a scripted Slack.
"""

from __future__ import annotations

import signal
from datetime import timedelta

import psycopg
import pytest

from monitor.alert.notify.deliver import Patience
from monitor.core.errors import Retriable
from monitor.store.database import connect
from monitor.store.migrate import migrate
from tests.conftest import embedded
from tests.rig.alert.channel import Channel, answers
from tests.rig.alert.rounds import LIFE, Processes, acknowledge, alert_loop, at, play_round, slack_bot
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.waiting import until
from tests.servers.slack import BROKEN, HANG_UP, RATE_LIMITED, SENT_BUT_LOST, TOKEN, Trouble, shown, slack_server

SOON = 0.25  # minutes until the next round


@pytest.fixture
def channel(database, rows):
    answers(database)
    with slack_server() as slack:
        yield Channel(slack, rows)


@pytest.fixture
def processes(database, channel):
    processes = Processes(database, channel.slack.url)
    yield processes
    processes.close()


def rounds(*news):
    return [(name, LIFE[name]) for name in LIFE if name in news]


def life_with(news, processes, channel):
    """The steps of the round that brings `news` when nobody is killed, and what is seen in the end."""
    steps, code = processes.run(rounds("firing", news, "resolved"))
    assert code == 0
    roots, lines, told, _ = seen = channel.seen()
    assert (roots, lines) == (1, [number for number, _ in told[1:]])
    assert {name for _, name in told} == {"firing", news, "resolved"}
    return [step for step in steps if step.startswith(f"{news}: ")], seen


def life_killed(news, step, processes, channel, *, without=""):
    """The same when a process is killed at `step` and another one goes on; `without` a scope of Slack's."""
    channel.clear()
    channel.slack.scopes[TOKEN].discard(without)
    steps, code = processes.run(rounds("firing", news), die=step)
    assert (steps[-1], code) == (step, -signal.SIGKILL)
    channel.read_all(steps)
    until("its sessions are gone", lambda: channel.backends() == 0)
    again = [(news, LIFE[news] + SOON), (news, LIFE[news] + 2 * SOON)]
    more, code = processes.run(again + rounds(*{"resolved"} - {news}))
    assert code == 0
    channel.read_all(steps + more)
    return channel.seen()


@pytest.mark.parametrize("news", LIFE)
def test_a_process_killed_at_any_step_loses_nothing_and_sends_nothing_twice(news, processes, channel):
    steps, undisturbed = life_with(news, processes, channel)
    kinds = ("evaluating", "save", "enqueue", "delivering", "mark_attempt", "sent chat", "answered chat", "deliv")
    assert all(any(f": {kind}" in step for step in steps) for kind in kinds), steps
    if news != "firing":  # a chart is uploaded the same way every time
        steps = [step for step in steps if "sent files" not in step and "sent upload" not in step]
    for step in steps:
        assert (step, life_killed(news, step, processes, channel)) == (step, undisturbed)


@pytest.mark.parametrize("news", ["firing", "changed"])
def test_without_the_history_scope_only_unmarked_notifications_are_sent_twice(news, processes, channel):
    steps, undisturbed = life_with(news, processes, channel)
    in_doubt = steps[steps.index(f"{news}: sent chat.postMessage 1") : steps.index(f"{news}: delivered 1")]
    roots, lines, *stored = undisturbed
    twice = []
    for step in steps[steps.index(f"{news}: enqueue 1") :]:
        found = life_killed(news, step, processes, channel, without="channels:history")
        assert [*found[2:]] == stored, step
        if found != undisturbed:
            twice.append(step)
            again = (roots + 1, lines) if news == "firing" else (roots, [1, *lines])
            assert found[:2] == again, step
    assert twice == in_doubt


def test_a_whole_episode_is_sent_from_start_to_end(processes, channel):
    assert processes.run(rounds(*LIFE))[1] == 0
    channel.check()


def test_two_replicas_at_once_tell_everything_once(database, processes, channel):
    other = Processes(database, channel.slack.url)
    try:
        for news, minutes in LIFE.items():
            for moment in (minutes, minutes + SOON):
                for one in (processes, other):
                    one.start([(news, moment)] * 3)
                assert [one.ended()[1] for one in (processes, other)] == [0, 0]
    finally:
        other.close()
    channel.check()


def test_a_replica_that_is_killed_leaves_its_locks_to_the_other(database, processes, channel):
    other = Processes(database, channel.slack.url)
    try:
        for news, lock in (("firing", "evaluating"), ("changed", "delivering")):
            die = f"{news}: {lock}: True 1"
            assert processes.run([(news, LIFE[news])], die=die)[1] == -signal.SIGKILL
            until("its sessions are gone", lambda: channel.backends() == 0)
            steps, _ = other.run([(news, LIFE[news] + SOON)])
            assert die in steps
        other.run(rounds(*LIFE)[2:])
    finally:
        other.close()
    channel.check()


@pytest.fixture
def loop(engine, channel):
    """One in this process."""
    return alert_loop(engine, {"slack": slack_bot(channel.slack.url)})


def live(loop, engine, *rounds):
    for news, minutes in rounds or LIFE.items():
        play_round(loop, engine, news, minutes)


def test_slack_gets_everything_in_order_after_hours_of_downtime(loop, engine, channel):
    for trouble in (HANG_UP, BROKEN, RATE_LIMITED, Trouble(error="internal_error")):
        channel.slack.script.append(trouble)
        live(loop, engine, ("firing", len(channel.slack.script)))
    live(loop, engine, ("changed", 5), ("repeated", 246), ("acknowledged", 247), ("resolved", 270))
    for minute in range(271, 300, 10):
        live(loop, engine, ("resolved", minute))
    channel.check()


def test_an_answer_of_slack_that_was_lost_is_looked_up(loop, engine, channel):
    for news, minutes in LIFE.items():
        channel.slack.script_of["chat.postMessage"] = [SENT_BUT_LOST]
        live(loop, engine, (news, minutes), (news, minutes + SOON), (news, minutes + 2 * SOON))
    assert not any(channel.slack.script_of.values())
    channel.check()


class Interrupting:
    """A receiver before whose answer the database ends every session."""

    resend = None

    def __init__(self, inner, rows):
        self._inner = inner
        self._rows = rows
        self.armed = True

    def send(self, notification):
        receipt = self._inner.send(notification)
        if self.armed:
            self._rows(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        self.armed = not self.armed
        return receipt


def test_a_database_that_is_lost_between_the_answer_and_its_mark_makes_no_second_message(engine, channel, rows):
    loop = alert_loop(engine, {"slack": Interrupting(slack_bot(channel.slack.url), rows)})
    for news, minutes in LIFE.items():
        live(loop, engine, *((news, minutes + number * SOON) for number in range(3)))
    channel.check()


def test_a_database_that_is_restarted_in_between_loses_nothing(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("restarted"))
    with slack_server() as slack:
        with embedded(folder) as url:
            engine = connect(url, queue_key=lambda: QUEUE_KEY)
            migrate(engine)
            answers(url)
            loop = alert_loop(engine, {"slack": slack_bot(slack.url)})
            loop.evaluate(at(0))
        with pytest.raises(Retriable):
            loop.deliver(at(0))
        with pytest.raises(Retriable):
            loop.evaluate(at(0))
        with embedded(folder) as again, psycopg.connect(again) as connection:
            assert again == url
            live(loop, engine, *((news, minutes + SOON) for news, minutes in LIFE.items()))
            Channel(slack, lambda query: connection.execute(query).fetchall()).check()
            engine.dispose()


class Spare:
    """A receiver that keeps what it is told, after `refusals` of its own."""

    resend = None

    def __init__(self, *refusals):
        self.told = []
        self._refusals = list(refusals)

    def send(self, notification):
        if self._refusals:
            raise self._refusals.pop(0)
        self.told.append(notification)


def test_a_receiver_that_is_given_up_is_lost_once_and_the_fallback_takes_over(engine, channel, rows):
    channel.slack.script_of["chat.postMessage"] = [Trouble(error="channel_not_found")]
    spare = Spare(Retriable("not yet"))
    receivers = {"slack": slack_bot(channel.slack.url), "spare": spare}
    loop = alert_loop(engine, receivers, patience=Patience(fallback="spare"), told=("slack",))
    live(loop, engine, ("firing", 0), ("firing", 1), ("firing", 2))
    (told,) = spare.told
    assert (told.news, told.number) == ("firing", 0)
    assert "channel_not_found" in told.instead_of
    assert rows("SELECT receiver, given_up, attempts FROM notification ORDER BY id") == [
        ("slack", True, 1),
        ("spare", False, 1),
    ]
    # what is given up does not hold up what comes after: Slack, mended, is told of the rest in a new root message
    live(loop, engine, *((news, minutes) for news, minutes in LIFE.items() if news != "firing"))
    assert len(channel.roots) == 1
    assert channel.lines == [2, 3, 4]
    assert [told.number for told in spare.told] == [0, 1, 2, 3, 4]  # whoever stood in hears the end too


def test_the_fallback_reports_an_unreachable_receiver_once(engine, database, rows):
    answers(database)
    spare, lost = Spare(), Spare(*[Retriable("out of reach")] * 100)
    patience = Patience(fallback="spare", fallback_after=timedelta(minutes=2), deadline=timedelta(minutes=10))
    loop = alert_loop(engine, {"lost": lost, "spare": spare}, patience=patience, told=("lost",))
    for half in range(40):
        live(loop, engine, ("firing", half / 2))
    assert [(told.news, told.number) for told in spare.told] == [("firing", 0), ("changed", 1)]
    assert rows("SELECT receiver, number, given_up FROM notification WHERE number = 0 ORDER BY id") == [
        ("lost", 0, True),
        ("spare", 0, False),
    ]
    assert lost.told == []


def test_an_action_between_reading_and_saving_is_kept_and_sent(engine, channel, loop, monkeypatch):
    live(loop, engine, ("firing", 0))
    save = loop.store.save

    def after_a_click(done):
        acknowledge(engine, 1)
        save(done)

    monkeypatch.setattr(loop.store, "save", after_a_click)
    live(loop, engine, ("changed", 1))
    assert {alert.acknowledged_by for alert in loop.store.alerts()} == {"ada"}
    (root,) = channel.roots
    assert "ada" in shown(root.payload)
    assert channel.lines == [1]
