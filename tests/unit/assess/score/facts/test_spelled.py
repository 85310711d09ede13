from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, facts, spelled_out


def words(answer, *documents):
    return [answer[start:end] for start, end in spelled_out(facts(answer), FactIndex.of(documents))]


@pytest.mark.parametrize(
    ("answer", "document", "expected"),
    [
        ("The plan is thirty euros.", "The plan is 30 euros.", ["thirty"]),
        ("El plan es de treinta y cinco euros por los dos.", "El plan es de 35 euros.", ["treinta", "y", "cinco"]),
        ("Das sind zweihundertfünfzig Euro.", "Das sind 250 Euro.", ["zweihundertfünfzig"]),
    ],
)
def test_words_of_a_number_that_the_document_has_in_figures(answer, document, expected):
    assert words(answer, document) == expected


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("The plan is thirty euros.", "The plan is thirty euros."),  # in the same words
        ("The plan is forty euros.", "The plan is 30 euros."),  # not held
        ("The plan is 30 euros.", "The plan is thirty euros."),  # in figures
        ("The plan is from Ann.", "The plan is 30 euros from Ann."),  # no number
    ],
)
def test_other_words_stay(answer, document):
    assert words(answer, document) == []
