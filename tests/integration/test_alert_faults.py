"""Alerting that is killed, doubled or cut off at any step: nothing is lost, and nothing is told twice.

One episode lives through all its news (`LIFE`) on a real PostgreSQL and a scripted Slack.
"""

from __future__ import annotations

import signal
from datetime import timedelta

import psycopg
import pytest

from monitor.alert.notify import Patience
from monitor.errors import Fatal, Retriable
from monitor.model import Verdict
from monitor.store.database import connect, migrate
from monitor.store.writer import Writer
from tests.conftest import embedded
from tests.factories import a_batch, an_assessment, clock
from tests.integration.alert_rounds import LIFE, Processes, alert_loop, at, play_round, slack_bot
from tests.slack_server import BROKEN, HANG_UP, RATE_LIMITED, SENT_BUT_LOST, TOKEN, Trouble, shown, slack_server
from tests.waiting import until

SOON = 0.25  # minutes until the next round
TABLES = "alert, alert_event, alert_group, notification, rule_state, alert_memory, alert_explanation, alert_action"
TOLD = list(enumerate(LIFE))
EVENTS = [
    ("negative-rate", "inactive", "firing"),
    ("refusal-rate", "inactive", "firing"),
    ("negative-rate", "firing", "resolved"),
    ("refusal-rate", "firing", "resolved"),
]


def answers(database):
    """What makes each news of `LIFE` come about in its time."""
    wanted = [(10, -2, Verdict.SELF_GENERATED), (10, 2, Verdict.REFUSAL), (40, 268, Verdict.GROUNDED)]
    writer = Writer(database, clock)
    writer.write(
        a_batch(
            *(
                an_assessment(id=f"{verdict}-{number}", occurred_at=at(minutes), verdict=verdict)
                for count, minutes, verdict in wanted
                for number in range(count)
            )
        )
    )
    writer.close()


class Channel:
    """What stands in Slack and in the database after rounds of one episode."""

    def __init__(self, slack, rows):
        self.slack = slack
        self._rows = rows
        self.taken = 0
        self._answer, slack.answer = slack.answer, self._counted

    def _counted(self, *arguments):
        answer = self._answer(*arguments)
        self.taken += 1
        return answer

    def clear(self):
        self._rows(f"TRUNCATE {TABLES}")  # noqa: S608  our own names
        self.slack.reset()
        self.taken = 0

    def read_all(self, steps):
        """Waits until Slack has read what a process that is gone had sent."""
        sent = sum(": sent " in step for step in steps)
        until("Slack has read it all", lambda: self.taken == sent)

    @property
    def roots(self):
        return self.slack.roots()

    @property
    def lines(self):
        """The numbers of the notifications in the threads, in the order of the messages."""
        lines = [line for root in self.roots for line in self.slack.thread(root.ts)]
        return [line.payload["metadata"]["event_payload"]["number"] for line in lines]

    def check_outbox(self, told=None):
        delivered = self._rows(
            "SELECT number, news FROM notification WHERE delivered_at IS NOT NULL AND NOT given_up ORDER BY id"
        )
        assert delivered == (TOLD if told is None else told)
        assert self._rows("SELECT count(*) FROM notification") == [(len(delivered),)]
        assert len(self._rows("SELECT DISTINCT episode FROM notification")) == 1

    def check_alerts(self):
        events = self._rows(
            "SELECT rule, from_state, to_state FROM alert_event JOIN alert USING (fingerprint) ORDER BY alert_event.id"
        )
        assert events == EVENTS
        assert self._rows("SELECT DISTINCT acknowledged_by, alert.state FROM alert") == [("ada", "resolved")]
        assert self._rows("SELECT count(*), count(DISTINCT fingerprint) FROM alert_action") == [(2, 2)]
        assert self._rows("SELECT 1 FROM alert_group") == []

    def check(self):
        """All of it, as if nothing had happened."""
        self.check_outbox()
        self.check_alerts()
        (root,) = self.roots
        assert "Resolved" in shown(root.payload)
        assert self.lines == [1, 2, 3, 4]


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


def until_news(last):
    """The rounds of an episode up to the one that brings `last`."""
    news = list(LIFE)
    return [(name, LIFE[name]) for name in news[: news.index(last) + 1]]


def from_news(first):
    """The rounds of another process that goes on after one was killed in the round of `first`."""
    (again, minutes), *rest = list(LIFE.items())[list(LIFE).index(first) :]
    return [(again, minutes + SOON), (again, minutes + 2 * SOON), *rest]


def steps_of(news, processes, channel):
    """Every step of the round that brings `news`, when nobody is killed; and all is as it should be."""
    steps, code = processes.run(list(LIFE.items()))
    assert code == 0
    channel.check()
    return [step for step in steps if step.startswith(f"{news}: ")]


def killed(news, step, processes, channel):
    """A process is killed at `step`, and another one goes on."""
    channel.clear()
    steps, code = processes.run(until_news(news), die=step)
    assert (steps[-1], code) == (step, -signal.SIGKILL)
    channel.read_all(steps)
    more, code = processes.run(from_news(news))
    assert code == 0
    channel.read_all(steps + more)


@pytest.mark.parametrize("news", LIFE)
def test_a_process_killed_at_any_step_loses_nothing_and_nothing_is_told_twice(news, processes, channel):
    steps = steps_of(news, processes, channel)
    kinds = ("begin", "evaluating", "save", "tell", "delivering", "attempting", "sent chat", "answered chat", "delivered")
    assert all(any(f": {kind}" in step for step in steps) for kind in kinds), steps
    for step in steps:
        killed(news, step, processes, channel)
        try:
            channel.check()
        except AssertionError as error:
            raise AssertionError(f"killed at {step}") from error


@pytest.mark.parametrize("news", ["firing", "changed"])
def test_without_the_scope_to_look_it_up_only_what_was_sent_and_not_marked_is_told_twice(news, processes, channel):
    steps = steps_of(news, processes, channel)
    in_doubt = steps[steps.index(f"{news}: sent chat.postMessage 1") : steps.index(f"{news}: delivered 1")]
    scopes = channel.slack.scopes[TOKEN]
    twice = []
    for step in steps:
        killed(news, step, processes, channel, without="channels:history")
        channel.check_outbox()
        channel.check_alerts()
        if (len(channel.roots), channel.lines) != (1, [1, 2, 3, 4]):
            twice.append(step)
            again = (2, [1, 2, 3, 4]) if news == "firing" else (1, [1, 1, 2, 3, 4])
            assert (len(channel.roots), channel.lines) == again, step
    assert twice == in_doubt
    assert "channels:history" in scopes  # that the first life could look


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
        for die in ("firing: evaluating: True 1", "firing: delivering: True 1"):
            assert processes.run([("firing", 0)], die=die)[1] == -signal.SIGKILL
            until("its session is gone", lambda: channel.backends() == 0)
            steps, _ = other.run([("firing", SOON)])
            assert "firing: evaluating: True 1" in steps
            assert "firing: delivering: True 1" in steps
        other.run(from_news("changed"))
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


def test_slack_that_is_down_for_hours_is_told_everything_in_order_afterwards(loop, engine, channel):
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
            engine = connect(url)
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


def test_a_receiver_that_is_given_up_is_lost_once_and_the_fallback_is_told(engine, channel, rows):
    channel.slack.script_of["chat.postMessage"] = [Trouble(error="channel_not_found")]
    spare = Spare(Retriable("not yet"))
    receivers = {"slack": slack_bot(channel.slack.url), "spare": spare}
    loop = alert_loop(engine, receivers, patience=Patience(fallback="spare"), only=("slack",))
    live(loop, engine, ("firing", 0), ("firing", 1))
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
    assert len(spare.told) == 1


def test_a_receiver_that_is_out_of_reach_for_its_deadline_is_told_of_by_the_fallback_once(engine, channel, rows):
    spare, lost = Spare(), Spare(*[Retriable("out of reach")] * 100)
    patience = Patience(fallback="spare", fallback_after=timedelta(minutes=2), deadline=timedelta(minutes=10))
    loop = alert_loop(engine, {"lost": lost, "spare": spare}, patience=patience, only=("lost",))
    for half in range(40):
        live(loop, engine, ("firing", half / 2))
    assert [(told.news, told.number) for told in spare.told] == [("firing", 0), ("changed", 1)]
    assert rows("SELECT receiver, number, given_up FROM notification WHERE number = 0 ORDER BY id") == [
        ("lost", 0, True),
        ("spare", 0, False),
    ]
    assert lost.told == []


def test_what_people_do_while_a_round_runs_is_not_lost(engine, channel, loop):
    live(loop, engine, ("firing", 0))

    class Meanwhile:
        """Somebody acknowledges between the reading of the alerts and their saving."""

        def __init__(self, store):
            self._store = store

        def __getattr__(self, name):
            return getattr(self._store, name)

        def save(self, done):
            play_acknowledged(engine)
            self._store.save(done)

    loop_of_another = alert_loop(engine, {"slack": slack_bot(channel.slack.url)})
    object.__setattr__(loop_of_another, "store", Meanwhile(loop_of_another.store))
    live(loop_of_another, engine, ("changed", 1))
    alerts = loop.store.alerts()
    assert {alert.acknowledged_by for alert in alerts} == {"ada"}
    (root,) = channel.roots
    assert "ada" in shown(root.payload)
