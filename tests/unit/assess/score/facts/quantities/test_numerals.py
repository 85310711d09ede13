from __future__ import annotations

import time

import pytest

from monitor.assess.score.facts import FactIndex, FactKind, conflicts, facts, missing
from monitor.assess.score.facts.dates import Moment
from monitor.assess.score.facts.extract import read as source_facts
from tests.factories.number_words import FORMS, english

UP_TO = 10_000
# Few enough of a text's numbers are near each other for the index to look at all. One form of each language is held
# against figures with every number, the others with some; that each is read is shown for all of them.
SPREAD, ALL, SOME = 201, 1, 20
# The numbers that are more often another word ("sei": you are, "neuf": new), so that alone they are none in an answer.
ALSO_WORDS = {"fr": {9}, "it": {6}}
EVERY_FORM = [(language, form) for language, (_, forms) in FORMS.items() for form in forms]


def read(text):
    """Every reading of every number of a text, as (value, dimension)."""
    return [
        (q.number, q.unit.dimension if q.unit else None)
        for fact in facts(text)
        if fact.kind is FactKind.NUMBER
        for q in fact.key[:1]
    ]


def values(text):
    return [value for value, _ in read(text)]


def listed_out(language, spell, numbers):
    """A text of the language that lists the numbers, one in each line, where no mark or item stands."""
    (before, after), _ = FORMS[language]
    return f"{before} {after}.\n" + "".join(f"xy {spell(n)};\n" for n in numbers)


@pytest.mark.parametrize(("language", "form"), EVERY_FORM)
def test_every_number_is_read_in_every_form(language, form):
    spell = FORMS[language][1][form]
    expected = [n for n in range(UP_TO + 1) if n != 1 and n not in ALSO_WORDS.get(language, ())]
    assert values(listed_out(language, spell, range(UP_TO + 1))) == expected


@pytest.mark.parametrize(("language", "form"), EVERY_FORM)
def test_words_and_figures_hold_each_other(language, form):
    spell = FORMS[language][1][form]
    for first in range(2, SPREAD, ALL if form == next(iter(FORMS[language][1])) else SOME):
        numbers = range(first, UP_TO + 1, SPREAD)
        words, figures = listed_out(language, spell, numbers), listed_out(language, str, numbers)
        assert missing(figures, FactIndex.of([words])) == ()
        assert missing(words, FactIndex.of([figures])) == ()


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        ("El plan cuesta trescientos cincuenta euros al año.", "El plan cuesta 350 euros al año."),
        ("La licence est à deux cents euros pour une année.", "La licence est à 200 euros pour une année."),
        ("O plano custa duzentos euros por ano.", "O plano custa 200 euros por ano."),
        ("Der Tarif kostet zweihundertfünfzig Euro im Jahr.", "Der Tarif kostet 250 Euro im Jahr."),
        ("Il piano costa duecentocinquanta euro all'anno.", "Il piano costa 250 euro all'anno."),
        ("trescientos cincuenta euros", "350 €"),
        ("once euros", "11 euros"),
        ("six cents euros", "600 €"),
        ("treinta días", "30 días"),
    ],
)
def test_right_answers_of_the_review_are_right(document, answer):
    assert missing(answer, FactIndex.of([document])) == ()
    assert missing(document, FactIndex.of([answer])) == ()
    for fact in facts(answer):
        assert fact.kind is not FactKind.NUMBER or conflicts(fact, document)  # they are of one kind, so comparable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Es ist mit zwei Millionen Kunden das größte.", [2_000_000]),
        ("Es ist mit zwei Komma fünf Millionen Kunden das größte.", [2_500_000]),
        ("Es ist mit eineinhalb Millionen Kunden das größte.", [1_500_000]),
        ("Es sind eine Million zweihunderttausend Kunden.", [1_200_000]),
        ("Son doscientos mil clientes los que están.", [200_000]),
        ("Son dos coma cinco kilos y no más.", [2.5]),
        ("Son dos coma cero cinco kilos y no más.", [2.05]),
        ("Son dos millones y medio los que están.", [2_500_000]),
        ("Son mil doscientos los que están.", [1_200]),
        ("Son 2 mil millones los que están.", [2_000_000_000]),
        ("Il est à deux virgule cinq millions pour vous.", [2_500_000]),
        ("Il est à un million deux cent mille pour vous.", [1_200_000]),
        ("La banca è di tre miliardi per il paese.", [3_000_000_000]),
        ("A conta é de um milhão e duzentos mil para uma loja.", [1_200_000]),
        ("A conta é de mil milhões para uma loja.", [1_000_000_000]),
        ("A conta é de uma dúzia para uma loja.", [12]),
        ("Het is voor twee miljoen klanten uit deze stad.", [2_000_000]),
        ("It is two point five million of them.", [2_500_000]),
        ("It is two and a half million of them.", [2_500_000]),
        ("It is two trillion of them and two dozen.", [2_000_000_000_000, 24]),
        ("It is one hundred and two million of them.", [102_000_000]),
    ],
)
def test_decimals_and_multiples(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is between one hundred and two hundred of them.", [100, 200]),
        ("It is between ten thousand and six thousand of them.", [10_000, 6_000]),
        ("It is twenty and five of them.", [20, 5]),
        ("Il est entre cent et deux cents pour une place.", [100, 200]),
        ("Es sind zwischen hundert und zweihundert.", [100, 200]),
        ("Es sind zwei Millionen und drei.", [2_000_003]),
        ("Es ist zwischen zwei und dreißig.", [2, 30]),
        ("Son entre cien y tres los que están.", [100, 3]),
        ("Son uno, dos, tres y más para los que están.", [2, 3]),
    ],
)
def test_numbers_beside_each_other_stay_apart(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("It is two-thirds of the whole.", "It is two thirds of the whole.", "Das sind zwei Drittel von allem."),
        *("Son dos tercios de los que están.", "São dois terços do que não é."),
        *("Sono due terzi di quello che è.",),
    ],
)
def test_fractions_are_shares(text):
    assert [(round(value, 1), dimension) for value, dimension in read(text)] == [(66.7, "ratio")]


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
    assert read(text) == [expected]


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
    assert read(text)[0] == (32, None)
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
    ("text", "expected"),
    [
        ("There are twenty third-party libraries in it.", [20]),
        ("There are two hundred first-class seats in it.", [200]),
        ("There are two hundred and first-class seats in it.", [200]),
        ("There are fifty first-time users and thirty second-hand cars.", [50, 30]),
        ("There are thirty second-hand cars or 30 second-hand cars.", [30, 30]),
        ("There are five fourth-generation and forty fifth-generation cars.", [5, 4, 40, 5]),
        ("It is a twenty-first-century car and the twenty-third-largest.", [23]),
        ("It is the twenty-first-century car.", [21]),
        ("It is the one hundred and second of them.", [102]),
        ("The third-party cars are third-rate and third-class.", []),
    ],
)
def test_an_ordinal_of_a_compound_is_not_part_of_the_number_before_it(text, expected):
    assert values(text) == expected
    assert all(dimension is None for _, dimension in read(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Il est ouvert pour vingt et une heures par jour.", [(21, "time")]),
        ("Il est ouvert pour trente-et-une heures par jour.", [(31, "time")]),
        ("Il est ouvert pour quarante et une heures par mois.", [(41, "time")]),
        ("Il y a quatre-vingt-une boîtes et cent une caisses pour vous.", [(81, None), (101, None)]),
        ("Il y a une douzaine et une boîte pour vous.", [(12, None)]),
        ("Il y a entre cinquante et une centaine de boîtes pour vous.", [(50, None)]),
        ("Il est du vingt-et-unième étage pour vous.", [(21, None)]),
    ],
)
def test_feminine_numbers_of_french(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("It is the second half, a month after launch.", "It is in the second half\n\nA month after launch."),
        *("It is one of the other half a month after launch.", "It is half (a month after launch)."),
    ],
)
def test_a_half_before_another_clause_is_no_half_of_a_unit(text):
    assert values(text) == []
    assert (0.5, "time") not in [
        (q.number, q.unit and q.unit.dimension) for fact in source_facts(text, source=True) for q in fact.key
    ]


def test_half_a_unit():
    assert read("It is open for half a month or half\nan hour.") == [(0.5, "time"), (0.5, "time")]


@pytest.mark.parametrize(
    "text",
    [
        "Un cliente está con una casa y no con el perro.",
        "Un client et une cliente sont dans la maison.",
        "Ein Kunde und eine Kundin sind in einem Haus.",
        "Um cliente e uma cliente são do mesmo país.",
        "Un cliente e una cliente sono nella casa, se tu sei il primo.",
        "Een klant is voor het huis naar deze stad.",
        "It is the first, the second is for you in a second.",
        "Espera un segundo, no es la primera ni la segunda.",
        "Achten Sie auf das Haus, geben Sie es nicht an Dritte weiter.",
        "Los datos no se ceden a terceros en el cuarto de baño.",
        "Os dados não são do quarto, nem na quinta nem na sexta, e não vão para terceiros.",
        "I dati non sono di terzi e non si può dare il quarto.",
        "Le téléphone est neuf et pas cher pour vous.",
        "Mil gracias por todo lo que es.",
        "Mille grazie per il dono, non è poco.",
        "Es sind Hunderte und Tausende, ein paar hundert und mehrere Millionen.",
        "Son cientos y miles de personas los que están.",
        "Unos clientes son de la casa y no del perro.",
        "En tercer lugar, no es para el cliente.",
        "Un troisième client est dans la maison, pas une cliente.",
        "The elf went once to the door of the house.",
        "Non, il n'est pas dans la maison, non.",
    ],
)
def test_words_that_only_look_like_numbers(text):
    assert values(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("El cinco de mayo está en casa y no más.", Moment("day", 0, 5, 5)),
        ("It is on the twenty-third of May.", Moment("day", 0, 5, 23)),
        ("It is on May third.", Moment("day", 0, 5, 3)),
        ("Le premier mai est pour vous.", Moment("day", 0, 5, 1)),
        ("Das ist am dritten Mai 2020.", Moment("day", 2020, 5, 3)),
        ("Das ist im neunzehnten Jahrhundert.", Moment("century", 19)),
        ("Il est du dix-neuvième siècle.", Moment("century", 19)),
    ],
)
def test_dates_in_words(text, expected):
    assert [fact.key[0] for fact in facts(text)] == [expected]


def test_a_number_that_is_also_a_month_is_the_number_in_its_language():
    assert FactIndex.of(["Sept jours sont pour vous."]).holds(facts("Il y a 7 jours pour vous.")[0])


def seconds_of(text):
    began = time.process_time()
    facts(text)
    return time.process_time() - began


@pytest.mark.parametrize(
    "words",
    [
        *("deux cents ", "et un ", "quatre-vingt-", "cinco mil y ", "zero ", "one hundred and ", "two point "),
        *("zwei Komma ", "mil ", "million ", "two dozen ", "may third ", "cent et ", "sechsundzwanzigtausend"),
    ],
)
def test_the_work_grows_with_the_text(words):
    seconds_of(words * 100)
    short, long = words * 500, words * 4_000
    assert min(seconds_of(long) for _ in range(3)) < 8 * 3 * min(seconds_of(short) for _ in range(5))


@pytest.mark.parametrize("part", ["hundert", "zwei", "und", "cento", "tweeën", "vingt"])
def test_a_word_without_an_end_is_no_number(part):
    assert values(part * 50_000) == []
