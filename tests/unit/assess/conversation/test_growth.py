"""The work for a batch grows with its turns, however they share conversations, and not with what came before."""

from __future__ import annotations

import pytest

from monitor.assess.conversation.leaning import LONGEST, cue_of, names_something
from monitor.assess.conversation.memory import KEPT, RecentTurns
from monitor.assess.conversation.read import standalone_questions
from tests.factories.answers import an_interaction, at
from tests.rig.assess.shapes import SHAPES
from tests.rig.assess.timing import seconds

SMALL, TIMES = 1_000, 4
MOST = 10.0  # times the processor time: 4 are linear, 16 quadratic


def turns(count, **over):
    return [
        an_interaction(
            **{"id": f"q-{n}", "conversation_id": "c", "question": "And how long?", "occurred_at": at(n), **over}
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("question", ["And how long?", "What does the premium plan cost?"])
def test_one_long_conversation_in_a_batch(question):
    small, large = turns(SMALL, question=question), turns(TIMES * SMALL, question=question)
    least = min(seconds(lambda: standalone_questions(small, RecentTurns())) for _ in range(3))
    assert seconds(lambda: standalone_questions(large, RecentTurns())) < MOST * least


def test_no_more_is_remembered_of_a_long_conversation_than_of_a_short_one():
    recent = RecentTurns()
    for batch in range(4):
        recent.remember(an_interaction(id=f"q-{batch}-{n}", conversation_id="c") for n in range(SMALL))
    known = recent.remember([an_interaction(id="now", conversation_id="c")])
    assert len(known["support-bot", "c"]) == KEPT + 1


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_question_is_read_in_bounded_time(shape):
    """Half a millisecond is what the longest question of a user takes; no shape takes a hundred times that."""
    for size in (LONGEST, 100 * LONGEST):
        text = SHAPES[shape](size)
        assert seconds(lambda text=text: (cue_of(text), names_something(text))) < 0.05
