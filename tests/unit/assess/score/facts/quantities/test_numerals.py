from __future__ import annotations

from functools import partial

import pytest

from monitor.assess.score.facts import facts
from tests.rig.assess.quantities import values, with_dimensions
from tests.rig.assess.timing import seconds


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
    assert all(dimension is None for _, dimension in with_dimensions(text))


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
    assert with_dimensions(text) == expected


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


def seconds_of(text):
    return seconds(partial(facts, text))


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
