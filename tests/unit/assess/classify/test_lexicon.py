"""Properties of the wordings of every language."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.classify.lexicon import CUES, OPENERS, UNSPACED, WORDINGS, fold
from monitor.assess.classify.lexicon.english import ENGLISH
from monitor.assess.classify.lexicon.english_refusals import BEGINS
from monitor.assess.classify.lexicon.examples import EXAMPLES, closeness
from monitor.assess.classify.lexicon.wording import pattern, simplified, upto, whole
from monitor.assess.classify.refusal import refusal_kind
from monitor.core.model import RefusalKind


def test_languages_are_told_by_their_codes():
    codes = "en de fr es pt it nl sv da pl ru tr zh ja ko"
    assert [w.code for w in WORDINGS] == codes.split()
    assert [w.code for w in UNSPACED] == ["zh", "ja", "ko"]


def test_a_word_names_every_language_that_has_it():
    assert {w.code for w in CUES["no"]} == {"en", "es"}
    assert {w.code for w in OPENERS["claro"]} == {"es", "pt"}


def test_a_dotted_capital_of_turkish_is_an_i():
    assert fold("İade BİLGİSİ") == "iade bilgisi"


@given(st.text())
def test_folding_keeps_the_length(text):
    assert len(fold(text)) == len(text)


def test_folding_makes_apostrophes_straight_and_characters_simple():
    assert fold("I DON’T *Know* `x`") == "i don't  know  'x'"
    assert fold("無法回答這個問題") == "无法回答这个问题"
    assert simplified("記載がありません") == "记载がありません"


def test_a_space_in_a_pattern_is_any_white_space():
    assert pattern(r"a b ?c").fullmatch("a \n bc")
    assert whole("a b").fullmatch("**a  b!**")
    assert pattern(f"{upto(2)}end").fullmatch("one two, end")
    assert not pattern(f"{upto(2)}end").fullmatch("one two three end")


def test_a_pattern_is_searched_only_where_its_condition_holds():
    assert pattern("b", begins=r"(?<!a)").search("ab b").start() == 3


@pytest.mark.parametrize(
    "text",
    [
        *EXAMPLES,
        "it isn't something the documents cover.",
        "that wasn't mentioned anywhere in the documents.",
        "well,i can't say (the text does not state it).",
        '"not specified in the passage"',
        "sadly, no details are provided.",
        "price and date: unfortunately the leaflets leave that open.",
        "all in all, none of the passages mention a deadline.",
        "what it costs is not stated in the manual.",
        "according to the brochure, it is unclear when it opens.",
        "opening hours could not be determined from the text.",
        "much of this lies beyond the scope of my documents.",
        "a reason is given nowhere, nor does it say who pays: more information is needed to tell.",
    ],
)
def test_english_refusals_begin_with_a_word_so_that_nothing_is_missed_between_words(text):
    everywhere = re.compile(ENGLISH.refusing.pattern.removeprefix(BEGINS))
    assert everywhere.pattern != ENGLISH.refusing.pattern
    found, expected = ENGLISH.refusing.search(fold(text)), everywhere.search(fold(text))
    assert (found and found.span()) == (expected and expected.span())


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_a_refusal_by_its_wording_too(example):
    assert refusal_kind(example) is RefusalKind.FULL


def test_closeness_is_the_highest_cosine():
    examples = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    answers = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(closeness(answers, examples), [1.0, 0.8, 0.0])
