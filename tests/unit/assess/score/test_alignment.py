"""Alignment against the formula of its docstring, written as plain loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.score import alignment
from monitor.assess.score.alignment import BOTH, RARE, RARE_UNIT, Passage
from tests.factories.assess.alignment import CLOSE, Text, found, text_of

DIMENSIONS = 6


def random_text(random, sizes):
    count = sum(sizes)
    weights = random.choice([0.0, 1.0, 2.5, 4.5, 7.0], count).tolist()
    return text_of(random.standard_normal((count, DIMENSIONS)), sizes, weights)


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


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (7, 40), (30, 300), (alignment.ROWS + 5, 20), (3, 0)])
@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_the_support_of_a_text_is_that_of_its_alignment_as_one_sentence(shape, weight):
    rows, columns = shape
    random = np.random.default_rng(rows + columns)
    answer = text_of(random.standard_normal((rows, 8)), [rows], [weight] * rows).tokens
    document = text_of(random.standard_normal((columns, 8)), [1] * columns) if columns else None
    documents = [(document.tokens, document.spans)] if document else []
    source = alignment.Source.of([tokens for tokens, _ in documents], [spans for _, spans in documents])
    (whole,) = source.align(answer, [(0, rows)])
    assert source.support("x" * rows, answer) == (None if whole is None else whole.support)


def test_a_question_without_tokens_has_no_support():
    document = text_of([[1, 0]], [1])
    source = alignment.Source.of([document.tokens], [document.spans])
    assert source.support("", document.tokens[:0]) is None
