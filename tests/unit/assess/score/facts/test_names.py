from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactKind, facts
from monitor.assess.score.facts.names import acronyms, alone, words_of


def names(text):
    return [fact.text for fact in facts(text) if fact.kind is FactKind.NAME]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We asked Ada Lovelace about it.", ["Ada Lovelace"]),
        ("They met in New York City.", ["New York City"]),
        ("It is run by the Bank of England today.", ["Bank of England"]),
        ("He met Jean-Luc Moreau in São Paulo.", ["Jean-Luc Moreau", "São Paulo"]),
        ("They called Dr. Miller and Prof. Lee.", ["Dr. Miller", "Prof. Lee"]),
        ("We like NASA's rockets.", ["NASA's"]),
        ("NASA builds rockets.", ["NASA"]),
        ("The iPhone is small.", ["iPhone"]),
        ("The button is blue.", []),
        ("However, it is blue. Then it turned red.", []),
        ("I'm sure that I can.", []),
        ("- Press the button\n- Wait", []),
        ("**Storage:** it is large.", []),
        ("What's in a name? 'What's this?'", []),
        ("In Kenya it rains.", ["In Kenya"]),
        ("We go in May and on Monday.", []),
    ],
)
def test_names_are_told_from_sentence_starts(text, expected):
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("We have COVID-19 here.", "covid19"),
        ("We have HTTP/2 here.", "http2"),
        ("We have v1.2.3 here.", "1.2.3"),
        ("See RFC 2616.", "rfc2616"),
        ("We have ISO 9001 here.", "iso9001"),
        ("We have A4 here.", "a4"),
        ("We have B2B here.", "b2b"),
        ("We have MP3 here.", "mp3"),
        ("We have GPT-4o here.", "gpt4o"),
        ("We have 3D here.", "3d"),
        ("We have max_retries here.", "maxretries"),
        ("We have 10.0.0.1 here.", "10.0.0.1"),
    ],
)
def test_names_with_figures_are_names_and_no_numbers(text, key):
    (fact,) = facts(text)
    assert (fact.kind, fact.key) == (FactKind.NAME, (key,))


def test_an_acronym_that_the_text_explains_itself_is_none():
    assert names("We use the load shedding queue (LSQ). It helps, and LSQ is quick.") == []
    assert names("We use the queue (XYZ).") == ["XYZ"]


def test_a_line_in_title_case_names_nothing():
    assert names("How To Change Your Billing Address\nPress the button.") == []


def test_german_nouns_are_no_names():
    text = "Die Kunden der Bank sind mit dem Konto in Bad Homburg nicht zufrieden."
    assert names(text) == ["Bad Homburg"]


@pytest.mark.parametrize("text", ["设置保存在云端", "設定はクラウドに保存されます", "설정은 저장됩니다"])
def test_scripts_without_capitals_have_no_names(text):
    assert names(text) == []


def test_acronyms_of_a_text():
    found = acronyms("The World Health Organization and the Bank of England; NATO; the U.S. Army")
    assert {"who", "boe", "be", "nato", "us"} <= found


def test_names_that_stand_alone():
    assert alone("We met Adam Miller. Then Jones left with Mr. Brown.") == {"jones", "brown"}


def test_words_are_folded():
    assert words_of("The U.S. Café's Straße") == ["the", "us", "cafe", "strasse"]
