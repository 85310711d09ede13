from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.text.words import STEM, stems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n,.!", []),
        ("Kept for 30 days.", ["kept", "for", "30", "days"]),
        ("Snapshots, snapshot's", ["snapsh", "snapsh", "s"]),
        ("snake_case 3.50", ["snake", "case", "3", "50"]),
        ("Überprüfungen GRÖSSE Straße", ["überpr", "grösse", "strass"]),
        ("naïve Café", ["naïve", "café"]),
        ("данные удалены", ["данные", "удален"]),
        ("今天下雨", ["今天", "天下", "下雨"]),
        ("保存30天。", ["保存", "30", "天"]),
        ("データです", ["デー", "ータ", "タで", "です"]),
        ("ABC社は", ["abc", "社は"]),
        ("🙂 ok 🙂", ["ok"]),
        ("\ud800ab", ["ab"]),
    ],
)
def test_words_by_their_first_letters_and_pairs_where_no_spaces_are(text, expected):
    assert stems(text) == expected


def test_inflections_share_a_stem():
    assert len({stems(word)[0] for word in ("retain", "retained", "Retaining", "retainer")}) == 1
    assert stems("retention") != stems("retail")


@given(st.text())
def test_stems_are_short_and_in_small_letters(text):
    for word in stems(text):
        assert 0 < len(word) <= STEM
        assert word in normalize("NFC", text.casefold())


@given(st.text(st.sampled_from("aB1 .,éß今天です\n")), st.text(st.sampled_from("aB1 .,éß今天です\n")))
def test_words_of_two_texts_apart_are_those_of_both(one, other):
    assert stems(f"{one}\n{other}") == stems(one) + stems(other)


@given(st.text(st.sampled_from("abcXYZ 12,.")))
def test_plain_text_takes_a_shorter_way_to_the_same_words(text):
    assert stems(text + " é")[:-1] == stems(text)


def test_accents_may_stand_apart_from_their_letters():
    assert stems("re\u0301sume\u0301 nai\u0308f") == stems("résumé naïf")
