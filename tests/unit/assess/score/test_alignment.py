"""Alignment against the formula of its docstring, written as plain loops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.embed.tokens import token_type
from monitor.assess.score import alignment
from monitor.assess.score.alignment import BOTH, RARE, RARE_UNIT, Passage, Source, align
from monitor.core.text.sentences import sentence_spans

CLOSE = 1e-4
DIMENSIONS = 6


@dataclass
class Text:
    """Tokens of one character each, side by side, in sentences of so many tokens."""

    vectors: np.ndarray
    weights: list[float]
    sizes: list[int]

    @property
    def tokens(self):
        tokens = np.zeros(len(self.vectors), token_type(self.vectors.shape[1]))
        tokens["vector"] = self.vectors
        tokens["start"] = np.arange(len(tokens))
        tokens["end"] = tokens["start"] + 1
        tokens["weight"] = self.weights
        return tokens

    @property
    def spans(self):
        ends = np.cumsum(self.sizes).tolist()
        return [(end - size, end) for size, end in zip(self.sizes, ends, strict=True)]


def text_of(vectors, sizes, weights=None):
    vectors = np.array(vectors, float)
    return Text(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), weights or [1.0] * len(vectors), sizes)


def random_text(random, sizes):
    count = sum(sizes)
    weights = random.choice([0.0, 1.0, 2.5, 4.5, 7.0], count).tolist()
    return text_of(random.standard_normal((count, DIMENSIONS)), sizes, weights)


def found(answer, documents):
    return align(answer.tokens, answer.spans, [d.tokens for d in documents], [d.spans for d in documents])


def cosines_of(answer, documents):
    """S from the vectors as they are kept, in half precision."""
    columns = np.concatenate([d.tokens["vector"] for d in documents]).astype(float)
    return answer.tokens["vector"].astype(float) @ columns.T


def supports_by_loops(cosines):
    rows, columns = cosines.shape

    def best(i, j):
        return max(cosines[i, at] for at in (j - 1, j, j + 1) if 0 <= at < columns)

    supports = []
    for i in range(rows):
        closest = max(cosines[i])
        contexts = []
        for j in range(columns):
            near = [best(i + k, j + k) for k in (-1, 0, 1) if 0 <= i + k < rows and 0 <= j + k < columns]
            contexts.append(sum(near) / len(near))
        supports.append(-0.5 * (1 - closest) ** 2 - 0.5 * (1 - max(contexts)) ** 2)
    return supports


def weights_by_loops(answer):
    weights = list(answer.weights)
    for start, end in answer.spans:
        if not any(weights[start:end]):
            weights[start:end] = [1.0] * (end - start)
    return weights


def mean(values, weights):
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


def best_by_loops(answer, documents, cosines):
    """Passage and score of each sentence with tokens."""
    passages, columns, column = [], [], 0
    for number, document in enumerate(documents):
        for start, end in document.spans:
            if end > start:
                passages.append(Passage(document=number, start=start, end=end))
                columns.append(range(column + start, column + end))
        column += len(document.vectors)
    weights = weights_by_loops(answer)
    results = []
    for start, end in answer.spans:
        if start == end:
            continue

        def score(held, rows=range(start, end)):
            return mean([max(cosines[i, j] for j in held) for i in rows], [weights[i] for i in rows])

        single, passage = max(((score(c), p) for c, p in zip(columns, passages, strict=True)), key=lambda x: x[0])
        pairs = [
            (score([*columns[p], *columns[p + 1]]), left, right)
            for p, (left, right) in enumerate(pairwise(passages))
            if left.document == right.document
        ]
        both, left, right = max(pairs, key=lambda x: x[0], default=(-1, None, None))
        if both > single + BOTH:
            results.append((Passage(document=left.document, start=left.start, end=right.end), both))
        else:
            results.append((passage, single))
    return results


def check(answer, documents):
    cosines = cosines_of(answer, documents)
    supports, weights = supports_by_loops(cosines), weights_by_loops(answer)
    best = iter(best_by_loops(answer, documents, cosines))
    for (start, end), got in zip(answer.spans, found(answer, documents), strict=True):
        if start == end:
            assert got is None
            continue
        passage, score = next(best)
        assert got.support == pytest.approx(mean(supports[start:end], weights[start:end]), abs=CLOSE)
        assert got.weight == pytest.approx(sum(weights[start:end]), rel=CLOSE)
        assert got.rare == pytest.approx(sum(w for w in answer.weights[start:end] if w > RARE) / RARE_UNIT, rel=CLOSE)
        assert got.score == pytest.approx(score, abs=CLOSE)
        assert got.passage == passage


sizes = st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any)
seeds = st.integers(0, 2**32 - 1)


# --- the formula -----------------------------------------------------------------------------------------------------


@given(sizes, st.lists(sizes, min_size=1, max_size=3), seeds)
def test_agrees_with_plain_loops(rows, columns, seed):
    random = np.random.default_rng(seed)
    check(random_text(random, rows), [random_text(random, each) for each in columns])


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (2, 2), (1, 7), (7, 1), (2, 7), (7, 2), (3, 3)])
def test_agrees_with_plain_loops_at_the_edges(shape):
    random = np.random.default_rng(shape)
    check(random_text(random, [shape[0]]), [random_text(random, [shape[1]])])


@given(sizes, st.lists(sizes, min_size=1, max_size=3), seeds, st.integers(1, 4))
def test_sentences_longer_than_a_passage_may_be_are_read_in_pieces(rows, columns, seed, longest):
    random = np.random.default_rng(seed)
    answer, documents = random_text(random, rows), [random_text(random, each) for each in columns]
    in_pieces = [
        Text(d.vectors, d.weights, [min(longest, size - at) for size in d.sizes for at in range(0, size, longest)])
        for d in documents
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "LONGEST_PASSAGE", longest)
        got = found(answer, documents)
    assert got == found(answer, in_pieces)


def blocks_by_loops(text, most):
    """Where blocks of whole sentences begin and end; a sentence that is longer is cut every `most` tokens."""
    pieces = [min(most, size - at) for size in text.sizes for at in range(0, size, most)]
    blocks, held = [], 0
    for size in pieces:
        if blocks and held + size <= most:
            held += size
            blocks[-1] += size
        else:
            blocks.append(size)
            held = size
    return blocks


@given(sizes, sizes, seeds, st.integers(1, 6))
def test_blocks_of_the_answer_are_aligned_each_by_itself(rows, columns, seed, most):
    random = np.random.default_rng(seed)
    answer, document = random_text(random, rows), random_text(random, columns)
    cosines = cosines_of(answer, [document])
    supports, at = [], 0
    for size in blocks_by_loops(answer, most):
        supports += supports_by_loops(cosines[at : at + size])
        at += size
    weights = weights_by_loops(answer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "ROWS", most)
        got = found(answer, [document])
    for (start, end), one, whole in zip(answer.spans, got, found(answer, [document]), strict=True):
        if one is None:
            assert whole is None
            continue
        assert one.support == pytest.approx(mean(supports[start:end], weights[start:end]), abs=CLOSE)
        assert (one.weight, one.rare) == pytest.approx((whole.weight, whole.rare), rel=CLOSE)
        if end - start <= most:
            assert one.passage == whole.passage
            assert one.score == pytest.approx(whole.score, abs=CLOSE)
        else:
            assert one.score >= whole.score - BOTH - CLOSE


@given(sizes, st.lists(sizes, min_size=1, max_size=3), seeds, st.integers(1, 8))
def test_blocks_of_the_documents_change_contexts_at_the_cuts_only(rows, columns, seed, most):
    random = np.random.default_rng(seed)
    answer, documents = random_text(random, rows), [random_text(random, each) for each in columns]
    cosines = cosines_of(answer, documents)
    joined = Text(np.concatenate([d.vectors for d in documents]), [], [s for d in documents for s in d.sizes])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "COLUMNS", most)
        got = found(answer, documents)
    closest = -0.5 * (1 - cosines.max(axis=1)) ** 2
    parts, at = [], 0
    for size in columns_by_loops(joined, most):
        parts.append(supports_by_loops(cosines[:, at : at + size]))
        own = -0.5 * (1 - cosines[:, at : at + size].max(axis=1)) ** 2
        parts[-1] = [x - y for x, y in zip(parts[-1], own, strict=True)]  # the context's half
        at += size
    supports = [c + max(part[i] for part in parts) for i, c in enumerate(closest)]
    weights = weights_by_loops(answer)
    for (start, end), one, whole in zip(answer.spans, got, found(answer, documents), strict=True):
        if one is not None:
            assert one.support == pytest.approx(mean(supports[start:end], weights[start:end]), abs=CLOSE)
            assert one.passage == whole.passage
            assert one.score == pytest.approx(whole.score, abs=CLOSE)


def columns_by_loops(text, most):
    """As of the answer's blocks, but no sentence is cut."""
    blocks = []
    for size in filter(None, text.sizes):
        if blocks and blocks[-1] + size <= most:
            blocks[-1] += size
        else:
            blocks.append(size)
    return blocks


def test_memory_is_bounded_by_the_blocks_even_where_texts_have_no_sentence_ends(monkeypatch):
    monkeypatch.setattr(alignment, "ROWS", 16)
    monkeypatch.setattr(alignment, "COLUMNS", 32)
    monkeypatch.setattr(alignment, "LONGEST_PASSAGE", 8)
    seen = []
    context = alignment._context
    monkeypatch.setattr(alignment, "_context", lambda cosines: seen.append(cosines.shape) or context(cosines))
    random = np.random.default_rng(3)
    (got,) = found(random_text(random, [100]), [random_text(random, [200])])
    assert max(columns for columns, _ in seen) <= 32
    assert max(rows for _, rows in seen) <= 16 + 1
    assert got.passage.end - got.passage.start <= 2 * 8


def test_many_passages_make_the_blocks_of_the_answer_smaller(monkeypatch):
    monkeypatch.setattr(alignment, "ROWS", 16)
    monkeypatch.setattr(alignment, "COLUMNS", 32)
    seen = []
    context = alignment._context
    monkeypatch.setattr(alignment, "_context", lambda cosines: seen.append(cosines.shape) or context(cosines))
    random = np.random.default_rng(4)
    found(random_text(random, [1] * 50), [random_text(random, [1] * 128)])
    assert max(rows for _, rows in seen) == 16 * 32 // 128 + 1


# --- by hand ---------------------------------------------------------------------------------------------------------

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def test_what_stands_as_it_is_has_full_support():
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


# --- what is missing -------------------------------------------------------------------------------------------------

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


# --- texts -----------------------------------------------------------------------------------------------------------


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
