from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.web.base.escape import decode_head, escape_invisible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain text, 日本語, é", "plain text, 日本語, é"),
        ("a\nb\tc", "a\nb\tc"),
        ("\x00\x1b[31m\x7f", "⟨U+0000⟩⟨U+001B⟩[31m⟨U+007F⟩"),
        ("abc\u202edef\u2066", "abc⟨U+202E⟩def⟨U+2066⟩"),
        ("\u200bzero\ufeff", "⟨U+200B⟩zero⟨U+FEFF⟩"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_invisible_characters_are_written_out(text, seen):
    assert escape_invisible(text) == seen


def test_invalid_utf_8_is_shown_as_escapes():
    assert decode_head(b"a\xff\xfe\xc3\xa9", 100) == ("a\\xff\\xfeé", 0)


def test_no_character_is_cut_in_two_at_the_end():
    assert decode_head("añb".encode(), 2) == ("a", 3)
    assert decode_head("añb".encode(), 3) == ("añ", 1)


def test_bytes_that_only_look_like_the_rest_of_a_character_are_not_all_left_out():
    assert decode_head(b"\x80" * 100, 50) == ("\\x80" * 47, 53)


@given(st.text(), st.integers(0, 50))
def test_the_beginning_is_a_beginning_and_nothing_is_lost(text, most):
    value = text.encode(errors="replace")
    shown, more = decode_head(value, most)
    assert text.encode(errors="replace").decode().startswith(shown)
    assert len(shown.encode()) + more == len(value)
    assert len(shown.encode()) <= most
