"""Derives the limits for the layer inputs of the int8 graph from the model alone, without any text.

    python tools/fit_int8_limits.py [--write]

The float32 encoder reads the random word sequences of fit_projection.py; the limit of a channel is its largest absolute
value there. A few channels of a BERT have values ten times as large as all others. Limits at a quantile were tried:
cutting off one value in a thousand costs more than a coarser scale does. Without --write it prints how far the shipped
limits are from newly derived ones.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from tokenizers import Tokenizer

from monitor.assess.embed.graph_cache import cached_graph
from monitor.assess.embed.minilm_graph import LAYERS, MAX_TOKENS
from monitor.assess.embed.weights import TOKENIZER, published_weights, shipped
from monitor.core.settings.load import load_settings
from tools.build_int8 import INPUTS, LIMITS, read_by
from tools.fit_projection import texts

TEXTS = 40  # of them


def session_with(names: list[str]) -> ort.InferenceSession:
    """The float32 encoder with inner values as outputs."""
    graph = cached_graph(load_settings().state_dir / "cache", published_weights())
    model = onnx.load(graph, load_external_data=False)
    for name in names:
        model.graph.output.add(name=name).type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    inner = graph.with_name("inner.onnx")  # beside the weights that it refers to
    onnx.save(model, inner)
    try:
        return ort.InferenceSession(str(inner), providers=["CPUExecutionProvider"])
    finally:
        inner.unlink()


def limits(tokenizer: Tokenizer, lines: list[str]) -> NDArray[np.float32]:
    """The limit of each channel of each input, shape (LAYERS, channels of all inputs side by side)."""
    names = [read_by(kind, layer) for layer in range(1, LAYERS + 1) for kind in INPUTS]
    session = session_with(names)
    found = {name: np.zeros(0, np.float32) for name in names}
    for line in lines:
        ids = np.array([tokenizer.encode(line).ids[:MAX_TOKENS]], np.int64)
        states = session.run(names, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        for name, values in zip(names, states, strict=True):
            highest = np.abs(values[0]).max(axis=0)
            found[name] = np.maximum(found[name], highest) if len(found[name]) else highest
    return np.stack([np.concatenate([found[read_by(k, layer)] for k in INPUTS]) for layer in range(1, LAYERS + 1)])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true", help="write the limits into the package")
    write = arguments.parse_args().write
    tokenizer = Tokenizer.from_file(str(shipped(TOKENIZER)))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    words = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    found = limits(tokenizer, texts([word for word, _ in words])[:TEXTS])
    path = Path(str(LIMITS))
    if path.exists():
        apart = np.abs(np.load(path).astype(np.float32) / found - 1)
        print(f"limits that ship against these: {apart.mean():.4f} apart in the mean, {apart.max():.4f} at most")
    if write:
        np.save(path, found.astype(np.float16))
        print(f"written to {path}: now build the model: python -m tools.build_int8 --write")


if __name__ == "__main__":
    main()
