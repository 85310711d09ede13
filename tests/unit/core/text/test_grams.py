from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.text.grams import gram_hashes

BASE = 0x100000001B3


def by_loops(text: str, length: int) -> list[int]:
    """The polynomial of each run's characters, one after the other."""
    found = []
    for start in range(len(text) - length + 1):
        value = 0
        for character in text[start : start + length]:
            value = (value * BASE + ord(character)) % 2**64
        found.append(value)
    return found


@given(st.text(max_size=40), st.integers(1, 13))
def test_each_run_has_its_polynomial(text, length):
    assert gram_hashes(text, length).tolist() == by_loops(text, length)


@pytest.mark.parametrize("length", [5, 8])
def test_a_text_of_one_run_has_one_hash(length):
    assert len(gram_hashes("x" * length, length)) == 1
    assert len(gram_hashes("x" * (length - 1), length)) == 0
