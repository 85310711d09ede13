"""Courtesies and hedges in nine languages, and content that opens like one."""

from __future__ import annotations

import pytest

from monitor.assess.classify.refusal import Role, read_answer
from monitor.core.model import RefusalKind
from tests.factories.assess.refusal_wordings import CONTENT, COURTESY, HEDGE


def flat(by_language):
    return [
        pytest.param(text, id=f"{language}-{n}") for language, ts in by_language.items() for n, text in enumerate(ts)
    ]


def roles(answer):
    return [s.role for s in read_answer(answer).sentences]


@pytest.mark.parametrize("text", flat(COURTESY))
def test_a_courtesy_is_told(text):
    assert roles(text) == [Role.COURTESY]


@pytest.mark.parametrize("text", flat(HEDGE))
def test_a_hedge_is_told(text):
    assert roles(text) == [Role.HEDGE]


@pytest.mark.parametrize("text", flat(CONTENT))
def test_content_that_opens_politely_stays_content(text):
    *heads, last = roles(text)
    assert last is Role.CONTENT
    assert set(heads) <= {Role.CONTENT, Role.COURTESY, Role.HEDGE}  # "Here is a summary: …" has a head of its own


def test_an_answer_is_read_sentence_by_sentence():
    content = "The gate closes at noon and opens again at one on working days."
    answer = f"Great question! {content} The guide does not say why. I hope this helps."
    reading = read_answer(answer)
    assert reading.kind is RefusalKind.PARTIAL
    assert [(answer[s.start : s.end], s.role, s.language) for s in reading.sentences] == [
        ("Great question!", Role.COURTESY, "en"),
        (content, Role.CONTENT, None),
        ("The guide does not say why.", Role.REFUSING, "en"),
        ("I hope this helps.", Role.HEDGE, "en"),
    ]
    assert [s.cue and answer[s.cue[0] : s.cue[1]] for s in reading.sentences] == [
        "Great question!",
        None,
        "guide does not say",
        "I hope this helps.",
    ]


@pytest.mark.parametrize("yes", ["Yes.", "No.", "Ja.", "Oui.", "Sí.", "Sim.", "Sì.", "是。", "はい。", "네."])
def test_a_bare_yes_says_nothing_that_could_be_looked_for(yes):
    assert roles(yes) == [Role.COURTESY]
    assert read_answer(yes).kind is RefusalKind.NONE
    assert roles(f"{yes} The gate closes at noon.")[-1] is Role.CONTENT


@pytest.mark.parametrize(
    "text",
    [
        "If you have any questions, call 0800 123 456.",
        "Let me know at help@example.org.",
        "Please note that this may vary by 10 %.",
    ],
)
def test_a_checkable_statement_is_no_courtesy(text):
    assert roles(text) == [Role.CONTENT]


@pytest.mark.parametrize(
    "answer", ["Sorry.", "Je suis désolé.", "Lo siento.", "Es tut mir leid.", "抱歉。", "죄송합니다."]
)
def test_an_apology_and_nothing_else_refuses(answer):
    assert read_answer(answer).kind is RefusalKind.FULL


def test_an_apology_for_a_misunderstanding_alone_does_not_refuse():
    assert read_answer("I'm sorry for the confusion.").kind is RefusalKind.NONE
