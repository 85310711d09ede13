from __future__ import annotations

import pytest

from monitor.assess.score.facts import conflicts, facts


def said(text):
    (fact,) = facts(text)
    return fact


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("kept for 60 days", "They are kept for 30 days."),
        ("kept for 60 days", "They are kept for two weeks."),  # a duration too
        ("it costs $25", "It costs $20 a month and holds 50 GB."),
        ("500 GB of space", "The plan holds 50 GB."),
        ("three years", "The warranty runs for two years."),
        ("35 Euro", "Das kostet 20 Euro im Monat."),
    ],
)
def test_another_figure_of_the_same_kind_conflicts(answer, passage):
    assert conflicts(said(answer), passage)


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("kept for 60 days", "They are kept in Berlin."),
        ("kept for 60 days", "It costs $20."),
        ("60 of them", "They are kept for 30 days."),  # no unit
        ("in Berlin-Mitte", "They are kept for 30 days."),
    ],
)
def test_a_figure_of_another_kind_does_not(answer, passage):
    assert not any(conflicts(fact, passage) for fact in facts(answer))
