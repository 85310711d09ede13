"""Places in a text before and after something in it was replaced."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from monitor.privacy.redaction.spans import Finding, find_all, growth, moved, replaced


def finder(expression):
    return lambda text: (match.span() for match in re.finditer(expression, text))


def test_each_find_becomes_its_word():
    spans = find_all("a1 and b22", [("[n]", finder("[0-9]+"))])
    assert spans == [Finding(start=1, end=2, placeholder="[n]"), Finding(start=8, end=10, placeholder="[n]")]
    assert replaced("a1 and b22", spans) == "a[n] and b[n]"


def test_what_one_finder_has_found_the_next_does_not_see():
    assert replaced("12 3", find_all("12 3", [("[two]", finder("[0-9]{2}")), ("[n]", finder("[0-9]"))])) == "[two] [n]"


def test_finds_of_one_finder_that_overlap_are_one():
    both = [("[x]", lambda _: [(0, 3), (2, 5), (2, 4)])]
    assert find_all("abcdefg", both) == [Finding(start=0, end=5, placeholder="[x]")]


def test_a_place_inside_a_find_takes_in_the_whole_word():
    spans = [Finding(start=4, end=8, placeholder="[n]")]
    text = "tel 1234 now"
    assert replaced(text, spans)[slice(*moved(6, 12, spans, growth(spans)))] == "[n] now"
    assert replaced(text, spans)[slice(*moved(0, 6, spans, growth(spans)))] == "tel [n]"
    assert replaced(text, spans)[slice(*moved(5, 6, spans, growth(spans)))] == "[n]"


@given(st.text("ab1", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_a_piece_is_found_again_where_it_has_moved_to(text, one, other):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    spans = find_all(text, [("[number]", finder("1+"))])
    if any(span.start < place < span.end for span in spans for place in (start, end)):
        return
    assert replaced(text, spans)[slice(*moved(start, end, spans, growth(spans)))] == replaced(
        text[start:end], find_all(text[start:end], [("[number]", finder("1+"))])
    )
