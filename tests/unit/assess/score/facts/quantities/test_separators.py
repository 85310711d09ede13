"""What a comma or a point before three figures means: thousands, decimals, or either."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, missing
from tests.rig.assess.quantities import numbers


def readings(text):
    (fact,) = numbers(text)
    return [q.number for q in fact.key]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It holds 1,234 litres of the water.", [1234]),
        ("It costs $1,234 for all of them.", [1234]),
        ("$1,234", [1234]),
        ("EUR 1.234", [1234]),
        ("1.234 €", [1234]),
        ("Das kostet 1.234 Euro und ist nicht teuer.", [1234]),
        ("Das kostet 1,234 Euro und ist nicht teuer.", [1234]),
        ("Das sind 2,000 Kunden und nicht mehr.", [2000]),
    ],
)
def test_a_mark_that_can_only_group(text, expected):
    assert readings(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234 l", [1234, 1.234]),
        ("Das Fass und der Eimer fassen 1,234 Liter.", [1234, 1.234]),
        ("Das Fass und der Eimer fassen 1.234 Liter.", [1.234, 1234]),
        ("It holds 1.234 litres of the water.", [1.234, 1234]),
        ("It is quoted at 1.234 euros for a dollar.", [1.234, 1234]),
    ],
)
def test_a_mark_that_is_left_open(text, expected):
    assert readings(text)[:2] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Der Umsatz ist mit 1,234 Milliarden Euro nicht klein.", [1.234e9]),
        ("It costs 0.125 dollars for each.", [0.125]),
        ("Das kostet 0,125 Euro und mehr.", [0.125]),
        ("Es kostet 1.234,50 €.", [1234.5]),
        ("That is 4.125 cents for each.", [4.125]),
    ],
)
def test_decimals_stay_decimals(text, expected):
    assert set(expected) <= set(readings(text))


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("The plan costs $2,000 per month.", "The plan costs $2 per month."),
        ("The plan costs $2 per month.", "The plan costs $2,000 per month."),
        ("It costs $1,500.", "It costs $1.50."),
        ("It costs $1,234.50.", "It costs $1 for the first month."),
        ("It costs $1.", "It costs $1,234.50 for all of them."),
        ("Das kostet 2.000 Euro und mehr.", "Das kostet 2 Euro und mehr."),
        ("2,000 users", "2 users"),
        ("It weighs 1,234 kg and is red.", "It weighs 1.23 kg and is red."),
        ("It weighs 1 kg and is red.", "It weighs 1,234 kg and is red."),
    ],
)
def test_a_figure_a_thousand_times_as_large_is_not_held(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("Das kostet 2000 Euro und mehr.", "Das kostet 2.000 Euro und mehr."),
        ("It costs 2,000 euros for all.", "Das kostet 2.000 Euro und mehr."),
        ("It costs 2.000 Euro for all.", "Das kostet 2.000 Euro und mehr."),
        ("It costs €2,000.50 for all.", "Das kostet 2.000,50 Euro und mehr."),
        ("Das kostet 2.000 Euro und mehr.", "It costs €2,000 for all."),
        ("It weighs 1,234 kg and is red.", "Es wiegt 1.234 kg und ist rot."),
        ("It weighs 1.234 kg and is red.", "Es wiegt 1,234 kg und ist rot."),
        ("Es wiegt 1.234 kg und ist rot.", "It weighs 1,234 kg and is red."),
        ("Es wiegt 1,234 kg und ist rot.", "It weighs 1.234 kg and is red."),
        ("It returns 301 then.", "It returns one of 200,301,404 then."),
        ("Open the port 8080 for it.", "Open the ports 443,8080 for it."),
    ],
)
def test_the_same_figure_of_another_language_is_held(answer, document):
    assert missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Take .5 mg daily.", (".5 mg", 0.5)),
        (".25 %", (".25 %", 0.25)),
        ("It costs $.50 now.", ("$.50", 0.5)),
        ("It is -.5 °C.", (".5 °C", -0.5)),
        ("It is significant (p<.001).", (".001", 0.001)),
        ("He bats .300 now.", (".300", 0.3)),
        ("That is all.5 days are left.", ("5 days", 5)),
        ("That is all. 5 days are left.", ("5 days", 5)),
        ("See v.5 then.", ("5", 5)),
        ("Wait ...5 days.", ("5 days", 5)),
    ],
)
def test_a_point_after_a_space_belongs_to_the_figures_after_it(text, expected):
    (fact,) = numbers(text)
    assert (fact.text, fact.key[0].number) == expected


def test_half_a_milligram_is_held_with_and_without_its_zero():
    assert missing("Take .5 mg.", FactIndex.of(["Take 0.5 mg."])) == ()
    assert missing("Take 0.5 mg.", FactIndex.of(["Take .5 mg."])) == ()
    assert [fact.text for fact in missing("Take 5 mg.", FactIndex.of(["Take .5 mg."]))] == ["5 mg"]
    assert [fact.text for fact in missing("Take .5 mg.", FactIndex.of(["Take 5 mg."]))] == [".5 mg"]
