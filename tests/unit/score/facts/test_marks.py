from __future__ import annotations

import pytest

from monitor.score.facts import facts
from monitor.score.facts.marks import blank


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
    assert blank(text, code=True) == text


@pytest.mark.parametrize("text", ["It costs (30 days) 5 m² of space.", "3. Mai 2020", "3.5 kg", "in 2020. Then"])
def test_what_only_looks_like_a_mark_stays(text):
    assert blank(text, code=False) == text


def test_offsets_stay():
    text = "First [1].\n2. then https://example.org/3 and 40 days"
    assert len(blank(text, code=False)) == len(text)
    (fact,) = facts(text)
    assert text[fact.start : fact.end] == fact.text == "40 days"
