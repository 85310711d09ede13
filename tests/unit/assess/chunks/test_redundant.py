"""Chunks that say again what an earlier one says. By hand: tests/golden/chunks/redundant.json."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.chunks import segment
from monitor.assess.chunks.redundant import ALIKE, NOT_UNLIKE, VERBATIM, repetitions, tfidf
from monitor.assess.chunks.segment import cut_documents
from monitor.assess.embed.hashing import HashEmbedder
from tests.factories.assess.cuts import a_cut, hashed_cuts

POOL = (
    "Parking costs 2 euros per hour.",
    "Parking costs 3 euros per hour.",
    "Dogs stay outside.",
    "Dogs stay outside, please.",
    "Opening hours\nThe museum opens at ten.",
    "---",
    "今天下雨。",
    "Children under twelve get in free.",
)
sentence = st.sampled_from(POOL)
documents = st.lists(sentence, min_size=1, max_size=8).map(" ".join)
word_counts = st.dictionaries(st.sampled_from("abcd"), st.integers(1, 3), max_size=4)
angles = st.sampled_from([0, 10, 20, 40, 90, 180])
cuts = st.lists(
    st.builds(
        lambda words, angle, numbers: a_cut(
            vector=(np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))), words=Counter(words), numbers=numbers
        ),
        word_counts,
        angles,
        st.frozensets(st.sampled_from("12"), max_size=2),
    ),
    max_size=8,
)


@given(documents, st.lists(documents, max_size=3), st.sampled_from([-1.0, 0.0, 0.3, 0.7, 0.9, 1.0]))
def test_a_document_that_is_retrieved_twice_is_redundant_the_second_time_whatever_theta(text, between, theta):
    texts = [text, *between, text]
    vectors = HashEmbedder().sentences(texts)
    found = cut_at(theta, texts, vectors)
    repeated = repetitions(found)
    first = [at for at, chunk in enumerate(found) if chunk.document == 0]
    last = [at for at, chunk in enumerate(found) if chunk.document == len(texts) - 1]
    assert len(first) == len(last)
    for copy, at in zip(last, first, strict=True):
        assert repeated[copy] is not None
        assert repeated[copy].chunk <= at  # the same chunk, or one that is as much like it
        assert repeated[copy].verbatim == 1 or not found[copy].words
        if not between and all(repeated[other] is None for other in first):
            assert found[repeated[copy].chunk].document == 0


def cut_at(theta, texts, vectors):
    """The chunks of the documents, cut at another theta than the shipped one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(segment.segment.__kwdefaults__, "theta", theta)
        segment._cut_again.cache_clear()
        try:
            return cut_documents(texts, vectors)
        finally:
            segment._cut_again.cache_clear()


def test_theta_is_what_the_documents_are_cut_at():
    texts = ["Parking costs 2 euros per hour. Dogs stay outside, please."]
    vectors = HashEmbedder().sentences(texts)
    assert [len(cut_at(theta, texts, vectors)) for theta in (-1.0, 1.0)] == [1, 2]


@given(cuts)
def test_a_redundant_chunk_repeats_an_earlier_one_that_is_not(chunks):
    found = repetitions(chunks)
    assert len(found) == len(chunks)
    for at, repeated in enumerate(found):
        if repeated is not None:
            earlier = chunks[repeated.chunk]
            assert repeated.chunk < at
            assert found[repeated.chunk] is None
            assert repeated.verbatim < VERBATIM  # these chunks have no sentences
            assert chunks[at].numbers <= earlier.numbers
            assert max(repeated.cosine, repeated.tfidf) > ALIKE
            assert min(repeated.cosine, repeated.tfidf) > NOT_UNLIKE


@given(cuts)
def test_a_chunk_that_repeats_none_is_unlike_all_earlier_ones_that_do_not(chunks):
    found, words = repetitions(chunks), tfidf(chunks)
    for at, chunk in enumerate(chunks):
        if found[at] is None:
            for before in range(at):
                cosine = float(np.clip(chunk.vector @ chunks[before].vector, -1, 1))
                alike = max(cosine, words[at, before]) > ALIKE + 1e-6
                near = min(cosine, words[at, before]) > NOT_UNLIKE + 1e-6
                new = not chunk.numbers <= chunks[before].numbers
                assert not (alike and near) or new or found[before] is not None


@given(st.permutations(range(6)))
def test_the_order_of_unrelated_chunks_changes_nothing(order):
    unrelated = [a_cut(f"word{number}", np.eye(8)[number]) for number in range(6)]
    pair = [a_cut("parking is free", np.eye(8)[6]), a_cut("parking is free", np.eye(8)[6])]
    expected = repetitions([*unrelated, *pair])
    found = repetitions([*(unrelated[number] for number in order), *pair])
    assert [repeated and repeated.chunk for repeated in found] == [*[None] * 7, 6]
    assert found[-1].tfidf == pytest.approx(expected[-1].tfidf)
    assert found[-1].cosine == pytest.approx(expected[-1].cosine)


@given(cuts)
def test_tfidf_is_a_cosine(chunks):
    found = tfidf(chunks)
    assert found.shape == (len(chunks), len(chunks))
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found, found.T)
    np.testing.assert_array_equal(np.diag(found), 1)
    for one, two in chain.from_iterable(((a, b) for b in range(a)) for a in range(len(chunks))):
        if not chunks[one].words.keys() & chunks[two].words.keys():
            assert found[one, two] == (not chunks[one].words and not chunks[two].words)
        if chunks[one].words == chunks[two].words:
            assert found[one, two] == pytest.approx(1)


def test_no_chunks_repeat_nothing():
    assert repetitions([]) == []
    assert repetitions(hashed_cuts("", " ")) == []


def test_chunks_without_tokens_repeat_nothing():
    assert repetitions([a_cut(vector=(0, 0)), a_cut(vector=(0, 0))]) == [None, None]


def test_the_rows_of_a_price_list_do_not_repeat_each_other():
    found = repetitions(hashed_cuts(*(f"Parking in zone A costs {price} euros per hour." for price in (2, 3, 4, 2))))
    assert [repeated and repeated.chunk for repeated in found] == [None, None, None, 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Call 0301234567 for returns.", "Call 0301234999 for returns."),
        ("The internal limit of a parcel is high.", "The international limit of a parcel is high."),
    ],
)
def test_words_that_begin_alike_are_not_the_same_words(one, other):
    assert [repeated and repeated.verbatim for repeated in repetitions(hashed_cuts(one, one, other))][1] == 1
    last = repetitions(hashed_cuts(one, one, other))[2]
    assert last is None or last.verbatim == 0


def test_what_is_cut_elsewhere_is_found_word_for_word_whatever_its_case_and_marks():
    one, two, three = "Parking costs 2 euros.", "Dogs stay outside, please.", "Children under twelve get in free."
    found = repetitions(hashed_cuts(one, two, three, f"{two.upper()} {three}"))
    assert {repeated.verbatim for repeated in found[3:]} == {1}


def test_a_new_number_among_sentences_that_stand_earlier_makes_it_no_repetition():
    known = "The plan includes parking. The plan includes a tour. The plan covers two adults. It is sold online."
    texts = [known, f"{known} It costs 49 euros.", f"{known} It costs a lot."]
    cuts = cut_at(-1.0, texts, HashEmbedder().sentences(texts))
    assert [repeated and repeated.chunk for repeated in repetitions(cuts)] == [None, None, 0]


@given(documents, documents)
def test_the_share_that_is_held_word_for_word_is_a_share(one, two):
    for repeated in repetitions(hashed_cuts(one, two)):
        assert repeated is None or 0 <= repeated.verbatim <= 1
