"""Token vectors of MiniLM: offsets, weights, and equality of one pass with two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.assess.embed import minilm
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.tokens import surface_vectors

SENTENCE = "The quick brown fox jumps over the lazy dog. "  # ten tokens
UNKNOWN = "🙂", "🦊"


@pytest.fixture(scope="module")
def encoder(encoder_cache):
    return MiniLMEmbedder(cache_dir=encoder_cache, threads=1)


def pieces(encoder, text):
    (tokens,) = encoder.encode([text])
    return [text[start:end] for start, end in zip(tokens["start"], tokens["end"], strict=True)]


def weights(encoder, text):
    (tokens,) = encoder.encode([text])
    return dict(zip(pieces(encoder, text), tokens["weight"].tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Kept for 30 days.", ["Kept", "for", "30", "days", "."]),
        ("  Kept\n\tfor ", ["Kept", "for"]),
        ("Café Noël", ["Café", "Noël"]),
        ("a 🙂 b🦊c", ["a", "🙂", "b🦊c"]),
        ("保存30天。", ["保", "存", "30", "天", "。"]),
        ("unbelievably", ["un", "bel", "ie", "va", "bly"]),
        ("don't", ["don", "'", "t"]),
        ("x\ud800y z", ["x", "y", "z"]),
        ("", []),
        (" \n", []),
    ],
)
def test_tokens_stand_where_their_letters_do(encoder, text, expected):
    assert pieces(encoder, text) == expected


@pytest.mark.parametrize(
    "unit", ["The quick brown fox. ", "Café crème, s'il vous plaît! ", "🙂 ok ", "今天下雨了。明天", "word "]
)
def test_offsets_of_a_text_of_several_windows_are_its_own(encoder, unit):
    short = pieces(encoder, unit)
    assert pieces(encoder, unit * 200) == short * 200


def test_offsets_of_a_text_in_several_segments_are_its_own(encoder, monkeypatch):
    text = "Zwölf Boxkämpfer jagen Viktor. 🙂 今天。 " * 30
    whole = pieces(encoder, text)
    monkeypatch.setattr(minilm, "_SEGMENT_BYTES", 64)
    assert pieces(encoder, text) == whole


def test_a_texts_tokens_do_not_depend_on_those_beside_it(encoder):
    texts = [SENTENCE * 40, "", "Deleted snapshots are kept for 30 days.", "🙂"]
    for together, text in zip(encoder.encode(texts), texts, strict=True):
        (alone,) = encoder.encode([text])
        for name in ("start", "end", "weight"):
            np.testing.assert_array_equal(together[name], alone[name])
        np.testing.assert_allclose(together["vector"], alone["vector"], atol=2e-3)


def test_one_pass_gives_what_two_do(encoder):
    texts = ["Kept for 30 days.", "", SENTENCE * 60, "保存 🙂"]
    vectors, tokens, sentences = encoder.embed_and_encode(texts)
    np.testing.assert_allclose(vectors, encoder.embed(texts), atol=1e-6)
    for both, alone in zip(tokens, encoder.encode(texts), strict=True):
        np.testing.assert_array_equal(both, alone)
    for both, alone in zip(sentences, encoder.sentences(texts), strict=True):
        np.testing.assert_array_equal(both, alone)


def test_nothing_to_encode_takes_no_pass(encoder):
    vectors, tokens, sentences = encoder.embed_and_encode([])
    assert vectors.shape == (0, encoder.dimensions)
    assert tokens == []
    assert sentences == []


def test_words_outside_the_vocabulary_are_distinguished_by_their_letters(encoder):
    one, other = encoder.encode([f"{UNKNOWN[0]} kept {UNKNOWN[1]}", f"Something else entirely: {UNKNOWN[0]}"])
    expected = surface_vectors(UNKNOWN, 128)
    np.testing.assert_allclose(one["vector"][[0, -1]], expected, atol=1e-3)
    np.testing.assert_allclose(other["vector"][-1], expected[0], atol=1e-3)
    assert abs(expected[0] @ expected[1]) < 0.5


def test_the_same_word_in_a_like_context_is_nearer_than_another_word(encoder):
    one, other = encoder.encode(["Snapshots are kept for 30 days.", "Deleted snapshots are kept for thirty days."])
    cosines = one["vector"].astype(np.float32) @ other["vector"].astype(np.float32).T
    kept = [2, 3]  # "kept" in either
    assert cosines[tuple(kept)] == pytest.approx(cosines[kept[0]].max())
    assert cosines[tuple(kept)] > 0.8


def test_rare_words_tell_most_and_marks_nothing(encoder):
    told = weights(encoder, 'The retention of a disk: 30 days, "x" 7')
    assert told["The"] < told["days"] < told["retention"]
    assert [told[mark] for mark in (":", ",", '"', "x", "a", "7")] == [0] * 6
    assert told["30"] > 0


def test_letters_of_scripts_that_the_vocabulary_spells_all_tell_the_same(encoder):
    told = weights(encoder, "今天。นี่")
    assert told["。"] == 0
    assert {weight for piece, weight in told.items() if piece != "。"} == {2.0}


def test_unknown_signs_tell_nothing_and_unknown_words_something(encoder):
    told = weights(encoder, "🙂 ok ꙮꙮꙮ")
    assert told["🙂"] == 0
    assert told["ꙮꙮꙮ"] > 0


odd = st.text(st.sampled_from("aé\u0301 .\n0文。🙂ßİ\u200d\u00ad\x00\x1c\u2028\ud800ﬁก")) | st.text()


@settings(max_examples=50)
@given(odd)
def test_tokens_of_any_text_stand_in_it_in_order(encoder, text):
    (tokens,) = encoder.encode([text])
    assert (np.diff(tokens["start"]) >= 0).all()
    assert ((tokens["start"] < tokens["end"]) & (tokens["start"] >= 0) & (tokens["end"] <= len(text))).all()
    np.testing.assert_allclose(np.linalg.norm(tokens["vector"].astype(np.float32), axis=1), 1, atol=2e-3)
    assert (tokens["weight"] >= 0).all()
