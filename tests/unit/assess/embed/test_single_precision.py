from __future__ import annotations

import numpy as np
import pytest

from monitor.assess.embed import single_precision
from monitor.assess.embed.single_precision import KEPT_BYTES, single, single_of_document
from monitor.assess.embed.tokens import token_type

DIMENSIONS = 128


def tokens_of(count: int, value: float = 0.5) -> np.ndarray:
    tokens = np.zeros(count, token_type(DIMENSIONS))
    tokens["vector"] = value
    return tokens


@pytest.fixture(autouse=True)
def nothing_kept():
    single_precision._kept.clear()
    yield
    single_precision._kept.clear()


def test_every_finite_half_has_its_value():
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    tokens = np.zeros(2**16 // DIMENSIONS, token_type(DIMENSIONS))
    tokens["vector"] = halves.reshape(-1, DIMENSIONS)
    converted = single(tokens)
    assert converted.dtype == np.float32
    assert np.array_equal(converted, tokens["vector"].astype(np.float32), equal_nan=True)


def test_a_document_is_converted_once():
    tokens = tokens_of(3)
    assert single_of_document(tokens) is single_of_document(tokens)


def test_documents_with_the_same_vectors_are_not_mixed_up_with_others():
    documents = [tokens_of(2, value) for value in (0.25, 0.5, 0.75)]
    for _ in range(2):
        assert [single_of_document(tokens)[0, 0] for tokens in documents] == [0.25, 0.5, 0.75]


def test_a_view_is_not_kept_since_it_would_hold_all_that_it_is_a_view_of():
    whole = tokens_of(4)
    assert single_of_document(whole[:2]).shape == (2, DIMENSIONS)
    assert len(single_precision._kept) == 0


def test_what_is_kept_stays_within_its_bytes(monkeypatch):
    monkeypatch.setattr(
        single_precision,
        "_kept",
        type(single_precision._kept)(
            KEPT_BYTES // 1_000,
            single_precision._kept.getsizeof,
        ),
    )
    large = tokens_of(KEPT_BYTES // 1_000 // 512)
    assert single_of_document(large).shape == (len(large), DIMENSIONS)
    assert len(single_precision._kept) == 0
    for number in range(100):
        single_of_document(tokens_of(10, number))
    assert 0 < single_precision._kept.currsize <= KEPT_BYTES // 1_000
