"""The order of the chunks, and that of the documents. By hand: tests/golden/chunks/rank.json."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.chunks.rank import hybrid_order, kendall_tau, reranked
from monitor.assess.ports import MOST_RERANKED
from tests.factories.assess.cuts import a_cut

scores = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=30)


class Scripted:
    """A reranker with prepared scores by text; None gives none."""

    model = "scripted"

    def __init__(self, scores):
        self.scores, self.asked = scores, []

    def rank(self, question, texts):
        self.asked.append((question, list(texts)))
        return None if self.scores is None else [self.scores[text] for text in texts]


@given(scores)
def test_an_order_has_each_chunk_once(pairs):
    bm25, semantic = np.array(pairs).reshape(-1, 2).T
    assert sorted(hybrid_order(bm25, semantic)) == list(range(len(pairs)))


@given(scores)
def test_a_chunk_that_is_better_by_both_stands_before(pairs):
    bm25, semantic = np.array(pairs).reshape(-1, 2).T
    place = {at: n for n, at in enumerate(hybrid_order(bm25, semantic))}
    for one, other in combinations(range(len(pairs)), 2):
        if bm25[one] >= bm25[other] and semantic[one] >= semantic[other]:
            assert place[one] < place[other]


@given(scores.filter(len), st.sampled_from([0.25, 0.5, 4.0]))
def test_the_scale_of_a_measure_makes_no_difference(pairs, scale):
    bm25, semantic = np.round(np.array(pairs), 3).reshape(-1, 2).T
    assert hybrid_order(bm25, semantic) == hybrid_order(bm25 * scale, semantic)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_tau_is_between_minus_one_and_one_and_none_of_a_single_document(numbers, chance):
    chunks = [a_cut(document=number) for number in sorted(numbers)]
    order = list(range(len(chunks)))
    chance.shuffle(order)
    tau = kendall_tau(order, chunks)
    if len(set(numbers)) == 1:
        assert tau is None
        return
    documents = list(dict.fromkeys(chunks[at].document for at in order))
    pairs = list(combinations(range(len(documents)), 2))
    concordant = sum(documents[one] < documents[other] for one, other in pairs)
    assert tau == pytest.approx((2 * concordant - len(pairs)) / len(pairs))
    assert -1 <= tau <= 1


@pytest.mark.parametrize("count", [2, 3, 200])
def test_tau_of_the_retriever_s_order_is_one_and_of_its_reverse_minus_one(count):
    chunks = [a_cut(document=number) for number in range(count)]
    assert kendall_tau(range(count), chunks) == 1
    assert kendall_tau(range(count)[::-1], chunks) == -1


def test_tau_of_nothing_is_none():
    assert kendall_tau([], []) is None


def test_a_reranker_orders_the_best_chunks_anew():
    reranker = Scripted({"a": 0.1, "b": 0.9, "c": 0.5})
    assert reranked([2, 0, 1], "Which?", ["a", "b", "c"], reranker) == [1, 2, 0]
    assert reranker.asked == [("Which?", ["c", "a", "b"])]


def test_of_chunks_that_a_reranker_likes_as_much_the_earlier_of_the_order_stands_first():
    assert reranked([2, 0, 1], "Which?", ["a", "b", "c"], Scripted({"a": 0.5, "b": 0.5, "c": 0.5})) == [2, 0, 1]


def test_a_reranker_is_asked_for_no_more_than_it_takes():
    texts = [str(number) for number in range(MOST_RERANKED + 5)]
    order = list(range(len(texts)))[::-1]
    reranker = Scripted({text: -float(text) for text in texts})
    found = reranked(order, "Which?", texts, reranker)
    ((_, asked),) = reranker.asked
    assert asked == [str(number) for number in order[:MOST_RERANKED]]
    assert found == [*sorted(order[:MOST_RERANKED]), *order[MOST_RERANKED:]]


def test_a_reranker_without_scores_gives_no_order():
    assert reranked([1, 0], "Which?", ["a", "b"], Scripted(None)) is None
