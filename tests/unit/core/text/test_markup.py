from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.score.facts import facts
from monitor.core.text.markup import blank_markup, blank_spans, prose


@pytest.mark.parametrize(
    "text",
    [
        "It is so [1].",
        "It is so [2, 3][4–6].",
        "It is so (1).",
        "It is so.¹² And so.³",
        "It is so【1†source】.",
        "It is so[^7].",
        "1. It is so\n2) It is not\n  3. It is",
        "**1.** It is so",
        "It is: 1) so, 2) not so.",
        "It is so. 2. Then it is not.",
        "See https://example.org/2020/30 and www.example.org/7.",
        "See docs.example.org/v2/30 there.",
        "Mail team42@example.org for it.",
        "Run this:\n```\ntimeout = 30\n```\nthen wait.",
        "Set `timeout=30` there.",
        "It is so, says document 3 and passage ID 4.",
    ],
)
def test_marks_state_nothing(text):
    assert facts(text) == ()


def test_code_is_read_in_a_source():
    text = "Set `timeout=30` there."
    assert blank_markup(text, code=True) == text


@pytest.mark.parametrize("text", ["It costs (30 days) 5 m² of space.", "3. Mai 2020", "3.5 kg", "in 2020. Then"])
def test_lookalikes_of_marks_stay(text):
    assert blank_markup(text, code=False) == text


def test_offsets_stay():
    text = "First [1].\n2. then https://example.org/3 and 40 days"
    assert len(blank_markup(text, code=False)) == len(text)
    (fact,) = facts(text)
    assert text[fact.start : fact.end] == fact.text == "40 days"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Kept for **30 days**, _not_ `90`.", "Kept for   30 days  ,  not   90 ."),
        ("## Answer\n\nKept for 30 days.", "         \n\nKept for 30 days."),
        ("# Kept for 30 days\nThen purged.", "  Kept for 30 days\nThen purged."),  # a heading that states a figure
        ("- Kept for 30 days.\n- Then purged.", "  Kept for 30 days.\n  Then purged."),
        ("1. Kept for 30 days.\n2. Then purged.", "   Kept for 30 days.\n   Then purged."),
        ("Kept [1] for 30 days [2, 3].", "Kept     for 30 days       ."),
        ("Run this:\n```sh\ntool --days 30\n```\nDone.", "Run this:\n" + " " * 24 + "\nDone."),
        ("See https://example.com/a for more.", "See                       for more."),
        ("snake_case and 2 * 3 stay", "snake_case and 2   3 stay"),
        ("Plain words.", "Plain words."),
    ],
)
def test_prose_is_what_is_read_aloud(written, read):
    said = prose(written)
    assert len(said) == len(written)
    assert said.replace("\t", " ") == read


@pytest.mark.parametrize("text", ["```\ncode()\n```", "https://example.com", "***", "", "[1]"])
def test_all_of_a_text_is_read_if_nothing_would_remain(text):
    assert prose(text) == text


@given(st.text(alphabet="ab1 *_`#>-[]()\n.:/@~", max_size=80))
def test_prose_keeps_every_offset(text):
    said = prose(text)
    assert len(said) == len(text)
    assert all(a in {b, "\t", "\n"} for a, b in zip(said, text, strict=True))


def test_spans_are_overwritten():
    assert blank_spans("one two three", [(0, 3), (8, 13)]) == "\t\t\t two \t\t\t\t\t"
