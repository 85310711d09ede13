"""The promise of every embedder: one unit vector per text, in order, for any text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from monitor.assess.embed.cache import CachedEmbedder
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.openai import OpenAIEmbedder
from monitor.assess.ports import Embedder
from tests.servers.llm import KEY, MODEL, llm_server

MIB = 2**20

TEXTS = [
    "What is the retention period of deleted snapshots?",
    "Deleted snapshots are kept for 30 days.",
    "Invoices are sent by mail.",
    "deleted snapshots",
    "A longer text. " * 40,
    "Yes, you can.",
]
ODDITIES = [
    "",
    " ",
    "\n\t\r\n",
    "\x00",
    "a\x00b",
    "\ufffd\ufeff\u200b\u200d",
    "\ud800",  # a lone surrogate, as json.loads lets it through
    "before \udfff after \ud83d",
    "🙂👩‍👩‍👧‍👦🇩🇪",
    "e\u0301 \u0301\u0301\u0301",
    "日本語の文書は三十日間保存されます。",
    "مرحبا بالعالم",
    "\U0010ffff\ue000",
    "[CLS] [SEP] [PAD] [MASK] <|endoftext|>",
    "<b>&amp;</b> \\n %s {}",
]
LONG = {
    "sentences": "The quick brown fox jumps over the lazy dog. " * 800,
    "words": "fox " * 9_000,
    "one word": "x" * 60_000,
    "no spaces": "文" * 7_000,
    "emoji": "🙂" * 9_000,
    "new lines": "\n" * 30_000 + "end",
}


@pytest.fixture(scope="module")
def minilm(encoder_cache) -> MiniLMEmbedder:
    return MiniLMEmbedder(cache_dir=encoder_cache)


@pytest.fixture(
    params=["hash", "minilm", "openai", "cached hash", "cached minilm", "cached openai", "openai, no cache"]
)
def make(request, monkeypatch) -> Iterator[Callable[[], Embedder]]:
    """Makes embedders of one kind; each behaves like a separate process."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ExitStack() as stack:

        def inner() -> Embedder:
            if "hash" in request.param:
                return HashEmbedder()
            if "minilm" in request.param:
                return request.getfixturevalue("minilm")
            server = stack.enter_context(llm_server())
            embedder = OpenAIEmbedder(model=MODEL, api_key=KEY, base_url=server.base_url)
            stack.callback(embedder.close)
            return embedder

        def build() -> Embedder:
            if "cache" not in request.param:
                return inner()
            return CachedEmbedder(inner(), 0 if "no cache" in request.param else MIB)

        yield build


@pytest.fixture
def embedder(make) -> Embedder:
    return make()


def check(vectors, embedder, count):
    assert vectors.shape == (count, embedder.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_gives_one_unit_vector_a_text(embedder):
    check(embedder.embed(TEXTS), embedder, len(TEXTS))


def test_gives_an_empty_matrix_for_no_texts(embedder):
    check(embedder.embed([]), embedder, 0)


def test_has_a_name_that_stays(make):
    one, other = make(), make()
    assert one.model
    assert one.model == other.model


def test_gives_the_same_vectors_again(embedder):
    np.testing.assert_array_equal(embedder.embed(TEXTS), embedder.embed(TEXTS))


def test_gives_the_same_vectors_in_another_process(make):
    np.testing.assert_array_equal(make().embed(TEXTS), make().embed(TEXTS))


def test_keeps_the_order(make):
    np.testing.assert_allclose(make().embed(TEXTS[::-1])[::-1], make().embed(TEXTS), atol=1e-4)


def test_a_batch_agrees_with_its_texts_alone(make):
    embedder = make()
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS + ODDITIES])
    np.testing.assert_allclose(make().embed(TEXTS + ODDITIES), alone, atol=1e-4)


def test_gives_repeated_texts_the_same_vector(embedder):
    vectors = embedder.embed([TEXTS[0], TEXTS[1], TEXTS[0], TEXTS[0]])
    np.testing.assert_allclose(vectors[[2, 3]], vectors[[0, 0]], atol=1e-4)
    assert np.abs(vectors[0] - vectors[1]).max() > 0.01


def test_tells_texts_apart(embedder):
    similarities = np.triu(embedder.embed(TEXTS) @ embedder.embed(TEXTS).T, k=1)
    assert similarities.max() < 0.999


def test_takes_any_text(embedder):
    check(embedder.embed(ODDITIES), embedder, len(ODDITIES))


def test_takes_an_iterated_tuple_as_well_as_a_list(embedder):
    np.testing.assert_allclose(embedder.embed(tuple(TEXTS)), embedder.embed(TEXTS), atol=1e-4)


@pytest.mark.parametrize("kind", LONG)
def test_takes_a_very_long_text_among_short_ones(embedder, kind):
    vectors = embedder.embed([TEXTS[0], LONG[kind], TEXTS[1]])
    check(vectors, embedder, 3)
    np.testing.assert_allclose(vectors[[0, 2]], embedder.embed(TEXTS[:2]), atol=1e-4)


def test_reads_a_long_text_to_its_end(embedder):
    body = "The quick brown fox jumps over the lazy dog. " * 400
    one, other = embedder.embed([body, body + "Invoices are sent by mail on the first day of a month. " * 200])
    assert one @ other < 0.99


def test_its_vectors_may_be_written_to(embedder):
    first = embedder.embed(TEXTS)
    kept = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(embedder.embed(TEXTS), kept)
