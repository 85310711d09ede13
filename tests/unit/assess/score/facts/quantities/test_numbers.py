from __future__ import annotations

import pytest

from tests.rig.assess.quantities import dimension, numbers, values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It weighs 1,234.5 kg.", [1234.5]),
        ("Es wiegt 1.234,5 kg.", [1234.5]),
        ("Il pèse 1 234 567 g.", [1234567]),
        ("It has 1,234,567 rows.", [1234567]),
        ("Zurich says 1'234'567.", [1234567]),
        ("India says 12,34,567.", [1234567]),
        ("Use 3.14 here.", [3.14]),
        ("Sites 7 and 12, then 40.", [7, 12, 40]),
        ("全角は１２３．５です", [123.5]),
        ("共有5，10个。", [5, 10]),
    ],
)
def test_figures_with_separators(text, expected):
    assert values(text) == expected


def test_an_ambiguous_separator_has_both_readings():
    (fact,) = numbers("1,234 l")
    assert [q.number for q in fact.key] == [1234, 1.234]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5k rows", [5_000]),
        ("5 M rows", [5_000_000]),
        ("5 million rows", [5_000_000]),
        ("a $1.2bn deal", [1_200_000_000]),
        ("3 hundred", [300]),
        ("2,5 Mio. Kunden", [2_500_000]),
        ("３万円", [30_000]),
        ("1.2亿元", [120_000_000]),
        ("5 to 10 million rows", [5_000_000, 10_000_000]),
    ],
)
def test_multipliers(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twenty-one boxes", [21]),
        ("one hundred and five boxes", [105]),
        ("three hundred thousand boxes", [300_000]),
        ("two hundred million and six boxes", [200_000_006]),
        ("a dozen boxes", [12]),
        ("a hundred boxes, two million pens", [100, 2_000_000]),
        ("twice a day", [2]),
        ("the twentieth box, the 3rd shelf", [20, 3]),
        ("one and a half hours", [1.5]),
        ("Der Käfer hat einundzwanzig Punkte und ist rot", [21]),
        ("Il y a quatre-vingt-dix-neuf vis dans la boîte", [99]),
        ("Les clients ont soixante et onze vis", [71]),
        ("El cajón es para treinta y cinco tornillos", [35]),
        ("A caixa é para quarenta e dois parafusos", [42]),
        ("La scatola è per ventotto viti", [28]),
        ("三百二十人", [320]),
        ("一亿二千万人", [120_000_000]),
        ("一万亿元", [1_000_000_000_000]),
        ("十分钟", [10]),
    ],
)
def test_number_words(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "One of them left, no one stayed, they saw one another.",
        "This one is the first, that the second.",
        "Third, fish live under water. A fourth theory is gone.",
        "Hundreds came, thousands stayed.",
        "Once more, the dos and elf.",
        "The second half of the match.",
        "他们十分统一，一般不会一样。",
        "千万不要，万一出错呢。",
    ],
)
def test_words_that_only_look_like_numbers(text):
    assert numbers(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 days", ("time", 30)),
        ("30-day trial", ("time", 30)),
        ("30 business days", ("time", 30)),
        ("thirty days", ("time", 30)),
        ("5GB", ("bytes", 5)),
        ("5 gigabytes", ("bytes", 5)),
        ("$5", ("dollar", 5)),
        ("US$5", ("dollar", 5)),
        ("5 USD", ("dollar", 5)),
        ("EUR 5", ("euro", 5)),
        ("5 €", ("euro", 5)),
        ("5 per cent", ("ratio", 5)),
        ("5 percentage points", ("ratio", 5)),
        ("5%", ("ratio", 5)),
        ("−5 °C", ("temperature", -5)),
        ("5 degrees Celsius", ("temperature", 5)),
        ("5 square metres", ("area", 5)),
        ("90 km/h", ("speed", 90)),
        ("30天", ("time", 30)),
        ("30일까지", ("time", 30)),
        ("三十个小时", ("time", 30)),
        ("3000円", ("yen", 3000)),
        ("7 widgets", (None, 7)),
        ("7 in a box", (None, 7)),
        ("7 to go", (None, 7)),
    ],
)
def test_units(text, expected):
    (fact,) = numbers(text)
    assert (dimension(fact.key[0]), fact.key[0].number) == expected


def test_fractions_are_shares():
    found = [fact.key[0] for fact in numbers("1/2, ½, half of it, two thirds, a quarter of it")]
    assert [(dimension(q), round(q.number, 1)) for q in found] == [
        ("ratio", 50.0),
        ("ratio", 50.0),
        ("ratio", 50.0),
        ("ratio", 66.7),
    ]
    assert values("2½ cups") == [2.5]


@pytest.mark.parametrize("text", ["10-20 minutes", "10 to 20 minutes", "between 10 and 20 minutes", "10–20 minutes"])
def test_both_ends_of_a_range_have_the_unit(text):
    assert [(q.number, dimension(q)) for f in numbers(text) for q in f.key] == [(10, "time"), (20, "time")]


def test_the_currency_and_the_millions_of_a_range_are_for_both_ends():
    assert [(q.number, dimension(q)) for f in numbers("$5-10 million") for q in f.key] == [
        (5_000_000, "dollar"),
        (10_000_000, "dollar"),
    ]


@pytest.mark.parametrize(
    "text", ["about 50", "nearly 50", "more than 50", "over $50", "etwa 50", "environ 50", "casi 50", "约50", "~50"]
)
def test_numbers_called_approximate(text):
    assert [q.about for f in numbers(text) for q in f.key] == [True]


def test_a_number_too_long_to_be_one_is_none():
    assert numbers("1" * 31) == []
