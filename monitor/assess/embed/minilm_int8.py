"""Writes the encoder's graph with matrix products in 8-bit integers: about three times as fast, and no longer exact.

Weights are rounded to int8, a scale for each output channel. Inputs are rounded to uint8 within fixed limits, which
`tools/fit_int8_limits.py` derived from the model, so the vectors of a text do not depend on what it is run with.
A channel whose limit is more than CAP times the median limit is divided before rounding, and its weights multiplied, so
that a few large channels do not cost all others their resolution (Xiao et al., SmoothQuant, 2023). Embeddings,
attention scores, normalisation, GELU and the token projection stay in float32.

On processors without 8-bit dot products of 32-bit sums (AVX-512 VNNI, AVX-VNNI, AMX, Arm's dot product) sums of two
products may saturate: other vectors, and no gain.
"""

from __future__ import annotations

from importlib import resources
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from monitor.assess.embed.minilm_graph import DIMENSIONS, HEADS, MICROSOFT, Encoder
from monitor.assess.embed.weights import Safetensors

Floats = NDArray[np.float32]

# The inputs that are rounded in each layer, with their channels: the input of the attention, the joined heads, and the
# inputs of the two products of the feed-forward network.
INPUTS: Final = {"qkv": DIMENSIONS, "attention": DIMENSIONS, "up": DIMENSIONS, "down": 4 * DIMENSIONS}
LIMITS = resources.files("monitor.assess.embed") / "int8_limits.npy"  # made by tools/fit_int8_limits.py
CAP: Final = 3.0

_LEVELS = 255
_GELU_LOW = np.float32(-0.17)  # the least value of GELU


def write_encoder(tensors: Safetensors, data: BinaryIO, *, location: str) -> bytes:
    """Writes the weights and returns the model; inputs and outputs are those of `minilm_graph.write_encoder`."""
    return _Int8Encoder(tensors, data, location).whole()


def read_by(kind: str, layer: int) -> str:
    """The name, in both graphs, of the tensor that is rounded for the input `kind` of layer 1 to 6."""
    names = {"attention": "heads", "up": "attended", "down": "gelu"}
    return f"hidden_{layer - 1}" if kind == "qkv" else f"layer_{layer}.{names[kind]}"


class _Int8Encoder(Encoder):
    def __init__(self, tensors: Safetensors, data: BinaryIO, location: str) -> None:
        super().__init__(tensors, data, location)
        with LIMITS.open("rb") as file:
            parts = np.split(np.load(file).astype(np.float32), np.cumsum(list(INPUTS.values()))[:-1], axis=1)
        self._limits = dict(zip(INPUTS, parts, strict=True))

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
