"""How the parts of an answer make it a refusal."""

from __future__ import annotations

import pytest

from monitor.assess.classify.refusal import LONGEST, Role, read_answer, refusal_kind
from monitor.core.model import RefusalKind


@pytest.mark.parametrize("answer", ["", " ", "\n\n", "...", "?", "42", "\u200b", "\ud800"])
def test_an_answer_without_words_is_no_refusal_by_wording(answer):
    assert refusal_kind(answer) is RefusalKind.NONE


@pytest.mark.parametrize(
    "answer",
    [
        "I’m sorry, but I can’t help with that.",
        "I'M SORRY, BUT I CAN'T HELP WITH THAT.",
        "  I'm sorry,   but I can't help with that.  \n",
        "**I'm sorry, but I can't help with that.**",
        "> I'm sorry, but I can't help with that.",
        "I'm sorry, but I can't help with that!!!",
    ],
)
def test_typography_makes_no_difference(answer):
    assert refusal_kind(answer) is RefusalKind.FULL


def test_courtesy_and_talk_about_the_documents_do_not_dilute_a_refusal():
    assert (
        refusal_kind(
            "Thank you for your question! I'm sorry, but I could not find this in the documents. The documents only "
            "discuss opening hours. Please contact our support team, who will be happy to help you further. Is there "
            "anything else I can help you with today?"
        )
        is RefusalKind.FULL
    )


def test_an_opening_refusal_becomes_partial_with_the_content_that_follows():
    opening = "The documents do not mention the price of the junior ticket."
    content = " The adult ticket costs 12 euros and is valid for two hours in all zones of the network."
    kinds = [refusal_kind(opening + content * n) for n in range(4)]
    assert kinds[0] is RefusalKind.FULL
    assert kinds[-1] is RefusalKind.PARTIAL
    turn = kinds.index(RefusalKind.PARTIAL)
    assert set(kinds[turn:]) == {RefusalKind.PARTIAL}


def test_a_late_refusal_after_much_content_is_not_looked_for():
    content = "The ticket costs 12 euros in all zones. "
    assert refusal_kind(content * (LONGEST // len(content) + 1) + "I don't know.") is RefusalKind.NONE
    assert refusal_kind(content * 5 + "I don't know.") is RefusalKind.PARTIAL


def test_a_refusal_that_only_repeats_the_question_beside_it_is_full():
    question = "How do I reset the router in the cellar?"
    answer = "I don't know. To reset the router in the cellar."
    assert read_answer(answer, question).kind is RefusalKind.FULL
    echoes = answer + " Router in the cellar, reset. How to reset the router in the cellar." * 3
    assert read_answer(echoes, question).kind is RefusalKind.FULL
    assert read_answer(echoes).kind is RefusalKind.PARTIAL


def test_asides_on_other_topics_and_contacts_answer_nothing():
    answer = (
        "The guide does not name the size of the tank. It only describes the filler cap, the lid and the tool that "
        "opens it. You may contact the workshop that sold you the car and ask for the papers that came with it."
    )
    reading = read_answer(answer)
    assert reading.kind is RefusalKind.FULL
    assert [s.role for s in reading.sentences] == [Role.REFUSING, Role.CONTENT, Role.CONTENT]


@pytest.mark.parametrize(
    ("answer", "close", "kind"),
    [
        ("Not able to answer about the towing eye.", False, RefusalKind.NONE),
        ("Not able to answer about the towing eye.", True, RefusalKind.FULL),
        ("The towing eye is not behind the bumper.", True, RefusalKind.NONE),  # says something
        ("The towing eye: the answer.", True, RefusalKind.NONE),  # denies nothing
    ],
)
def test_closeness_decides_where_the_wording_leaves_it_open_and_nothing_else_is_said(answer, close, kind):
    assert read_answer(answer, "Where is the towing eye?", close=close).kind is kind


def test_a_quoted_refusal_is_not_the_answers_own():
    quoted = 'The notice reads "I cannot answer this question" in red letters on the display of the machine.'
    assert refusal_kind(quoted) is RefusalKind.NONE
    assert refusal_kind('"I cannot answer this question."') is RefusalKind.FULL


def test_offsets_are_those_of_the_answer_whatever_folding_does():
    answer = "İİİ **İstanbul**: the ticket costs 5 liras. I don’t know the price of the ferry."
    refusing = [s for s in read_answer(answer).sentences if s.role is Role.REFUSING]
    assert [answer[s.start : s.end] for s in refusing] == ["I don’t know the price of the ferry."]


def test_an_answer_of_more_content_than_a_refusal_bears_refuses_in_part_however_much_of_it_refuses():
    refusal = "The documents do not mention the price of the junior ticket for the night train to the coast. "
    content = "The adult ticket costs twelve euros and is valid for two hours in all zones. " * 4
    assert refusal_kind(refusal * 4 + content) is RefusalKind.PARTIAL
    assert refusal_kind(refusal * 4 + content[: len(content) // 2]) is RefusalKind.FULL
