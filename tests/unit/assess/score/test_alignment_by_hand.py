"""Alignment of small matrices worked out by hand, of missing texts and of real sentences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.score.alignment import Passage, Source, align
from monitor.core.text.sentences import sentence_spans
from tests.factories.assess.alignment import CLOSE, found, text_of

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def test_an_exact_copy_has_full_support():
    (got,) = found(text_of([X, Y, Z], [3]), [text_of([Z, X, Y, Z, Y], [1, 3, 1])])
    assert got.support == pytest.approx(0, abs=CLOSE)
    assert got.score == pytest.approx(1, abs=CLOSE)
    assert got.passage == Passage(document=0, start=1, end=4)


def test_words_found_in_another_order_have_less_support_than_in_theirs():
    (ordered,) = found(text_of([X, Y, Z], [3]), [text_of([X, Y, Z], [3])])
    (scattered,) = found(text_of([X, Y, Z], [3]), [text_of([Z, Z, Y, Y, X, X], [6])])
    assert ordered.support == pytest.approx(0, abs=CLOSE)
    assert scattered.support == pytest.approx(-1 / 54, abs=CLOSE)  # g is 2/3 for one of three
    assert scattered.score == pytest.approx(ordered.score, abs=CLOSE)


def test_a_token_that_tells_nothing_takes_nothing_away():
    (got,) = found(text_of([X, Y], [2], [5, 0]), [text_of([X], [1])])
    (alone,) = found(text_of([X], [1], [5]), [text_of([X], [1])])
    assert got.score == pytest.approx(alone.score, abs=CLOSE)
    assert (got.weight, got.rare) == (5, 1)


def test_a_sentence_in_which_nothing_tells_is_read_by_all_its_tokens():
    one, other = found(text_of([X, Y, Z], [2, 1], [0, 0, 3]), [text_of([X], [1])])
    assert one.weight == 2
    assert one.rare == 0
    assert one.score == pytest.approx(0.5, abs=CLOSE)
    assert other.weight == 3


def test_two_neighbouring_passages_are_taken_when_they_hold_clearly_more():
    answer = text_of([X, Y], [2])
    (got,) = found(answer, [text_of([X, Y, Z], [1, 1, 1])])
    assert got.passage == Passage(document=0, start=0, end=2)
    assert got.score == pytest.approx(1, abs=CLOSE)


def test_a_pair_that_is_hardly_better_is_not_taken():
    near = (1, 0, math.sqrt(1 / 0.99**2 - 1))  # its cosine with X is .99, so the pair's mean rises by .005
    (got,) = found(text_of([X, Y], [2]), [text_of([near, Y, X], [2, 1])])
    assert got.passage == Passage(document=0, start=0, end=2)
    assert got.score == pytest.approx(0.995, abs=1e-3)


def test_passages_of_two_documents_are_no_pair_and_hide_none():
    answer = text_of([X, Y, Z], [3])
    # Across the documents Y and X, Z would be the best pair; within the second, X, Z and W are.
    (got,) = found(answer, [text_of([Y], [1]), text_of([(1, 0, 1), X, Z], [1, 1, 1])])
    assert got.passage == Passage(document=1, start=1, end=3)
    assert got.score == pytest.approx(2 / 3, abs=CLOSE)


def test_a_passage_names_its_document():
    answer = text_of([X, Z], [1, 1])
    one, other = found(answer, [text_of([Y], [1]), text_of([X], [1]), text_of([Y, Z], [1, 1])])
    assert one.passage == Passage(document=1, start=0, end=1)
    assert other.passage == Passage(document=2, start=1, end=2)


NOTHING = text_of(np.ones((0, 3)), [])


@pytest.mark.parametrize("documents", [[], [NOTHING], [NOTHING, NOTHING]])
def test_without_a_token_in_any_document_nothing_is_aligned(documents):
    assert found(text_of([X, Y], [1, 1]), documents) == [None, None]


def test_documents_without_tokens_change_nothing_but_the_numbers():
    answer, document = text_of([X, Y], [1, 1]), text_of([X, Z], [1, 1])
    alone = found(answer, [document])
    among = found(answer, [NOTHING, document, NOTHING])
    assert [a.passage.document for a in among] == [1, 1]
    assert [(a.support, a.score) for a in among] == [(a.support, a.score) for a in alone]


def test_an_answer_without_tokens_or_sentences_is_not_aligned():
    document = text_of([X], [1])
    assert found(NOTHING, [document]) == []
    assert align(NOTHING.tokens, [(0, 3)], [document.tokens], [document.spans]) == [None]
    assert align(document.tokens, [], [document.tokens], [document.spans]) == []


def test_a_source_serves_several_texts():
    document, texts = text_of([X, Y, Z], [2, 1]), [text_of([X], [1]), text_of([Z, Y], [1, 1])]
    source = Source.of([document.tokens], [document.spans])
    for text in texts:
        assert source.align(text.tokens, text.spans) == found(text, [document])


def read(answer, *documents):
    encoder = HashEmbedder()
    (tokens,) = encoder.encode([answer])
    return align(tokens, sentence_spans(answer), encoder.encode(documents), [sentence_spans(d) for d in documents])


def test_a_sentence_finds_the_one_that_says_it():
    first, second = "Deleted snapshots are kept for 30 days.", "Invoices are sent by mail."
    document = f"The console lists volumes. {second} {first}"
    one, other = read(f"{first} {second}", "Nothing of the kind.", document)
    for got, text in ((one, first), (other, second)):
        assert document[got.passage.start : got.passage.end] == text
        assert got.passage.document == 1
        assert got.score == pytest.approx(1, abs=CLOSE)


@pytest.mark.parametrize("answer", ["...", "?! …", "()", " . ", "🙂"])
def test_an_answer_of_marks_only_has_no_alignment(answer):
    assert set(read(answer, "Kept for 30 days.")) <= {None}


words = st.text(st.sampled_from("ab. A!\n文。🙂…-1"), max_size=30)


@given(words, st.lists(words, max_size=3))
def test_every_sentence_of_any_text_is_aligned_or_has_no_tokens(answer, documents):
    encoder = HashEmbedder()
    (tokens,) = encoder.encode([answer])
    held = any(len(document) for document in encoder.encode(documents))
    for (start, end), got in zip(sentence_spans(answer), read(answer, *documents), strict=True):
        told = ((tokens["start"] >= start) & (tokens["start"] < end)).any()
        assert (got is not None) == (bool(told) and held)
        if got is not None:
            assert -4.001 <= got.support <= CLOSE
            assert -1.001 <= got.score <= 1.001
            assert got.weight > 0
            assert 0 <= got.passage.start < got.passage.end <= len(documents[got.passage.document])
