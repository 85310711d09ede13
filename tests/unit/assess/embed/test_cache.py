from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed.cache import ArrayCache, CachedEmbedder, CachedTokenEncoder, content_key
from monitor.assess.embed.hashing import HashEmbedder
from monitor.core.errors import Retriable

ENTRY = 64 * 4 + ArrayCache.overhead
AMPLE = 100 * ENTRY


class Recording(HashEmbedder):
    """Records the texts that it was asked for."""

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        self.asked.extend(texts)
        return super().embed(texts)


class Faltering(Recording):
    """Takes three texts per request and fails after `patience` requests."""

    def __init__(self, patience):
        super().__init__()
        self.patience = patience

    def pieces(self, texts):
        for start in range(0, len(texts), 3):
            if not self.patience:
                raise Retriable("busy")
            self.patience -= 1
            part = texts[start : start + 3]
            yield range(start, start + len(part)), super().embed(part)


def test_a_text_is_asked_for_once():
    inner = Recording()
    cached = CachedEmbedder(inner, AMPLE)
    cached.embed(["a", "b", "a"])
    cached.embed(["c", "b", "a", "c"])
    assert inner.asked == ["a", "b", "c"]
    assert (cached.hits, cached.misses) == (4, 3)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"))), st.integers(0, 5))
def test_vectors_are_the_inner_ones_in_order_however_small_the_cache(calls, entries):
    cached = CachedEmbedder(Recording(), entries * ENTRY)
    for texts in calls:
        np.testing.assert_array_equal(cached.embed(texts), HashEmbedder().embed(texts))
        assert cached.nbytes <= entries * ENTRY
    assert cached.hits + cached.misses == sum(map(len, calls))


def test_without_memory_repetitions_within_a_call_are_still_asked_once():
    inner = Recording()
    cached = CachedEmbedder(inner, 0)
    cached.embed(["a", "a"])
    cached.embed(["a"])
    assert inner.asked == ["a", "a"]
    assert cached.nbytes == 0


def test_finished_pieces_are_not_asked_for_again():
    inner = Faltering(patience=2)
    cached = CachedEmbedder(inner, AMPLE)
    texts = list("abcdefghi")
    with pytest.raises(Retriable):
        cached.embed(texts)
    inner.patience = 9
    np.testing.assert_array_equal(cached.embed(texts), HashEmbedder().embed(texts))
    assert inner.asked == texts


def test_name_and_dimensions_are_the_inner_ones():
    cached = CachedEmbedder(HashEmbedder(), 0)
    assert (cached.model, cached.dimensions) == ("hash/64", 64)


def test_content_key_is_the_sha256_of_the_text():
    assert content_key("é") == hashlib.sha256("é".encode()).digest()
    assert content_key("\ud800") != content_key("\ufffd")


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.integers(0, 300))),
    st.integers(0, 5 * (1200 + ArrayCache.overhead)),
)
def test_array_cache_keeps_the_most_recently_used_within_its_bytes(steps, max_bytes):
    cache, expected = ArrayCache(max_bytes), {}
    for put, number, length in steps:
        key = content_key(str(number))
        if put:
            expected.pop(key, None)
            cache.put(key, np.full(length, number, np.float32))
            if 4 * length + cache.overhead <= max_bytes:
                expected[key] = length
            while sum(4 * n + cache.overhead for n in expected.values()) > max_bytes:
                del expected[next(iter(expected))]
        else:
            found = cache.get(key)
            assert (None if found is None else found.tolist()) == (
                [number] * expected[key] if key in expected else None
            )
            if key in expected:
                expected[key] = expected.pop(key)
        assert len(cache) == len(expected)
        assert cache.nbytes == sum(4 * n + cache.overhead for n in expected.values()) <= max_bytes


def test_array_cache_keeps_a_copy():
    cache = ArrayCache(AMPLE)
    batch = np.ones((1000, 4), np.float32)
    cache.put(b"k" * 32, batch[0])
    batch[:] = 0
    kept = cache.get(b"k" * 32)
    assert kept.tolist() == [1, 1, 1, 1]
    assert kept.base is None


class RecordingEncoder(HashEmbedder):
    """Records the texts that it was asked for; each word is a token of 140 bytes."""

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        self.asked.extend(texts)
        return super().encode(texts)


class Joint(RecordingEncoder):
    """Computes both kinds of vectors in one pass; records the texts that were only embedded."""

    def __init__(self):
        super().__init__()
        self.embedded = []

    def embed(self, texts):
        self.embedded.extend(texts)
        return super().embed(texts)

    def embed_and_encode(self, texts):
        return HashEmbedder.embed(self, texts), self.encode(texts), HashEmbedder().sentences(texts)


def same_tokens(found, texts):
    return all(np.array_equal(a, b) for a, b in zip(found, HashEmbedder().encode(texts), strict=True))


TOKEN_ENTRY = 64 * 2 + 12 + 64 * 2 + 2 * ArrayCache.overhead  # a token, and a sentence


def test_a_text_is_encoded_once():
    inner = RecordingEncoder()
    cached = CachedTokenEncoder(inner, AMPLE)
    cached.encode(["a", "b", "a"])
    cached.encode(["c", "b", "a", "c"])
    assert inner.asked == ["a", "b", "c"]
    assert cached.token_model == inner.token_model
    assert cached.encode([]) == []
    assert inner.asked == ["a", "b", "c"]


@given(st.lists(st.lists(st.sampled_from(["", "a", "b c", "d", "e e e"]))), st.integers(0, 4))
def test_tokens_are_the_inner_ones_in_order_however_small_the_cache(calls, entries):
    cached = CachedTokenEncoder(RecordingEncoder(), entries * TOKEN_ENTRY)
    for texts in calls:
        assert same_tokens(cached.encode(texts), texts)


def test_tokens_are_dropped_least_recently_used_first():
    inner = RecordingEncoder()
    cached = CachedTokenEncoder(inner, 2 * TOKEN_ENTRY)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.encode([text])
    assert inner.asked == ["a", "b", "c", "b"]


def test_the_sentence_vectors_of_the_same_pass_are_handed_to_the_embedder():
    inner = Joint()
    embedder = CachedEmbedder(inner, AMPLE)
    encoder = CachedTokenEncoder(inner, AMPLE, embedder=embedder)
    assert same_tokens(encoder.encode(["a", "b c"]), ["a", "b c"])
    np.testing.assert_array_equal(embedder.embed(["b c", "a"]), HashEmbedder().embed(["b c", "a"]))
    assert (inner.asked, inner.embedded) == (["a", "b c"], [])
    assert (embedder.hits, embedder.misses) == (2, 0)


@pytest.mark.parametrize("inner", [RecordingEncoder, Joint])
def test_without_a_common_pass_the_embedder_is_left_alone(inner):
    encoder, embedder = inner(), CachedEmbedder(inner(), AMPLE)
    beside = embedder if inner is RecordingEncoder else None
    CachedTokenEncoder(encoder, AMPLE, embedder=beside).encode(["a"])
    assert encoder.asked == ["a"]
    assert embedder.nbytes == 0


def test_failures_are_not_cached():
    class Failing(RecordingEncoder):
        def encode(self, texts):
            if not self.asked:
                self.asked.append("failed")
                raise Retriable("busy")
            return super().encode(texts)

    cached = CachedTokenEncoder(Failing(), AMPLE)
    with pytest.raises(Retriable):
        cached.encode(["a"])
    assert same_tokens(cached.encode(["a"]), ["a"])
