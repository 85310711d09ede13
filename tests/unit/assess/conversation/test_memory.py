from __future__ import annotations

from monitor.assess.conversation import memory
from monitor.assess.conversation.memory import KEPT, RecentTurns
from monitor.assess.conversation.turn import MOST_TURNS
from tests.factories.answers import an_interaction, at


def said(number, **over):
    known = {"id": f"q-{number}", "conversation_id": "c", "occurred_at": at(number), "question": f"Question {number}?"}
    return an_interaction(**{**known, **over})


def names(turns):
    return [one.id for one in turns]


def test_turns_of_the_batch_come_first_and_later_ones_never():
    batch = [said(3), said(1), said(2), said(4)]
    found = RecentTurns().before(batch, [0, 1])
    assert (names(found[0]), names(found[1])) == (["q-1", "q-2"], [])


def test_then_those_of_batches_before_of_the_same_app_and_conversation():
    recent = RecentTurns()
    recent.remember([said(1), said(2, app="other-bot"), said(3, conversation_id="d"), said(4, conversation_id=None)])
    assert names(recent.before([said(5)], [0])[0]) == ["q-1"]
    assert recent.before([said(6, conversation_id=None)], [0]) == {}


def test_a_batch_that_is_assessed_again_changes_nothing():
    recent, batch = RecentTurns(), [said(1), said(2)]
    assert recent.before(batch, [1]) == recent.before(batch, [1])


def test_it_forgets_old_turns_and_the_conversations_heard_of_longest_ago(monkeypatch):
    monkeypatch.setattr(memory, "MOST_CONVERSATIONS", 2)
    recent = RecentTurns()
    recent.remember(said(n) for n in range(50))
    assert len(recent.remember([said(50)])["support-bot", "c"]) == KEPT + 1
    assert names(recent.before([said(99)], [0])[0]) == [f"q-{n}" for n in range(51 - MOST_TURNS, 51)]
    recent.remember([said(1, conversation_id="d"), said(1, conversation_id="e")])
    assert recent.before([said(100)], [0])[0] == ()
