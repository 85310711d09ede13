"""Where turns before a question are looked for, and that no event waits for the database."""

from __future__ import annotations

from contextlib import ExitStack
from threading import Event

import pytest

from monitor.app.wiring.conversation import PAUSE, StoredConversations, remembering
from monitor.assess.conversation.memory import RecentTurns
from monitor.assess.conversation.turn import turn_of
from monitor.core.errors import Retriable
from monitor.core.model import Unscored
from monitor.ingest.decode import Decoded
from tests.factories.answers import an_interaction, at


def said(number, **over):
    known = {
        "id": f"q-{number}",
        "conversation_id": "c",
        "occurred_at": at(number),
        "question": f"What is plan {number}?",
    }
    return an_interaction(**{**known, **over})


class Stored:
    """Stands for the store: `answer` gives what it finds, or raises."""

    def __init__(self, answer=lambda _: {}):
        self.answer = answer
        self.asked = []

    def before(self, wanted):
        self.asked.append(sorted(it.id for it in wanted.values()))
        return self.answer(wanted)

    def close(self):
        self.asked.append("closed")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def made():
    with ExitStack() as closing:

        def conversations(stored, patience=5.0):
            clock = Clock()
            recent = RecentTurns()
            return (
                StoredConversations(recent, lambda: stored, patience=patience, closing=closing, clock=clock),
                recent,
                clock,
            )

        yield conversations


def names(turns):
    return [one.id for one in turns]


def test_the_database_is_asked_only_for_what_the_process_does_not_remember(made):
    stored = Stored(lambda wanted: {i: [turn_of(said(1))] for i in wanted})
    conversations, recent, _ = made(stored)
    found = conversations.before([said(2), said(9, conversation_id="d")], [0])
    assert (names(found[0]), stored.asked) == (["q-1"], [["q-2"]])
    recent.remember([said(2)])
    assert (names(conversations.before([said(3)], [0])[0]), stored.asked) == (["q-2"], [["q-2"]])
    assert conversations.before([said(4)], []) == {}


def test_turns_that_another_process_has_seen_in_between_are_looked_up(made):
    stored = Stored(lambda wanted: {i: [turn_of(said(2, turn=2))] for i in wanted})
    conversations, recent, _ = made(stored)
    recent.remember([said(1, turn=1)])
    assert names(conversations.before([said(3, turn=3)], [0])[0]) == ["q-1", "q-2"]


def test_what_another_turn_leans_on_is_looked_up(made):
    stored = Stored(lambda wanted: {i: [turn_of(said(1))] for i in wanted})
    conversations, recent, _ = made(stored)
    recent.remember([said(2, question="And for seniors?")])
    assert names(conversations.before([said(3)], [0])[0]) == ["q-1", "q-2"]


def test_after_a_failure_it_is_left_alone_for_a_while_and_a_log_line_says_so(made, caplog):
    def fails(_):
        raise Retriable("database: gone")

    stored = Stored(fails)
    conversations, _, clock = made(stored)
    assert conversations.before([said(2)], [0]) == {0: ()}
    assert conversations.before([said(3, conversation_id="d")], [0]) == {0: ()}
    assert len(stored.asked) == 1
    assert [record.getMessage() for record in caplog.records] == [
        "earlier turns: database: gone; for 5 s, follow-up questions are read as they stand"
    ]
    clock.now = PAUSE
    conversations.before([said(4, conversation_id="e")], [0])
    assert len(stored.asked) == 2


def test_no_event_waits_for_a_database_that_hangs(made, caplog):
    answer = Event()
    stored = Stored(lambda wanted: answer.wait() and {i: [turn_of(said(1))] for i in wanted})
    conversations, _, clock = made(stored, patience=0.01)
    conversations._store = stored
    assert conversations.before([said(2)], [0]) == {0: ()}
    clock.now = PAUSE
    assert conversations.before([said(3, conversation_id="d")], [0]) == {0: ()}  # the first call still hangs
    assert len(stored.asked) == 1
    assert "did not answer within 10 ms" in caplog.text
    answer.set()
    conversations._running.result()
    assert names(conversations.before([said(4, conversation_id="e")], [0])[0]) == ["q-1"]


def test_a_look_up_that_outlasts_the_process_closes_what_it_opened():
    answer, closed = Event(), Event()
    stored = Stored(lambda _: answer.wait() and {})
    stored.close = closed.set
    with ExitStack() as closing:
        hasty = StoredConversations(RecentTurns(), lambda: stored, patience=0.01, closing=closing)
        hasty._store = stored
        hasty.before([said(2)], [0])
    assert not closed.is_set()
    answer.set()
    closed.wait()


def test_turns_that_cannot_be_scored_are_remembered_as_they_are_decoded():
    failed = said(1, unscored=Unscored.CALL_FAILED)
    decoded = Decoded([failed, said(2, unscored=Unscored.NO_RETRIEVAL, question="  "), said(3)], [], [])
    recent = RecentTurns()
    assert remembering(lambda _: decoded, recent)([]) is decoded
    assert names(recent.before([said(4)], [0])[0]) == ["q-1"]
