"""Windows cover the text in order, keep to their size, and end where sentences do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed.windows import join_windows, text_windows, token_windows, unit, well_formed

# Letters, marks and spaces of one to four bytes, with many sentence ends.
TEXTS = st.text(st.sampled_from("abZ .!?\n\t0é。文🙂\u0301")) | st.text()


def tokens_of(text):
    """Every character that is not white space is a token."""
    return [(place, place + 1) for place, character in enumerate(text) if not character.isspace()]


@given(TEXTS.map(well_formed), st.integers(4, 40))
def test_text_windows_cover_the_text_in_order_and_keep_to_their_size(text, size):
    spans = list(text_windows(text, size))
    assert "".join(text[start:end] for start, end in spans) == text
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    assert max(len(text[start:end].encode()) for start, end in spans) <= size
    assert all(end > start for start, end in spans) or spans == [(0, 0)]


@given(st.lists(st.sampled_from(["One two. ", "Three! ", "四つ。", "Five six seven? "])), st.integers(20, 60))
def test_text_windows_end_where_sentences_do(sentences, size):
    text = "".join(sentences)
    ends = set(np.cumsum([0, *map(len, sentences)]).tolist())
    assert {end for _, end in text_windows(text, size)} <= ends


@pytest.mark.parametrize(
    ("text", "size", "windows"),
    [
        ("", 8, [""]),
        ("One. Two. Three.", 12, ["One. Two. ", "Three."]),
        ("a long sentence without an end", 10, ["a long ", "sentence ", "without ", "an end"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("🙂🙂🙂", 9, ["🙂🙂", "🙂"]),
        ("ab é", 4, ["ab ", "é"]),
        ("      x", 4, ["    ", "  x"]),
    ],
)
def test_text_windows_prefer_sentences_then_words(text, size, windows):
    assert [text[start:end] for start, end in text_windows(text, size)] == windows


def test_text_windows_refuse_a_size_that_some_characters_pass():
    with pytest.raises(ValueError, match="at least 4"):
        list(text_windows("a", 3))


@given(TEXTS, st.integers(1, 12))
def test_token_windows_cover_all_tokens_in_order_and_keep_to_their_size(text, size):
    tokens = tokens_of(text)
    spans = token_windows(text, tokens, size)
    assert [token for start, end in spans for token in tokens[start:end]] == tokens
    assert max(end - start for start, end in spans) <= size
    assert all(end > start for start, end in spans) or not tokens


@pytest.mark.parametrize(
    ("text", "size", "windows"),
    [
        ("", 4, [""]),
        ("abcd", 4, ["abcd"]),
        ("Ab cd. Ef gh. Ij kl.", 9, ["Abcd.", "Efgh.", "Ijkl."]),
        ("Ab cd. Ef gh. Ij kl.", 11, ["Abcd.Efgh.", "Ijkl."]),
        ("ab cde fg", 4, ["ab", "cde", "fg"]),
        ("abcdefg", 3, ["abc", "def", "g"]),
    ],
)
def test_token_windows_prefer_sentences_then_words(text, size, windows):
    tokens = tokens_of(text)
    found = [
        "".join(text[slice(*token)] for token in tokens[slice(*span)]) for span in token_windows(text, tokens, size)
    ]
    assert found == windows


@given(st.text(st.characters()) | st.text(st.sampled_from("a\ud800\udfff🙂é")))
def test_well_formed_texts_can_be_encoded_and_keep_their_offsets(text):
    mended = well_formed(text)
    assert mended.encode().decode() == mended
    assert len(mended) == len(text)
    assert all(b in {a, "\ufffd"} for a, b in zip(text, mended, strict=True))


def test_joined_windows_are_the_weighted_mean_rescaled():
    vectors = np.array([[1, 0], [0, 1], [3, 4]], np.float32)
    joined = join_windows(vectors, [0, 0, 1], [3, 4, 7], 2)
    np.testing.assert_allclose(joined, [[0.6, 0.8], [0.6, 0.8]], rtol=1e-6)
    assert joined.dtype == np.float32


def test_unit_rescales_rows():
    np.testing.assert_allclose(unit(np.array([[3, 4], [0, -2]], np.float32)), [[0.6, 0.8], [0, -1]], rtol=1e-6)
