"""Refusing words that a document says itself are an answer."""

from __future__ import annotations

import pytest

from monitor.assess.classify import repeated
from monitor.assess.classify.refusal import Role, read_answer
from monitor.core.model import RefusalKind

SAID = [
    (
        "The guide does not include instructions for the older model.",
        "Note: the guide does not include any instructions for the older model, which is no longer sold.",
    ),
    ("No, the document does not contain macros.", "This document contains no macros. It is safe to open."),
    ("The contract is not mentioned in the manual.", "Setup. As the contract was never mentioned in the manual, ask."),
    ("Das Handbuch nennt den Preis nicht.", "Hinweis: Dieses Handbuch nennt den Preis der Geräte nicht."),
    ("De documenten bevatten geen prijzen.", "Let op: deze documenten bevatten geen prijzen of kortingen."),
    ("手册没有说明冬季模式的用法。", "本手册没有说明冬季模式的用法，请参阅附录。"),
]


@pytest.mark.parametrize(("answer", "document"), SAID)
def test_what_a_document_says_itself_is_an_answer(answer, document):
    assert read_answer(answer).kind is RefusalKind.FULL
    reading = read_answer(answer, documents=["Something else.", document], close=True)
    assert reading.kind is RefusalKind.NONE
    assert {s.role for s in reading.sentences} <= {Role.CONTENT, Role.COURTESY}


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        # the words are there, but in no sentence that denies
        ("The documents do not mention the price of batteries.", "The documents mention the price of batteries."),
        # it denies something else
        ("The documents do not mention the price of batteries.", "The price of batteries is not refundable."),
        (
            "The document does not mention the fees for transfers.",
            "This document does not mention fees of other banks.",
        ),
        ("The document does not contain macros.", "This document contains only macros."),
        # it is a condition
        ("The document does not mention the price.", "If the document does not mention the price, ask the office."),
        # the words are in two sentences
        ("The guide does not explain the winter mode.", "The guide does not expire. See the explained winter mode."),
        # too little is said
        ("I don't know.", "Staff who do not know say: I don't know."),
        ("手册没有说明冬季模式的用法。", "本手册说明冬季模式。没有附录。"),
    ],
)
def test_what_no_document_says_is_a_refusal(answer, document):
    assert read_answer(answer, documents=[document]).kind is RefusalKind.FULL


def test_a_refusal_beside_what_the_documents_say_makes_a_partial_one():
    answer = "The guide does not include instructions for the older model. I don't know the price."
    reading = read_answer(answer, documents=[SAID[0][1]])
    assert [s.role for s in reading.sentences] == [Role.CONTENT, Role.REFUSING]
    assert reading.kind is RefusalKind.PARTIAL


def test_only_the_first_refusals_are_looked_for_in_the_documents(monkeypatch):
    looked_for = []
    is_said = repeated._is_said
    monkeypatch.setattr(repeated, "_is_said", lambda *a: looked_for.append(a) or is_said(*a))
    read_answer("The documents do not mention the price. " * 90, documents=["They do not mention the price. " * 9])
    assert len(looked_for) == repeated.MOST
