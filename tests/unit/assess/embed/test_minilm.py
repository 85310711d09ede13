from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed import minilm
from monitor.assess.embed.minilm import MiniLMEmbedder

# From sentence-transformers, which cuts texts off at 256 tokens. The longest of these has 242, so none was cut there
# and none is windowed here: `tokens` is compared below.
GOLDEN = Path(__file__).parents[3] / "golden"
REFERENCE = json.loads((GOLDEN / "minilm_vectors.json").read_text(encoding="utf-8"))["rows"]
SENTENCE = "The quick brown fox jumps over the lazy dog. "  # ten tokens


@pytest.fixture(scope="module")
def embedder(encoder_cache):
    return MiniLMEmbedder("fp32", cache_dir=encoder_cache, threads=1)


@pytest.fixture
def runs(embedder, monkeypatch):
    """Records the inputs of the encoder, run by run."""
    fed = []
    session = embedder._session

    class Recording:
        def run(self, outputs, feed):
            fed.append(feed)
            return session.run(outputs, feed)

    monkeypatch.setattr(embedder, "_session", Recording())
    return fed


@pytest.mark.parametrize("row", REFERENCE, ids=[row["text"][:20] for row in REFERENCE])
def test_agrees_with_the_published_weights(embedder, runs, row):
    vector = embedder.embed([row["text"]])[0]
    reference = np.array(row["vector"])
    assert vector @ reference / np.linalg.norm(reference) >= 0.9999
    assert [int(feed["attention_mask"].sum()) for feed in runs] == [row["tokens"]]


def test_agrees_with_the_published_weights_in_one_batch(embedder):
    vectors = embedder.embed([row["text"] for row in REFERENCE])
    assert (vectors * np.array([row["vector"] for row in REFERENCE])).sum(1).min() >= 0.9999


def test_a_long_text_is_read_in_windows_of_whole_sentences(embedder, runs):
    embedder.embed([SENTENCE * 60])
    sizes = sorted(int(size) for feed in runs for size in feed["attention_mask"].sum(1))
    assert sizes == [102, 252, 252]


def test_a_long_texts_vector_is_the_mean_over_all_tokens(embedder):
    long, short = SENTENCE * 25, "Invoices are sent by mail. " * 20  # 250 and 120 word pieces: two windows
    (vector,) = embedder.embed([long + short])
    windows = embedder._windows([long, short]).pieces
    means = [embedder._session.run(["token_mean"], embedder._padded([pieces]))[0][0] for pieces in windows]
    expected = np.average(means, axis=0, weights=[len(pieces) + 2 for pieces in windows])
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)


def test_the_end_of_a_long_text_counts(embedder):
    same, other = embedder.embed([SENTENCE * 100, SENTENCE * 100 + "Invoices are sent by mail. " * 100])
    assert same @ other < 0.95


def test_no_run_is_larger_than_the_budget(embedder, runs):
    embedder.embed([SENTENCE * count for count in range(40)] + ["word"] * 300)
    assert max(feed["input_ids"].size for feed in runs) <= embedder._budget
    assert max(feed["input_ids"].shape[1] for feed in runs) <= 256


def test_every_segment_is_tokenised_once_and_in_order(embedder, monkeypatch):
    texts = [SENTENCE * count for count in (300, 0, 1, 1200)]
    whole = [embedder._tokenizer.pieces(text)[:, 0].tolist() for text in texts]
    for size in (64, 4096):
        monkeypatch.setattr(minilm, "_SEGMENT_BYTES", size)
        windows = embedder._windows(texts)
        assert windows.owners == sorted(windows.owners)
        joined = [[] for _ in texts]
        for owner, pieces in zip(windows.owners, windows.pieces, strict=True):
            joined[owner].extend(pieces.tolist())
        assert joined == whole


@given(st.lists(st.integers(0, 254), min_size=1), st.integers(256, 2000))
def test_runs_hold_every_window_once_by_size(embedder, sizes, budget):
    windows = minilm._Windows(pieces=[np.full(size, 7, np.int32) for size in sizes])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedder, "_budget", budget)
        found = list(embedder._runs(windows))
    assert sorted(place for run, _ in found for place in run.tolist()) == list(range(len(sizes)))
    ordered = [sizes[place] for run, _ in found for place in run]
    assert ordered == sorted(sizes, reverse=True)
    for run, feed in found:
        assert feed["input_ids"].size <= budget
        assert feed["attention_mask"].sum(1).tolist() == [sizes[place] + 2 for place in run]
