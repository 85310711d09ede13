"""Builds the encoder that ships: all-MiniLM-L6-v2 in 8-bit integers, about three times as fast, and no longer exact.

    python -m tools.build_int8 [--write]

It is made from the published weights alone, and is the same bit for bit wherever it is made. Without --write the
model that ships is compared with a newly built one.

Weights are rounded to int8, a scale for each output channel, and word vectors, a scale for each word. Inputs are
rounded to uint8 within fixed limits, which `fit_int8_limits.py` derived from the model, so the vectors of a text do not
depend on what it is run with.
A channel whose limit is more than CAP times the median limit is divided before rounding, and its weights multiplied, so
that a few large channels do not cost all others their resolution (Xiao et al., SmoothQuant, 2023). Positions,
attention scores, normalisation, GELU and the token projection stay in float32.

On processors without 8-bit dot products of 32-bit sums (AVX-512 VNNI, AVX-VNNI, AMX, Arm's dot product) sums of two
products may saturate, and vectors differ a little: benchmarks/embedding/saturation.py emulates that.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from typing_extensions import override

from monitor.assess.embed.minilm_graph import EPSILON, HEADS, MICROSOFT, Encoder
from monitor.assess.embed.weights import DIMENSIONS, ENCODER, SHIPPED, TOKENIZER, Safetensors, published_weights

Floats = NDArray[np.float32]

# The inputs that are rounded in each layer, with their channels: the input of the attention, the joined heads, and the
# inputs of the two products of the feed-forward network.
INPUTS: Final = {"qkv": DIMENSIONS, "attention": DIMENSIONS, "up": DIMENSIONS, "down": 4 * DIMENSIONS}
LIMITS = Path(__file__).with_name("int8_limits.npy")  # made by fit_int8_limits.py
CAP: Final = 3.0

_LEVELS = 255
_GELU_LOW = np.float32(-0.17)  # the least value of GELU


def int8_encoder(tensors: Safetensors) -> bytes:
    """The model with its weights; inputs and outputs are those of `minilm_graph.write_encoder`."""
    return _Int8Encoder(tensors).whole()


def read_by(kind: str, layer: int) -> str:
    """The name, in both graphs, of the tensor that is rounded for the input `kind` of layer 1 to 6."""
    names = {"attention": "heads", "up": "attended", "down": "gelu"}
    return f"hidden_{layer - 1}" if kind == "qkv" else f"layer_{layer}.{names[kind]}"


class _Int8Encoder(Encoder):
    def __init__(self, tensors: Safetensors) -> None:
        super().__init__(tensors)
        with LIMITS.open("rb") as file:
            parts = np.split(np.load(file).astype(np.float32), np.cumsum(list(INPUTS.values()))[:-1], axis=1)
        self._limits = dict(zip(INPUTS, parts, strict=True))

    @override
    def look_up(self, words: Floats, positions: str, scale: str, shift: str) -> str:
        steps = (np.abs(words).max(axis=1, keepdims=True) / np.iinfo(np.int8).max).astype(np.float32)
        table = self._weight("words", np.rint(words / steps).astype(np.int8))
        rounded = self._node("Gather", [table, "ids"], "rounded")
        steps_of = self._node("Gather", [self._weight("words.scale", steps), "ids"], "rounded.scale")
        whole = self._node("Cast", [rounded], "rounded.float", to=TensorProto.FLOAT)
        length = self._node("Shape", ["ids"], "length", start=1)
        here = self._node("Slice", [positions, self._weight("first", np.zeros(1, np.int64)), length], "placed")
        total = self._node("Add", [self._node("Mul", [whole, steps_of], "looked_up"), here], "hidden_0.sum")
        return self._node("LayerNormalization", [total, scale, shift], "hidden_0", axis=-1, epsilon=EPSILON)

    @override
    def attend(self, number: int, inputs: str, weight: Floats, bias: Floats) -> str:
        here = f"layer_{number}.qkv"
        rounded, divisors = self._rounded(number, "qkv", inputs)
        weights, scales = self._rounded_weight(here, weight * divisors[:, None])
        zero = self._weight(f"{here}.weight.zero", np.zeros(weight.shape[1], np.int8))
        inputs_of = [rounded, weights, self._weight(f"{here}.bias", bias), f"{here}.scale", scales]
        inputs_of += ["mask", f"{here}.zero", zero]
        return self._node("QAttention", inputs_of, f"layer_{number}.heads", domain=MICROSOFT, num_heads=HEADS)

    @override
    def product(self, number: int, kind: str, inputs: str, weight: Floats) -> str:
        here = f"layer_{number}.{kind}"
        rounded, divisors = self._rounded(number, kind, inputs)
        weights, scales = self._rounded_weight(here, weight * divisors[:, None])
        inputs_of = [rounded, weights, f"{here}.scale", scales, f"{here}.zero"]
        return self._node("MatMulIntegerToFloat", inputs_of, f"{here}.product", domain=MICROSOFT)

    def _rounded(self, number: int, kind: str, inputs: str) -> tuple[str, Floats]:
        """The name of the input in uint8, and the divisors of its channels."""
        here = f"layer_{number}.{kind}"
        limits = self._limits[kind][number - 1]
        divisors = np.maximum(1, limits / (CAP * np.median(limits))).astype(np.float32)
        high = np.float32((limits / divisors).max())
        low = _GELU_LOW if kind == "down" else -high
        scale = (high - low) / _LEVELS
        if divisors.max() > 1:
            inputs = self._node("Mul", [inputs, self._weight(f"{here}.divisors", 1 / divisors)], f"{here}.divided")
        names = [self._weight(f"{here}.scale", scale), self._weight(f"{here}.zero", np.uint8(np.rint(-low / scale)))]
        return self._node("QuantizeLinear", [inputs, *names], f"{here}.rounded"), divisors

    def _rounded_weight(self, name: str, weight: Floats) -> tuple[str, str]:
        """The names of the weight in int8 and of its scales, one for each output channel."""
        scales = (np.abs(weight).max(axis=0) / np.iinfo(np.int8).max).astype(np.float32)
        rounded = np.rint(weight / scales).astype(np.int8)
        return self._weight(name, rounded), self._weight(f"{name}.weight.scale", scales)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true", help="write the model and its tokenizer into the package")
    write = arguments.parse_args().write
    weights = published_weights()
    built = {ENCODER: int8_encoder(Safetensors(weights)), TOKENIZER: weights.with_name(TOKENIZER).read_bytes()}
    for name, content in built.items():
        path = Path(str(SHIPPED / name))
        same = path.exists() and path.read_bytes() == content
        print(f"{name}: {len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()}", "as it ships" * same)
        if write:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        elif not same:
            sys.exit(f"{path} is another one: --write replaces it; then change its hash in weights.py")


if __name__ == "__main__":
    main()
