from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, conflicts, missing
from monitor.assess.score.facts.extract import read as source_facts
from tests.factories.number_words import english
from tests.rig.assess.quantities import dimension, values, with_dimensions


@pytest.mark.parametrize(
    "text",
    [
        *("It is two-thirds of the whole.", "It is two thirds of the whole.", "Das sind zwei Drittel von allem."),
        *("Son dos tercios de los que están.", "São dois terços do que não é."),
        *("Sono due terzi di quello che è.",),
    ],
)
def test_fractions_are_shares(text):
    assert [(round(value, 1), unit) for value, unit in with_dimensions(text)] == [(66.7, "ratio")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Es ist minus fünf Grad und nicht mehr.", (-5, "temperature")),
        ("Es ist minus 5 Grad und nicht mehr.", (-5, "temperature")),
        ("Está a menos cinco grados y no más.", (-5, "temperature")),
        ("Está al menos a cinco grados y no más.", (5, "temperature")),
        ("Il est à au moins cinq degrés pour vous.", (5, "temperature")),
        ("Il y a au moins cinq degrés pour vous.", (5, "temperature")),
        ("It is minus five degrees.", (-5, "temperature")),
    ],
)
def test_numbers_below_zero(text, expected):
    assert with_dimensions(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is the sixtieth and the twenty-first of them.", [60, 21]),
        ("Es ist das vierte und im einundzwanzigsten Stock.", [4, 21]),
        ("Il est au quatrième et au quatre-vingtième étage.", [4, 80]),
        ("Está en el tercer piso y no más.", [3]),
        ("É no vigésimo primeiro andar para uma casa.", [21]),
        ("Il ventunesimo piano è più alto della casa.", [21]),
        ("Het is op de vierde verdieping voor deze.", [4]),
    ],
)
def test_ordinals(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize("number", [20, 30, 40, 60, 90, 100, 120, 300, 900])
@pytest.mark.parametrize("hyphen", ["-", " "])
def test_a_number_of_seconds_is_not_the_ordinal_two_above_it(number, hyphen):
    said = f"{english(number).replace(' ', hyphen).replace('-', hyphen)}{hyphen}second"
    for document in (f"The {said} timeout is on.", f"It is a {said} timeout.", f"It is for {said} timeouts only."):
        index = FactIndex.of([document])
        for right in (f"It is {number} seconds.", f"It is a {number}-second timeout.", document):
            assert missing(right, index) == ()
            assert missing(document, FactIndex.of([right])) == ()
        for wrong in (f"It is {number + 2} seconds.", f"It is a {number + 5}-second timeout.", "It is one minute."):
            if wrong != "It is one minute." or number != 60:
                (fact,) = missing(wrong, index)
                assert conflicts(fact, document)
                assert len(missing(document, FactIndex.of([wrong]))) == 1


@pytest.mark.parametrize(
    "text",
    ["It is the thirty-second floor of it.", "It is the thirty-second of May.", "It is the thirty-second place."],
)
def test_a_place_in_an_order_is_no_number_of_seconds(text):
    assert with_dimensions(text)[0] == (32, None)
    assert missing("It is 32nd.", FactIndex.of([text])) == ()
    assert len(missing("It is 30 seconds.", FactIndex.of([text]))) == 1


@pytest.mark.parametrize(
    "text", ["the thirty-second meeting of it", "It is the one hundred and thirty second meeting."]
)
def test_an_undecided_second_is_also_a_place(text):
    place = 132 if "hundred" in text else 32
    assert missing(text, FactIndex.of([f"It is the {place}nd meeting."])) == ()
    assert missing(f"It is the {place}nd meeting.", FactIndex.of([text])) == ()


@pytest.mark.parametrize(
    "text",
    [
        *("It is the second half, a month after launch.", "It is in the second half\n\nA month after launch."),
        *("It is one of the other half a month after launch.", "It is half (a month after launch)."),
    ],
)
def test_a_half_before_another_clause_is_no_half_of_a_unit(text):
    assert values(text) == []
    assert (0.5, "time") not in [(q.number, dimension(q)) for fact in source_facts(text, source=True) for q in fact.key]


def test_half_a_unit():
    assert with_dimensions("It is open for half a month or half\nan hour.") == [(0.5, "time"), (0.5, "time")]
