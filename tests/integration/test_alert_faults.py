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
