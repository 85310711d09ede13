"""A follow-up in the pipeline: read with the turns before it, kept as it was asked."""

from __future__ import annotations

from dataclasses import replace

from monitor.assess.classify.profile import load_profile
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.conversation.memory import RecentTurns
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.pipeline import Pipeline
from tests.factories.assess.interactions import interaction

DOCUMENTS = ["The premium plan costs twelve dollars a month. Students pay half of that."]
ASKED = interaction("What does the premium plan cost?", "Twelve dollars.", DOCUMENTS, id="q-1", conversation_id="c")
FOLLOW_UP = interaction("And for seniors?", "Twelve dollars.", DOCUMENTS, id="q-2", conversation_id="c", turn=2)
FIRST = replace(ASKED, turn=1)


def assess(*interactions, conversations=None):
    pipeline = Pipeline(
        completer=ExtractiveCompleter(),
        encoder=HashEmbedder(),
        embedder=HashEmbedder(),
        profile=load_profile("hash", "hash/64", "hash/64"),
        conversations=conversations,
    )
    return pipeline.assess(interactions)


def test_a_follow_up_is_compared_as_it_was_completed_and_kept_as_it_was_asked():
    first, after = assess(FIRST, FOLLOW_UP, conversations=RecentTurns())
    (alone,) = assess(FOLLOW_UP)
    (whole,) = assess(replace(FOLLOW_UP, question="What does the premium plan cost? And for seniors?"))
    assert (first.standalone, after.interaction) == (None, FOLLOW_UP)
    assert after.standalone.text == "What does the premium plan cost? And for seniors?"
    assert (after.metrics, after.evidence, after.verdict) == (whole.metrics, whole.evidence, whole.verdict)
    read = after.standalone
    assert (read.sdq, read.qrd, read.qa) == (alone.metrics.sdq, alone.metrics.qrd, alone.metrics.qa)
    assert after.metrics.qrd > read.qrd


def test_a_standing_question_is_the_same_with_and_without_its_conversation():
    standing = replace(FOLLOW_UP, question="How long is the premium plan free for students?")
    assert assess(FIRST, standing, conversations=RecentTurns())[1] == assess(standing)[0]


def test_an_interaction_without_a_conversation_is_read_as_it_stands():
    lone = replace(FOLLOW_UP, conversation_id=None)
    assert assess(FIRST, lone, conversations=RecentTurns())[1].standalone is None


def test_a_first_turn_that_leans_is_read_as_it_stands():
    assert assess(FOLLOW_UP, conversations=RecentTurns())[0].standalone is None
