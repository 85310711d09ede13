"""The cache of a token encoder gives the vectors of sentences from the pass that gave the tokens."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed.cache import CachedTokenEncoder
from monitor.assess.embed.hashing import HashEmbedder
from monitor.core.errors import Retriable
from tests.unit.assess.embed.test_cache import AMPLE, TOKEN_ENTRY, Joint, same_tokens


class Counting(Joint):
    """Counts the passes."""

    def __init__(self):
        super().__init__()
        self.passes = []

    def embed_and_encode(self, texts):
        self.passes.append(list(texts))
        return super().embed_and_encode(texts)

    def sentences(self, texts):
        raise AssertionError("a pass of its own")


def same_sentences(found, texts):
    return all(np.array_equal(a, b) for a, b in zip(found, HashEmbedder().sentences(texts), strict=True))


@pytest.mark.parametrize("max_bytes", [0, TOKEN_ENTRY, AMPLE])
def test_sentences_of_what_was_encoded_cost_no_second_pass_whatever_the_room(max_bytes):
    inner = Counting()
    cached = CachedTokenEncoder(inner, max_bytes)
    texts = ["a b. C d.", "e", "a b. C d."]
    assert same_tokens(cached.encode(texts), texts)
    assert same_sentences(cached.sentences(texts[::-1]), texts[::-1])
    assert same_sentences(cached.sentences(["e"]), ["e"])
    assert inner.passes == [["a b. C d.", "e"]]


def test_sentences_can_be_asked_for_first():
    inner = Counting()
    cached = CachedTokenEncoder(inner, AMPLE)
    assert same_sentences(cached.sentences(["a", "b"]), ["a", "b"])
    assert same_tokens(cached.encode(["b", "a"]), ["b", "a"])
    assert inner.passes == [["a", "b"]]


def test_sentences_of_other_texts_than_the_latest_come_from_the_cache():
    inner = Counting()
    cached = CachedTokenEncoder(inner, AMPLE)
    cached.encode(["a"])
    cached.encode(["b"])
    assert same_sentences(cached.sentences(["a", "b", "c"]), ["a", "b", "c"])
    assert inner.passes == [["a"], ["b"], ["c"]]


def test_only_what_is_missing_is_computed():
    inner = Counting()
    cached = CachedTokenEncoder(inner, AMPLE)
    cached.encode(["a"])
    assert same_tokens(cached.encode(["b", "a"]), ["b", "a"])
    assert same_sentences(cached.sentences(["b", "a"]), ["b", "a"])
    assert inner.passes == [["a"], ["b"]]


@given(
    st.lists(st.tuples(st.booleans(), st.lists(st.sampled_from(["", "a", "B c. D e.", "f. G", "h"])))),
    st.integers(0, 3 * TOKEN_ENTRY),
)
def test_sentences_are_the_inner_ones_in_any_sequence_of_calls(calls, max_bytes):
    cached = CachedTokenEncoder(Joint(), max_bytes)
    for of_sentences, texts in calls:
        if of_sentences:
            assert same_sentences(cached.sentences(texts), texts)
        else:
            assert same_tokens(cached.encode(texts), texts)


def test_after_a_failure_the_sentences_are_asked_for_again():
    class Failing(Joint):
        def embed_and_encode(self, texts):
            if "bad" in texts and not self.embedded:
                self.embedded.append("failed")
                raise Retriable("busy")
            return super().embed_and_encode(texts)

    cached = CachedTokenEncoder(Failing(), 0)
    cached.encode(["a"])
    with pytest.raises(Retriable):
        cached.encode(["bad"])
    assert same_sentences(cached.sentences(["bad"]), ["bad"])
