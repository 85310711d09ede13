"""How many out of how many: the share in percent says the same, and the two figures do."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, missing


def lacking(answer, document):
    return [fact.text for fact in missing(answer, FactIndex.of([document]))]


THREE_OF_FOUR = [
    *("3 out of 4 customers", "three out of four customers", "3 in 4 customers", "three in four customers"),
    *("3 of 4 customers", "three of every four customers", "three out of every four customers"),
    *("three customers out of four", "3/4 of customers", "three-quarters of customers", "¾ of customers"),
]


@pytest.mark.parametrize("said", THREE_OF_FOUR)
def test_a_share_of_a_count_is_held_by_its_percentage_and_holds_it(said):
    assert lacking(f"It is {said}.", "It is 75 % of customers.") == []
    assert lacking("It is 75% of customers.", f"It is {said}.") == []
    assert len(lacking(f"It is {said}.", "It is 80 % of customers.")) == 1
    assert lacking("It is 80 % of customers.", f"It is {said}.") == ["80 %"]
    for other in THREE_OF_FOUR:
        assert lacking(f"It is {said}.", f"It is {other}.") == []


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("One in five users left.", "20% of users left."),
        ("20% of users left.", "One in five users left."),
        ("1 in 5 users left.", "20% of users left."),
        ("Drei von vier Kunden sind nicht mehr da.", "75 % der Kunden"),
        ("Trois clients sur quatre sont pour vous.", "75 % des clients"),
        ("Tres de cada cuatro clientes son los que están.", "75 % de los clientes"),
        ("Três em cada quatro clientes são os que não estão.", "75 % dos clientes"),
        ("Tre su quattro clienti sono della stessa città.", "75 % dei clienti"),
        ("Drie op de vier klanten zijn voor het plan.", "75 % van de klanten"),
        ("3 out of 4 rooms are free.", "There are 4 rooms, and 3 of them are free."),
        ("The score is 4.5 out of 5.", "Rating: 4.5/5"),
        ("It rose by 2 in 10 days.", "In 10 days it rose by 2."),
        ("See page 3 of 4.", "There are 4 pages. Page 3 has it."),
    ],
)
def test_the_same_in_another_form_is_held(answer, document):
    assert lacking(answer, document) == []


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("3 out of 4 customers", "2 out of 4 customers"),
        ("3 out of 4 customers", "3 out of 5 customers"),
        ("3 out of 4 customers", "3 customers"),
        ("75% of customers", "Page 3 of 4."),
        ("20% of users left.", "It rose by 2 in 10 days."),
        ("60% of users left.", "the third of five users"),
    ],
)
def test_another_share_is_not_held(answer, document):
    assert len(lacking(answer, document)) == 1
