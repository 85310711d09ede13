"""Patterns of one's own: whole words, and never more time than the text is long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.privacy.redaction.pattern import pattern


def finds(expression, text):
    return [text[start:end] for start, end in pattern(expression)(text)]


@pytest.mark.parametrize(
    ("expression", "text", "expected"),
    [
        (r"EMP-\d{4,8}", "EMP-1234, (EMP-56789) and id=EMP-0001.", ["EMP-1234", "EMP-56789", "EMP-0001"]),
        (r"EMP-\d{4,8}", "TEMP-1234, EMP-123 and EMP-123456789", []),
        (r"KD \d{3} \d{3}", "Customer KD 123 456 789", ["KD 123 456"]),
        (r"(?i)case [a-z]+ \d+", "in CASE Alpha 7 it", ["CASE Alpha 7"]),
        (r"#\d+", "ticket #77 and 77", ["#77"]),
        (r"\d{5}", "12345 123456", ["12345"]),
        (r"EMP-\d+", "员工EMP-123的", ["EMP-123"]),
        (r"[a-z]{3}\d|x", "abc1 x abc", ["abc1", "x"]),
    ],
)
def test_whole_words_are_found_and_parts_of_words_are_not(expression, text, expected):
    assert finds(expression, text) == expected


@given(st.lists(st.sampled_from(["EMP-1234", "word", "42", "EMP-", "\n"]), max_size=80), st.sampled_from([" ", ", "]))
def test_every_one_is_found_however_long_the_text(words, gap):
    assert finds(r"EMP-\d{4}", gap.join(words)) == [word for word in words if word == "EMP-1234"]


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("(", "is no regular expression"),
        (r"(?=a)b", "is no regular expression"),
        (r"(a)\1", "is no regular expression"),
        ("a)|(b", "is no regular expression"),
        (r"\d*", "matches an empty text"),
        ("^EMP", "whole words anyway"),
        ("EMP$", "whole words anyway"),
        ("a" * 501, "more than 500"),
    ],
)
def test_what_is_no_pattern_is_refused(expression, problem):
    with pytest.raises(ValueError, match=problem):
        pattern(expression)


@pytest.mark.parametrize("expression", [r"(a+)+b", r"(\w+ )+x", r"(a|aa)+c", r"[a-z ]{1,90}!x"])
@pytest.mark.parametrize("text", ["a" * 50_000, "a " * 25_000, "aa b " * 10_000])
def test_a_hostile_pattern_and_text_come_to_an_end(expression, text):
    assert all(end <= len(text) for _, end in pattern(expression)(text))
