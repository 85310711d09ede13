"""The promise of every token encoder: one array per text with unit vectors and offsets, for any text."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.assess.embed.cache import CachedEmbedder, CachedTokenEncoder
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.sentences import LONGEST, sentences_of
from monitor.assess.embed.tokens import token_type
from monitor.assess.ports import TokenEncoder
from tests.contract.test_embedder import LONG
from tests.contract.test_embedder import ODDITIES as EMBEDDED_ODDITIES

MIB = 2**20

TEXTS = [
    "What is the retention period of deleted snapshots?",
    "Deleted snapshots are kept for 30 days.",
    "Invoices are sent by mail.",
    "A longer text. " * 40,
    "Yes, you can.",
]
THREE = "Deleted snapshots are kept for 30 days.\n\nInvoices are sent by mail. Yes, you can."
ODDITIES = [*EMBEDDED_ODDITIES, "\x1c\u2028", "ข้อมูลที่ถูกลบ", "[UNK]", "...!?"]


@pytest.fixture(scope="module")
def minilm(encoder_cache) -> MiniLMEmbedder:
    return MiniLMEmbedder(cache_dir=encoder_cache)


@pytest.fixture(
    params=["hash", "minilm", "cached hash", "cached minilm", "cached minilm beside an embedder", "no room"]
)
def encoder(request) -> TokenEncoder:
    inner = request.getfixturevalue("minilm") if "minilm" in request.param else HashEmbedder()
    if request.param == "no room":
        return CachedTokenEncoder(inner, 0)
    if "beside" in request.param:
        return CachedTokenEncoder(inner, MIB, embedder=CachedEmbedder(inner, MIB))
    return CachedTokenEncoder(inner, MIB) if "cached" in request.param else inner


def check(tokens, text):
    """A structured array of tokens that stand in `text`, in order."""
    dimensions = tokens["vector"].shape[1]
    assert tokens.dtype == token_type(dimensions)
    assert tokens.shape == (len(tokens),)
    np.testing.assert_allclose(np.linalg.norm(tokens["vector"].astype(np.float32), axis=1), 1, atol=2e-3)
    assert (np.diff(tokens["start"]) >= 0).all()
    assert ((tokens["start"] >= 0) & (tokens["start"] < tokens["end"]) & (tokens["end"] <= len(text))).all()
    assert (np.isfinite(tokens["weight"]) & (tokens["weight"] >= 0)).all()


def same(one, other):
    for name in ("start", "end", "weight"):
        np.testing.assert_array_equal(one[name], other[name])
    np.testing.assert_allclose(one["vector"].astype(np.float32), other["vector"].astype(np.float32), atol=2e-3)


def test_is_a_token_encoder(encoder):
    assert isinstance(encoder, TokenEncoder)
    assert encoder.token_model


def test_gives_tokens_for_each_text_in_order(encoder):
    found = encoder.encode(TEXTS)
    assert len(found) == len(TEXTS)
    for tokens, text in zip(found, TEXTS, strict=True):
        check(tokens, text)
        spans = zip(tokens["start"], tokens["end"], strict=True)
        words = "".join(text[start:end] for start, end in spans)
        assert "".join(filter(str.isalnum, words)) == "".join(filter(str.isalnum, text))


def test_gives_nothing_for_no_texts(encoder):
    assert encoder.encode([]) == []


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_an_empty_text_has_no_tokens(encoder, text):
    (tokens,) = encoder.encode([text])
    assert len(tokens) == 0
    check(tokens, text)


def test_all_vectors_are_of_one_length(encoder):
    assert len({tokens.dtype for tokens in encoder.encode(TEXTS + ODDITIES)}) == 1


def test_takes_any_text(encoder):
    found = encoder.encode(ODDITIES)
    assert len(found) == len(ODDITIES)
    for tokens, text in zip(found, ODDITIES, strict=True):
        check(tokens, text)


def test_gives_the_same_tokens_again(encoder):
    for one, other in zip(encoder.encode(TEXTS), encoder.encode(TEXTS), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_batch_agrees_with_its_texts_alone(encoder):
    texts = TEXTS + ODDITIES
    alone = [encoder.encode([text])[0] for text in texts]
    for one, other in zip(encoder.encode(texts[::-1])[::-1], alone, strict=True):
        same(one, other)


def test_gives_repeated_texts_the_same_tokens(encoder):
    found = encoder.encode([TEXTS[0], TEXTS[1], TEXTS[0]])
    same(found[0], found[2])
    assert len(found[0]) != len(found[1]) or np.abs(found[0]["vector"] - found[1]["vector"]).max() > 0.01


@pytest.mark.parametrize("kind", LONG)
def test_takes_a_very_long_text_among_short_ones(encoder, kind):
    one, long, two = encoder.encode([TEXTS[0], LONG[kind], TEXTS[1]])
    check(long, LONG[kind])
    for tokens, text in ((one, TEXTS[0]), (two, TEXTS[1])):
        same(tokens, encoder.encode([text])[0])


def test_reads_a_long_text_to_its_end(encoder):
    text = LONG["sentences"] + "payments"
    (tokens,) = encoder.encode([text])
    assert tokens["end"][-1] == len(text)
    assert text[tokens["start"][-2] : tokens["end"][-2]] in {".", "dog"}


def test_a_telling_word_weighs_more_than_a_common_one_and_marks_nothing(encoder):
    text = "a payment - at home!"
    (tokens,) = encoder.encode([text])
    words = [text[start:end] for start, end in zip(tokens["start"], tokens["end"], strict=True)]
    weights = dict(zip(words, tokens["weight"].tolist(), strict=True))
    assert weights["payment"] > weights["at"]
    assert weights.get("-", 0) == weights.get("!", 0) == 0


def check_sentences(vectors, text):
    """A row for each sentence of `text`: of length 1, or zero where the sentence has no token."""
    assert (vectors.dtype, vectors.ndim, len(vectors)) == (np.float16, 2, len(sentences_of(text)))
    lengths = np.linalg.norm(vectors.astype(np.float32), axis=1)
    np.testing.assert_allclose(lengths[vectors.any(axis=1)], 1, atol=2e-3)


def nearly(one, other):
    np.testing.assert_allclose(one.astype(np.float32), other.astype(np.float32), atol=2e-3)


def test_gives_a_vector_for_each_sentence_of_each_text_in_order(encoder):
    found = encoder.sentences([*TEXTS, THREE, *ODDITIES])
    for vectors, text in zip(found, [*TEXTS, THREE, *ODDITIES], strict=True):
        check_sentences(vectors, text)
    assert len({vectors.shape[1] for vectors in found}) == 1
    assert [len(vectors) for vectors in found[: len(TEXTS) + 1]] == [1, 1, 1, 40, 1, 3]
    assert all(vectors.any(axis=1).all() for vectors in found[: len(TEXTS) + 1])


def test_gives_no_sentences_for_no_texts(encoder):
    assert encoder.sentences([]) == []


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_an_empty_text_has_no_sentences(encoder, text):
    (vectors,) = encoder.sentences([text])
    assert vectors.shape == (0, encoder.sentences(["One."])[0].shape[1])


def test_gives_the_same_sentences_before_and_after_the_tokens(encoder):
    before = encoder.sentences(TEXTS)
    encoder.encode(TEXTS[:2])
    for one, other in zip(before, encoder.sentences(TEXTS), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_sentences_of_a_batch_are_those_of_its_texts_alone(encoder):
    texts = [THREE, *TEXTS, *ODDITIES]
    encoder.encode(texts)
    for text, together in zip(texts[::-1], encoder.sentences(texts[::-1]), strict=True):
        nearly(together, encoder.sentences([text])[0])


def test_gives_repeated_texts_the_same_sentences(encoder):
    one, two, three = encoder.sentences([THREE, TEXTS[2], THREE])
    np.testing.assert_array_equal(one, three)
    assert len(two) == 1


def test_a_sentence_is_most_like_itself_alone(encoder):
    own = encoder.sentences([THREE])[0].astype(np.float32)
    alone = np.concatenate(encoder.sentences([THREE[slice(*span)] for span in sentences_of(THREE)]))
    cosines = own @ alone.astype(np.float32).T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", ["sentences", "one word"])
def test_takes_the_sentences_of_a_very_long_text_among_short_ones(encoder, kind):
    one, long, two = encoder.sentences([TEXTS[0], LONG[kind], TEXTS[1]])
    check_sentences(long, LONG[kind])
    nearly(one, encoder.sentences([TEXTS[0]])[0])
    nearly(two, encoder.sentences([TEXTS[1]])[0])


def test_the_pieces_of_a_long_sentence_each_have_a_vector(encoder):
    (vectors,) = encoder.sentences(["fox " * LONGEST])
    assert len(vectors) >= 4
    assert vectors.any(axis=1).all()
