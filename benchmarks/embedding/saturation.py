"""Emulates the int8 build on processors without 8-bit dot products, and measures what their saturation changes.

    python benchmarks/embedding/saturation.py [--short] [--json PATH]

onnxruntime's kernels for x86 before AVX-512 VNNI and AVX-VNNI multiply unsigned inputs by signed weights with
VPMADDUBSW, which adds each two neighbouring products in 16 bits with saturation (Intel, Software Developer's Manual,
volume 2). Here the same graph runs on onnx's reference evaluator with its 8-bit products in numpy: once exact, once
with the sums of two clipped as there. Kernels for arm64 add products in 32 bits, with dot products or without: nothing
is clipped there.

- the cosine of the exact emulation to onnxruntime on this machine, which shows that the emulation is right
- how many sums of two saturate, by the number of inputs of the product
- the cosine of each text's and token's vector with saturation to that without
- on the first 20 labelled rows of each file of dev (with --short, two): the share of verdicts that change. Nothing is
  tuned here. Needs MONITOR_DATA_DIR (default ../shared/data).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from typing_extensions import override

from benchmarks.embedding.run import CACHE, show, texts
from benchmarks.figures import finish, options
from benchmarks.labelled import DATA, DEV, CachingEncoder, assess, cached_pipeline, read, under
from benchmarks.traffic import SEED
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.assess.embed.minilm_graph import HEADS, MICROSOFT
from monitor.assess.embed.weights import ENCODER, shipped
from monitor.assess.pipeline import Pipeline

FULL = {"texts": 150, "rows": 20}
SHORT = {"texts": 20, "rows": 2}
HIGHEST: Final = np.iinfo(np.int16).max
LOWEST: Final = np.iinfo(np.int16).min
UNSIGNED: Final = np.iinfo(np.uint8).max

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]


class Products:
    """8-bit products with sums of two that saturate or not; counts those that do."""

    def __init__(self, *, saturate: bool) -> None:
        self._saturate = saturate
        self._near: dict[bytes, tuple[Ints, Ints, Ints, Ints]] = {}
        self.saturated: Counter[int] = Counter()
        self.sums: Counter[int] = Counter()

    def __call__(self, given: NDArray[np.uint8], zero: int, weights: NDArray[np.int8]) -> Ints:
        """(rows, K) · (K, N), less the input's zero point; exact, but for what saturation takes away."""
        inputs, whole = given.astype(np.int32), weights.astype(np.int32)
        product = (given.astype(np.float64) @ whole - zero * whole.sum(axis=0)).astype(np.int32)
        if not self._saturate:
            return product
        first, second, low, high = self._candidates(whole)
        places = inputs[:, 2 * first], inputs[:, 2 * first + 1]
        sums = places[0] * low + places[1] * high
        excess = sums - np.clip(sums, LOWEST, HIGHEST)
        for row, one in enumerate(excess):
            np.subtract.at(product[row], second, one)
        self.saturated[weights.shape[0]] += int((excess != 0).sum())
        self.sums[weights.shape[0]] += inputs.shape[0] * whole.size // 2
        return product

    def _candidates(self, weights: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """The pairs of weights that saturate with the largest inputs: pair, output channel, and both weights."""
        key = weights.tobytes()
        if key not in self._near:
            low, high = weights[0::2], weights[1::2]
            most = UNSIGNED * (np.maximum(low, 0) + np.maximum(high, 0))
            least = UNSIGNED * (np.minimum(low, 0) + np.minimum(high, 0))
            pair, channel = ((most > HIGHEST) | (least < LOWEST)).nonzero()
            self._near[key] = pair, channel, low[pair, channel], high[pair, channel]
        return self._near[key]


def emulated(products: Products) -> ReferenceEvaluator:
    """The graph that ships, with its operators that onnx does not define."""

    class MatMulIntegerToFloat(OpRun):
        op_domain = MICROSOFT

        def _run(self, given: Any, weights: Any, scale: Any, scales: Any, zero: Any) -> tuple[Floats]:
            rows = given.reshape(-1, given.shape[-1])
            product = products(rows, int(zero), weights) * (scale * scales)
            return (product.reshape(*given.shape[:-1], -1).astype(np.float32),)

    class QAttention(OpRun):
        op_domain = MICROSOFT

        @override
        def _run(
            self,
            given: Any,
            weights: Any,
            bias: Any,
            scale: Any,
            scales: Any,
            mask: Any,
            zero: Any,
            *_: Any,
            num_heads: int = HEADS,
        ) -> tuple[Floats]:
            texts, length, width = given.shape
            product = products(given.reshape(-1, width), int(zero), weights) * (scale * scales) + bias
            split = product.astype(np.float32).reshape(texts, length, 3, num_heads, width // num_heads)
            queries, keys, values = split.transpose(2, 0, 3, 1, 4)
            scores = queries @ keys.swapaxes(-1, -2) / np.sqrt(width / num_heads)
            scores = np.where(mask[:, None, None, :] != 0, scores, -10_000.0)
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            heads = (shares / shares.sum(axis=-1, keepdims=True)) @ values
            return (heads.transpose(0, 2, 1, 3).reshape(texts, length, width).astype(np.float32),)

    class BiasGelu(OpRun):
        op_domain = MICROSOFT

        def _run(self, given: Any, bias: Any) -> tuple[Floats]:
            total = given + bias
            return ((0.5 * total * (1 + _erf(total / np.sqrt(2)))).astype(np.float32),)

    return ReferenceEvaluator(onnx.load(shipped(ENCODER)), new_ops=[MatMulIntegerToFloat, QAttention, BiasGelu])


def _erf(x: Floats) -> Floats:
    """Abramowitz and Stegun, 7.1.26: within 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    rest = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - rest * np.exp(-x * x))


def embedder(products: Products) -> MiniLMEmbedder:
    """MiniLM, with the emulation in the place of onnxruntime."""
    made = MiniLMEmbedder(cache_dir=CACHE, threads=1)
    made._session = emulated(products)  # noqa: SLF001  the same program on another processor
    return made


def cosines(ours: MiniLMEmbedder, others: MiniLMEmbedder, given: Sequence[str]) -> dict[str, dict[str, float]]:
    (vectors, tokens, _), (other_vectors, other_tokens, _) = (each.embed_and_encode(given) for each in (ours, others))
    rows, other_rows = (
        np.concatenate([t["vector"] for t in each]).astype(np.float32) for each in (tokens, other_tokens)
    )
    pairs = {"sentence vectors": (vectors * other_vectors).sum(1), "token vectors": (rows * other_rows).sum(1)}
    return {name: {"mean": float(c.mean()), "lowest": float(c.min())} for name, c in pairs.items()}


def verdicts(saturating: MiniLMEmbedder, most: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    encoder = CachingEncoder(saturating, {})
    with cached_pipeline() as exact:
        other = under(
            Pipeline(completer=ExtractiveCompleter(), encoder=encoder, embedder=encoder, profile=exact.profile),
            exact.profile,
        )
        for name in DEV:
            rows = read(name)[:most]
            pairs = list(zip(assess(exact, rows), assess(other, rows), strict=True))
            differences = [abs(a.probabilities.self_generated - b.probabilities.self_generated) for a, b in pairs]
            found[name] = {
                "rows": len(rows),
                "changed": sum(a.verdict is not b.verdict for a, b in pairs) / len(rows),
                "largest difference of a probability": max(differences),
            }
    total = sum(f["rows"] for f in found.values())
    found["all"] = {"rows": total, "changed": sum(f["changed"] * f["rows"] for f in found.values()) / total}
    return found


def main() -> None:
    arguments = options(__doc__, "fewer texts and rows, to see that it runs")
    sizes: Mapping[str, int] = SHORT if arguments.short else FULL
    every = texts(300)
    given = every[:: max(1, len(every) // sizes["texts"])]
    exact, products = embedder(Products(saturate=False)), Products(saturate=True)
    saturating = embedder(products)
    figures: dict[str, Any] = {
        "cosine of the emulation to onnxruntime here": cosines(exact, MiniLMEmbedder(cache_dir=CACHE), given),
        "cosine with saturation to without": cosines(saturating, exact, given),
    }
    if DATA.is_dir():
        figures["verdicts"] = verdicts(saturating, sizes["rows"])
    else:
        print(f"no labelled data at {DATA}: set MONITOR_DATA_DIR")
    figures["of a million sums of two, those that saturate"] = {
        f"products of {width} inputs": 1e6 * products.saturated[width] / count for width, count in products.sums.items()
    }
    show(finish(figures, seed=SEED, path=arguments.json))


if __name__ == "__main__":
    main()
