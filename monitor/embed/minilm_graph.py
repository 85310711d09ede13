"""The ONNX graph of all-MiniLM-L6-v2, written from the published weights.

A BERT encoder of six layers, post-norm (Devlin et al., 2019), with mean pooling. The graph is already in the form that
onnxruntime runs fastest, so its optimiser stays off: one `Attention` per layer with the three projections joined,
`BiasGelu` (exact, by erf), and layer normalisation as Add, Add, LayerNormalization, which takes a third of the time of
the fused `SkipLayerNormalization` that the optimiser would put there (onnxruntime 1.31, CPU).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper

from monitor.embed.weights import Safetensors

DIMENSIONS = 384
LAYERS = 6
HEADS = 12
MAX_TOKENS = 256  # special tokens included; the model was tuned on no more
HIDDEN_LAYERS = (3, 6)
TOKEN_DIMENSIONS = 128
PROJECTION = resources.files("monitor.embed") / "projection.npy"  # made by benchmarks/fit_projection.py

_EPSILON = 1e-12
_MICROSOFT = "com.microsoft"
_OPSET, _IR_VERSION = 18, 9
_PAGE = 4096  # the unit in which a file is mapped into memory
_IDS, _MASK = "input_ids", "attention_mask"


def write_encoder(tensors: Safetensors, data: BinaryIO, *, location: str) -> bytes:
    """Writes the weights to `data`, one tensor in memory at a time; returns the model that refers to them.

    Inputs, int64 [batch, seq], seq ≤ 256: `input_ids`; `attention_mask`, 1 for tokens, padding on the right.
    Outputs, float32: `token_mean` [batch, 384], the mean of the last layer's token vectors (not normalised, so that
    the windows of a long text can be averaged); `tokens` [batch, seq, 128], unit token vectors for alignment: those of
    layers 3 and 6, each of length 1, side by side, on the axes of PROJECTION; `hidden` [batch, seq, 768], the same
    before the projection. What is not asked for costs nothing.

    Args:
        tensors: the published weights.
        data: an empty binary file.
        location: the name that the model will find `data` by, in its own directory.
    """
    encoder = _Encoder(tensors, data, location)
    state = encoder.embeddings()
    for number in range(1, LAYERS + 1):
        state = encoder.layer(number, state)
    encoder.pool(state)
    encoder.project_tokens()
    return encoder.model()


class _Encoder:
    """Nodes and weights, collected in the order of computation. Each method returns the name of its result."""

    def __init__(self, tensors: Safetensors, data: BinaryIO, location: str) -> None:
        self._tensors = tensors
        self._data = data
        self._location = location
        self._nodes: list[NodeProto] = []
        self._weights: list[TensorProto] = []

    def embeddings(self) -> str:
        part = self._tensors.tensor
        words = self._weight("words", part("embeddings.word_embeddings.weight"))
        # Every token is of type 0, so that type's vector is added to the positions once and for all.
        positions = part("embeddings.position_embeddings.weight")[:MAX_TOKENS]
        positions = positions + part("embeddings.token_type_embeddings.weight")[0]
        scale = self._weight("embeddings.scale", part("embeddings.LayerNorm.weight"))
        shift = self._weight("embeddings.shift", part("embeddings.LayerNorm.bias"))
        ids = self._node("Cast", [_IDS], "ids", to=TensorProto.INT32)
        mask = self._node("Cast", [_MASK], "mask", to=TensorProto.INT32)
        inputs = [ids, "", words, self._weight("positions", positions), "", scale, shift, mask]
        outputs = ["hidden_0", "unused.lengths"]
        return self._node("EmbedLayerNormalization", inputs, *outputs, domain=_MICROSOFT, epsilon=_EPSILON)

    def layer(self, number: int, state: str) -> str:
        here, there = f"layer_{number}", f"encoder.layer.{number - 1}"
        sides = [f"{there}.attention.self.{side}" for side in ("query", "key", "value")]
        joined = self._weight(f"{here}.qkv", np.concatenate([self._matrix(side) for side in sides], axis=1))
        bias = self._weight(f"{here}.qkv.bias", np.concatenate([self._tensors.tensor(f"{s}.bias") for s in sides]))
        inputs = [state, joined, bias, "mask"]
        heads = self._node("Attention", inputs, f"{here}.heads", domain=_MICROSOFT, num_heads=HEADS)
        state = self._project(f"{there}.attention.output", f"{here}.attention", heads, state, f"{here}.attended")

        up = self._weight(f"{here}.up", self._matrix(f"{there}.intermediate.dense"))
        bias = self._weight(f"{here}.up.bias", self._tensors.tensor(f"{there}.intermediate.dense.bias"))
        inner = self._node("MatMul", [state, up], f"{here}.up.product")
        inner = self._node("BiasGelu", [inner, bias], f"{here}.gelu", domain=_MICROSOFT)
        return self._project(f"{there}.output", f"{here}.down", inner, state, f"hidden_{number}")

    def pool(self, state: str) -> str:
        """Mean over the tokens that the mask keeps: mask · states / Σ mask."""
        self._weights.append(helper.make_tensor("axis", TensorProto.INT64, [1], [1]))
        kept = self._node("Cast", [_MASK], "kept", to=TensorProto.FLOAT)
        row = self._node("Unsqueeze", [kept, "axis"], "kept.row")
        total = self._node("MatMul", [row, state], "total.row")
        total = self._node("Squeeze", [total, "axis"], "total")
        count = self._node("ReduceSum", [kept, "axis"], "count", keepdims=1)
        return self._node("Div", [total, count], "token_mean")

    def project_tokens(self) -> str:
        """Unit vectors on the axes that tell tokens apart."""
        units = [
            self._node("LpNormalization", [f"hidden_{n}"], f"hidden_{n}.unit", axis=-1, p=2) for n in HIDDEN_LAYERS
        ]
        joined = self._node("Concat", units, "hidden", axis=-1)
        with PROJECTION.open("rb") as file:
            axes = self._weight("axes", np.load(file).astype(np.float32))
        return self._node("LpNormalization", [self._node("MatMul", [joined, axes], "on_axes")], "tokens", axis=-1, p=2)

    def model(self) -> bytes:
        def value(name: str, kind: int, *shape: str | int) -> Any:
            return helper.make_tensor_value_info(name, kind, shape)

        inputs = [value(name, TensorProto.INT64, "batch", "seq") for name in (_IDS, _MASK)]
        outputs = [value("token_mean", TensorProto.FLOAT, "batch", DIMENSIONS)]
        outputs.append(value("tokens", TensorProto.FLOAT, "batch", "seq", TOKEN_DIMENSIONS))
        outputs.append(value("hidden", TensorProto.FLOAT, "batch", "seq", DIMENSIONS * len(HIDDEN_LAYERS)))
        graph = helper.make_graph(self._nodes, "all-MiniLM-L6-v2", inputs, outputs, self._weights)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        return bytes(model.SerializeToString(deterministic=True))

    def _project(self, there: str, here: str, inputs: str, residual: str, output: str) -> str:
        """LayerNorm(inputs · W + b + residual)."""
        part = self._tensors.tensor
        product = self._node("MatMul", [inputs, self._weight(here, self._matrix(f"{there}.dense"))], f"{here}.product")
        bias = self._weight(f"{here}.bias", part(f"{there}.dense.bias"))
        total = self._node("Add", [self._node("Add", [product, bias], f"{here}.biased"), residual], f"{here}.sum")
        scale = self._weight(f"{here}.scale", part(f"{there}.LayerNorm.weight"))
        shift = self._weight(f"{here}.shift", part(f"{there}.LayerNorm.bias"))
        return self._node("LayerNormalization", [total, scale, shift], output, axis=-1, epsilon=_EPSILON)

    def _matrix(self, name: str) -> NDArray[np.float32]:
        """A linear layer's weight as MatMul wants it, [in, out]; torch keeps [out, in]."""
        return self._tensors.tensor(f"{name}.weight").T

    def _node(self, kind: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **attributes))
        return outputs[0]

    def _weight(self, name: str, values: NDArray[np.float32]) -> str:
        """Writes a weight to the data file at the next page."""
        raw = np.ascontiguousarray(values, "<f4")
        self._data.seek(-self._data.tell() % _PAGE, os.SEEK_CUR)
        place = {"location": self._location, "offset": self._data.tell(), "length": raw.nbytes}
        self._data.write(raw.data)
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=raw.shape)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self._weights.append(tensor)
        return name
