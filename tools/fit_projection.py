"""Derives the projection of token vectors at the end of the encoder's graph from the model alone, without any text.

    python tools/fit_projection.py [--write]

The encoder reads random sequences of words of its vocabulary (a word's probability falls with its rank, by Zipf's law).
The first principal axes (not centred) of the unit token vectors of layers 3 and 6, side by side, are their strongest
directions; the projection keeps DIMENSIONS of them. Cosines in that space separate supported from other tokens as well
as those of all 768 numbers, and better on long answers (docs/performance.md), at a sixth of the memory. Without --write
it prints how far the shipped axes are from newly derived ones.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from tokenizers import Tokenizer

from monitor.assess.embed.graph_cache import cached_graph
from monitor.assess.embed.minilm_graph import MAX_TOKENS, PROJECTION, TOKEN_DIMENSIONS
from monitor.assess.embed.weights import TOKENIZER, published_weights, shipped
from monitor.core.settings.load import load_settings

SEED = 7
TEXTS, SENTENCES = 120, 10
LENGTHS = (5, 20)  # words a sentence
FIRST_WORD = 1996  # the vocabulary's numbers below are single characters and reserved
SOFTEN = 10  # ranks added, so that the first words do not fill everything

Floats = NDArray[np.float64]


def texts(vocabulary: list[str]) -> list[str]:
    words = [word for word in vocabulary[FIRST_WORD:] if word.isalpha() and word.isascii()]
    chance = 1 / np.arange(SOFTEN, len(words) + SOFTEN)
    chance /= chance.sum()
    draw = np.random.default_rng(SEED)

    def sentence() -> str:
        return " ".join(draw.choice(words, draw.integers(*LENGTHS), p=chance)) + "."

    return [" ".join(sentence() for _ in range(SENTENCES)) for _ in range(TEXTS)]


def hidden_states(tokenizer: Tokenizer, lines: list[str]) -> Floats:
    """Unit vectors of layers 3 and 6 side by side, shape (tokens, 768), special tokens left out."""
    graph = cached_graph(load_settings().state_dir / "cache", published_weights())
    session = ort.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    found = []
    for line in lines:
        ids = np.array([tokenizer.encode(line).ids[:MAX_TOKENS]], np.int64)
        (states,) = session.run(["hidden"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        found.append(states[0, 1:-1])
    return np.concatenate(found).astype(np.float64)


def axes(states: Floats) -> Floats:
    """The first principal axes of `states` (tokens, 768), strongest first, each with its largest entry positive."""
    _, vectors = np.linalg.eigh(states.T @ states / len(states))
    kept = vectors[:, ::-1][:, :TOKEN_DIMENSIONS]
    largest = np.abs(kept).argmax(axis=0)
    return kept * np.sign(kept[largest, np.arange(TOKEN_DIMENSIONS)])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true", help="write the projection into the package")
    write = arguments.parse_args().write
    tokenizer = Tokenizer.from_file(str(shipped(TOKENIZER)))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    words = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    states = hidden_states(tokenizer, texts([word for word, _ in words]))
    found = axes(states)
    energy = np.square(states @ found).sum() / np.square(states).sum()
    print(f"{len(states):,} tokens; {TOKEN_DIMENSIONS} axes keep {energy:.3f} of the energy")
    path = Path(str(PROJECTION))
    if path.exists():
        before = np.load(path).astype(np.float64)
        overlap = np.linalg.svd(before.T @ found, compute_uv=False)
        print(f"cosines between the shipped space and this one: least {overlap.min():.4f}, mean {overlap.mean():.4f}")
    if write:
        np.save(path, found.astype(np.float16))
        print(f"written to {path}: raise GRAPH_VERSION, then python -m tools.build_int8 --write")


if __name__ == "__main__":
    main()
