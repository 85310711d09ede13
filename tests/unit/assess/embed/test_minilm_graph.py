"""The graph against BERT written out in numpy, from the same weights."""

from __future__ import annotations

import math

import numpy as np
import onnxruntime as ort
import pytest

from monitor.assess.embed.graph_cache import cached_graph
from monitor.assess.embed.minilm_graph import PROJECTION, TOKEN_DIMENSIONS
from monitor.assess.embed.weights import Safetensors
from monitor.assess.embed.windows import unit
from tests.factories.assess.embed import published_weights

IDS = np.array([[101, 2054, 2003, 1996, 7404, 102, 0, 0], [101, 17970, 2024, 2921, 2005, 2382, 2420, 102]])
MASK = (IDS > 0).astype(np.int64)
erf = np.vectorize(math.erf, otypes=[np.float64])


@pytest.fixture(scope="module")
def weights():
    return published_weights()


@pytest.fixture(scope="module")
def session(weights, tmp_path_factory):
    graph = cached_graph(tmp_path_factory.mktemp("encoder"), weights)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


def layer_norm(values, scale, shift):
    centred = values - values.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12) * scale + shift


def bert(ids, tensors):
    """The token vectors of a text after each layer, shape (tokens, 384), in float64."""

    def part(name):
        return tensors.tensor(name).astype(np.float64)

    def linear(values, name):
        return values @ part(f"{name}.weight").T + part(f"{name}.bias")

    def normed(values, name):
        return layer_norm(values, part(f"{name}.LayerNorm.weight"), part(f"{name}.LayerNorm.bias"))

    words = tensors.tensor("embeddings.word_embeddings.weight")[ids]
    positions = part("embeddings.position_embeddings.weight")[: len(ids)]
    state = normed(words + positions + part("embeddings.token_type_embeddings.weight")[0], "embeddings")
    for number in range(6):
        here = f"encoder.layer.{number}"
        query, key, value = (
            linear(state, f"{here}.attention.self.{side}").reshape(len(ids), 12, 32).transpose(1, 0, 2)
            for side in ("query", "key", "value")
        )
        scores = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(32))
        heads = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), 384)
        output = f"{here}.attention.output"
        state = normed(linear(heads, f"{output}.dense") + state, output)
        inner = linear(state, f"{here}.intermediate.dense")
        inner = inner * (1 + erf(inner / np.sqrt(2))) / 2
        state = normed(linear(inner, f"{here}.output.dense") + state, f"{here}.output")
        yield state


def test_token_vectors_and_their_mean_are_the_published_weightss(session, weights):
    hidden, tokens, means = session.run(["hidden", "tokens", "token_mean"], {"input_ids": IDS, "attention_mask": MASK})
    with PROJECTION.open("rb") as file:
        axes = np.load(file).astype(np.float64)
    for row, (ids, mask) in enumerate(zip(IDS, MASK, strict=True)):
        length = mask.sum()
        layers = list(bert(ids[:length], Safetensors(weights)))
        joined = np.concatenate([unit(layers[2]), unit(layers[5])], axis=1)
        np.testing.assert_allclose(hidden[row, :length], joined, atol=1e-4)
        np.testing.assert_allclose(tokens[row, :length], unit(joined @ axes), atol=1e-4)
        np.testing.assert_allclose(means[row], layers[5].mean(0), atol=1e-4)


def test_the_axes_that_ship_are_orthonormal():
    with PROJECTION.open("rb") as file:
        axes = np.load(file).astype(np.float64)
    assert axes.shape == (768, TOKEN_DIMENSIONS)
    np.testing.assert_allclose(axes.T @ axes, np.eye(TOKEN_DIMENSIONS), atol=2e-3)  # kept in half precision


def test_padding_changes_nothing(session):
    feed = {"input_ids": IDS[:1], "attention_mask": MASK[:1]}
    short = {name: values[:, :6] for name, values in feed.items()}
    for padded, plain in zip(session.run(None, feed), session.run(None, short), strict=True):
        kept = padded[:, :6] if padded.ndim == 3 else padded
        np.testing.assert_allclose(kept, plain, atol=1e-5)


def test_building_twice_gives_the_same_bytes(weights, tmp_path):
    one, other = (cached_graph(tmp_path / name, weights) for name in ("one", "other"))
    for suffix in (".onnx", ".bin", ".sha256"):
        assert one.with_suffix(suffix).read_bytes() == other.with_suffix(suffix).read_bytes()
