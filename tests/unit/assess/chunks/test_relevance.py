"""Relevance keeps within its limits whatever is asked. By hand: tests/golden/chunks/relevance.json."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.chunks.relevance import MOST_ASKED, Asked, asked, bm25, max_sim, relevances
from monitor.assess.embed.hashing import HashEmbedder
from tests.factories.assess.cuts import a_cut, hashed_cuts, tokens_of, vectors_of

ENCODER = HashEmbedder()
PARKING, DOGS = "Parking costs two euros per hour.", "Dogs stay outside."
HOSTILE = ["", " ", "?!", "\x00", "\ud800", "the", "x" * 5_000, "今天下雨。", "\u0301" * 500, "a\n" * 500]
texts = st.text(alphabet=st.sampled_from("aab é.\n?文\x00\ud800\u0301"), max_size=60) | st.sampled_from(HOSTILE)


def a_question(text) -> Asked:
    return asked(text, ENCODER.encode([text])[0], ENCODER.sentences([text])[0])


def scored(question, *documents):
    return relevances(a_question(question), hashed_cuts(*documents), ENCODER.encode(documents))


@given(texts, st.lists(texts, min_size=1, max_size=5))
def test_relevance_and_what_it_is_made_of_are_shares(question, documents):
    chunks = hashed_cuts(*documents)
    if chunks:
        for values in scored(question, *documents):
            assert values.shape == (len(chunks),)
            assert ((values >= 0) & (values <= 1)).all()


@given(texts.filter(str.strip))
def test_a_question_repeated_as_a_document_is_not_above_the_limit(text):
    for values in scored(text, text):
        assert values.max() <= 1


def test_the_chunk_that_answers_is_the_most_relevant_by_each_measure():
    for values in scored("How much does parking cost per hour?", DOGS, PARKING, "Children get in free."):
        assert values.argmax() == 1


@pytest.mark.parametrize("question", HOSTILE)
def test_any_question_can_be_asked(question):
    found = scored(question, PARKING, DOGS)
    assert np.isfinite(found.relevance).all()


def test_a_question_of_nothing_finds_nothing():
    assert scored("", PARKING, DOGS).relevance.tolist() == [0, 0]


@given(st.permutations([PARKING, DOGS, "Children get in free.", "Bicycles are free of charge."]))
def test_relevance_goes_with_the_chunk_and_not_with_its_place(documents):
    question = "Is parking free for bicycles?"
    found = dict(zip(documents, scored(question, *documents).relevance.tolist(), strict=True))
    again = dict(zip(documents[::-1], scored(question, *documents[::-1]).relevance.tolist(), strict=True))
    assert found == {text: pytest.approx(again[text], abs=1e-6) for text in documents}


def test_a_document_that_is_retrieved_twice_is_as_relevant_both_times():
    for values in scored("What does parking cost?", PARKING, DOGS, PARKING):
        assert values[0] == values[2]


def test_the_vector_of_a_question_has_length_one_or_is_zero():
    assert np.linalg.norm(a_question("One. Two. Three.").vector) == pytest.approx(1)
    assert not a_question("").vector.any()
    opposite = asked("", tokens_of([]), vectors_of([[1, 0], [-1, 0]]))
    assert opposite.vector.tolist() == [0, 0]


def test_max_sim_reads_the_tokens_of_the_chunk_s_own_document_and_place():
    documents = [f"{DOGS} {PARKING}", PARKING]
    question = ENCODER.encode(["Parking costs two euros per hour."])[0]
    spans = [(0, 0, len(DOGS)), (0, len(DOGS) + 1, len(documents[0])), (1, 0, len(PARKING))]
    chunks = [a_cut(document=number, start=start, end=end) for number, start, end in spans]
    dogs, late, alone = max_sim(question, chunks, ENCODER.encode(documents)).tolist()
    assert (late, alone) == (pytest.approx(1, abs=1e-3), pytest.approx(1, abs=1e-3))
    assert dogs < 0.5


def test_of_a_long_question_the_tokens_that_say_most_are_looked_for():
    said = [{"vector": [0, 1], "weight": 3}] * 5
    filler = [{"vector": [1, 0], "weight": 1}] * (2 * MOST_ASKED)
    document = tokens_of([{"vector": [0, 1], "start": 0, "end": 1}])
    (found,) = max_sim(tokens_of([*filler, *said]), [a_cut()], [document])
    assert found == pytest.approx(15 / (15 + MOST_ASKED - 5))
    (whole,) = max_sim(tokens_of([*filler[: MOST_ASKED - 5], *said]), [a_cut()], [document])
    assert whole == pytest.approx(found)


@given(st.lists(texts, max_size=4), st.lists(texts, min_size=1, max_size=3))
def test_bm25_is_the_same_whatever_the_order_and_the_number_of_repetitions_in_the_question(documents, asked_for):
    chunks = hashed_cuts(*documents)
    one = bm25(" ".join(asked_for), chunks)
    assert one.tolist() == bm25(" ".join(asked_for[::-1] * 3), chunks).tolist()


def test_a_chunk_with_a_word_of_the_question_is_above_one_without():
    without, once, twice = bm25("parking", [a_cut("dogs stay"), a_cut("parking stay"), a_cut("parking parking")])
    assert 0 == without < once < twice < 1


def test_without_chunks_there_are_no_scores():
    assert bm25("parking", []).shape == (0,)
    assert max_sim(ENCODER.encode(["parking"])[0], [], []).shape == (0,)
    assert max_sim(ENCODER.encode([""])[0], [], []).shape == (0,)
