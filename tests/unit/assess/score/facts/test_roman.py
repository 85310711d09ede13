"""Roman numerals in names and centuries are their figures, and no other numeral."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, missing


def held(answer, document):
    return missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It was in World War II.", "It was in World War 2."),
        ("It was in World War 2.", "It was in World War II."),
        ("It was in WWII.", "It was in World War II."),
        ("It has Type II diabetes.", "It has type 2 diabetes."),
        ("It has type 2 diabetes.", "It has Type II diabetes."),
        ("See Chapter IV.", "See chapter 4."),
        ("See chapter 4.", "See Chapter IV."),
        ("See chapter 5.", "See Chapter V."),
        ("Es del siglo XIX y no más.", "It is of the 19th century."),
        ("Il est du XIXe siècle et pas plus.", "It is of the 19th century."),
        ("It is of the 19th century.", "Il est du XIXe siècle et pas plus."),
        ("It is of the 5th century.", "Es del siglo V y no más."),
    ],
)
def test_the_same_numeral_is_held(answer, document):
    assert held(answer, document)


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It was in World War II.", "It was in World War I."),
        ("It was in World War II.", "It was in World War III."),
        ("It was in WWI.", "It was in World War II."),
        ("We met Elizabeth II.", "It was in World War II."),
        ("See chapter 4.", "See Chapter V."),
        ("It holds 4 of them.", "We got IV fluids."),
        ("It is of the 18th century.", "Es del siglo XIX y no más."),
        ("Es del siglo XVIII y no más.", "Es del siglo XIX y no más."),
    ],
)
def test_another_numeral_is_not_held(answer, document):
    assert not held(answer, document)


def test_a_pronoun_after_century_is_no_numeral():
    assert missing("It is the century I live in.", FactIndex.of(["Nothing."])) == ()
