"""Writes the ONNX graph of all-MiniLM-L6-v2 from the published weights.

The model is a BERT encoder of six layers, post-norm (Devlin et al., 2019), with mean pooling. The graph already has the
form that onnxruntime runs fastest, so the optimiser stays off: one `Attention` per layer with the three projections
joined, `BiasGelu` (exact, by erf), and layer normalisation as Add, Add, LayerNormalization, which takes a third of the
time of the fused `SkipLayerNormalization` that the optimiser would insert (onnxruntime 1.31, CPU).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from monitor.assess.embed.weights import DIMENSIONS, TOKEN_DIMENSIONS, Safetensors

LAYERS = 6
HEADS = 12
MAX_TOKENS = 256  # special tokens included; the model was tuned on no more
HIDDEN_LAYERS = (3, 6)
PROJECTION = resources.files("monitor.assess.embed") / "projection.npy"  # made by tools/fit_projection.py
MICROSOFT = "com.microsoft"  # the domain of onnxruntime's own operators

EPSILON = 1e-12
_OPSET, _IR_VERSION = 18, 9
_PAGE = 4096  # bytes: the unit in which a file is mapped into memory
_IDS, _MASK = "input_ids", "attention_mask"


def write_encoder(tensors: Safetensors, data: BinaryIO, *, location: str) -> bytes:
    """Writes the weights to `data`, with one tensor in memory at a time, and returns the model that refers to them.

    Inputs, int64 [batch, seq], seq ≤ 256: `input_ids`; `attention_mask`, 1 for tokens, padding on the right.
    Outputs, float32: `token_mean` [batch, 384], the mean of the last layer's token vectors (not normalised, so that
    the windows of a long text can be averaged); `tokens` [batch, seq, 128], unit token vectors for alignment: those of
    layers 3 and 6, each of length 1, side by side, on the axes of PROJECTION; `hidden` [batch, seq, 768], the vectors
    before the projection. An output that is not requested costs nothing.

    Args:
        tensors: the published weights.
        data: an empty binary file.
        location: the file name of `data`, which the model looks up in its own directory.
    """
    return Encoder(tensors, data, location).whole()


class Encoder:
    """Collects nodes and weights in the order of computation. Each method returns the name of its result.

    Other builds override `look_up`, `attend` and `product` only (tools/build_int8.py). Without `data`, the model holds
    its weights itself.
    """

    def __init__(self, tensors: Safetensors, data: BinaryIO | None = None, location: str = "") -> None:
        self._tensors = tensors
        self._data = data
        self._location = location
        self._nodes: list[NodeProto] = []
        self._weights: list[TensorProto] = []

    def whole(self) -> bytes:
        """Writes all weights and returns the model."""
        state = self._embedded()
        for number in range(1, LAYERS + 1):
            state = self._layer(number, state)
        self._pool(state)
        self._project_tokens()
        return self._model()

    def _embedded(self) -> str:
        part = self._tensors.tensor
        # Every token has type 0, so the vector of that type is added to the positions here, once.
        positions = part("embeddings.position_embeddings.weight")[:MAX_TOKENS]
        positions = positions + part("embeddings.token_type_embeddings.weight")[0]
        self._node("Cast", [_IDS], "ids", to=TensorProto.INT32)
        self._node("Cast", [_MASK], "mask", to=TensorProto.INT32)
        return self.look_up(
            part("embeddings.word_embeddings.weight"),
            self._weight("positions", positions),
            self._weight("embeddings.scale", part("embeddings.LayerNorm.weight")),
            self._weight("embeddings.shift", part("embeddings.LayerNorm.bias")),
        )

    def _layer(self, number: int, state: str) -> str:
        here, there = f"layer_{number}", f"encoder.layer.{number - 1}"
        sides = [f"{there}.attention.self.{side}" for side in ("query", "key", "value")]
        joined = np.concatenate([self._matrix(side) for side in sides], axis=1)
        bias = np.concatenate([self._tensors.tensor(f"{side}.bias") for side in sides])
        heads = self.attend(number, state, joined, bias)
        heads = self.product(number, "attention", heads, self._matrix(f"{there}.attention.output.dense"))
        state = self._normed(f"{there}.attention.output", heads, state, f"{here}.attended")

        inner = self.product(number, "up", state, self._matrix(f"{there}.intermediate.dense"))
        shift = self._weight(f"{here}.up.bias", self._tensors.tensor(f"{there}.intermediate.dense.bias"))
        inner = self._node("BiasGelu", [inner, shift], f"{here}.gelu", domain=MICROSOFT)
        inner = self.product(number, "down", inner, self._matrix(f"{there}.output.dense"))
        return self._normed(f"{there}.output", inner, state, f"hidden_{number}")

    def look_up(self, words: NDArray[np.float32], positions: str, scale: str, shift: str) -> str:
        """LayerNorm(the rows of `words` + `positions`), the states that the first layer reads."""
        inputs = ["ids", "", self._weight("words", words), positions, "", scale, shift, "mask"]
        outputs = ["hidden_0", "unused.lengths"]
        return self._node("EmbedLayerNormalization", inputs, *outputs, domain=MICROSOFT, epsilon=EPSILON)

    def attend(self, number: int, inputs: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        """Self-attention with the three projections joined; the result has the heads side by side."""
        here = f"layer_{number}"
        inputs_of = [inputs, self._weight(f"{here}.qkv", weight), self._weight(f"{here}.qkv.bias", bias), "mask"]
        return self._node("Attention", inputs_of, f"{here}.heads", domain=MICROSOFT, num_heads=HEADS)

    def product(self, number: int, kind: str, inputs: str, weight: NDArray[np.float32]) -> str:
        """Inputs · W, where `kind` is one of the layer's products: attention, up or down."""
        here = f"layer_{number}.{kind}"
        return self._node("MatMul", [inputs, self._weight(here, weight)], f"{here}.product")

    def _pool(self, state: str) -> str:
        """Mean over the tokens that the mask keeps: mask · states / Σ mask."""
        self._weights.append(helper.make_tensor("axis", TensorProto.INT64, [1], [1]))
        kept = self._node("Cast", [_MASK], "kept", to=TensorProto.FLOAT)
        row = self._node("Unsqueeze", [kept, "axis"], "kept.row")
        total = self._node("MatMul", [row, state], "total.row")
        total = self._node("Squeeze", [total, "axis"], "total")
        count = self._node("ReduceSum", [kept, "axis"], "count", keepdims=1)
        return self._node("Div", [total, count], "token_mean")

    def _project_tokens(self) -> str:
        """Unit vectors on the axes that distinguish tokens best."""
        units = [
            self._node("LpNormalization", [f"hidden_{n}"], f"hidden_{n}.unit", axis=-1, p=2) for n in HIDDEN_LAYERS
        ]
        joined = self._node("Concat", units, "hidden", axis=-1)
        with PROJECTION.open("rb") as file:
            axes = self._weight("axes", np.load(file).astype(np.float32))
        return self._node("LpNormalization", [self._node("MatMul", [joined, axes], "on_axes")], "tokens", axis=-1, p=2)

    def _model(self) -> bytes:
        def value(name: str, kind: int, *shape: str | int) -> Any:
            return helper.make_tensor_value_info(name, kind, shape)

        inputs = [value(name, TensorProto.INT64, "batch", "seq") for name in (_IDS, _MASK)]
        outputs = [value("token_mean", TensorProto.FLOAT, "batch", DIMENSIONS)]
        outputs.append(value("tokens", TensorProto.FLOAT, "batch", "seq", TOKEN_DIMENSIONS))
        outputs.append(value("hidden", TensorProto.FLOAT, "batch", "seq", DIMENSIONS * len(HIDDEN_LAYERS)))
        graph = helper.make_graph(self._nodes, "all-MiniLM-L6-v2", inputs, outputs, self._weights)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        return bytes(model.SerializeToString(deterministic=True))

    def _normed(self, there: str, product: str, residual: str, output: str) -> str:
        """LayerNorm(product + b + residual)."""
        part = self._tensors.tensor
        bias = self._weight(f"{output}.bias", part(f"{there}.dense.bias"))
        total = self._node("Add", [self._node("Add", [product, bias], f"{output}.biased"), residual], f"{output}.sum")
        scale = self._weight(f"{output}.scale", part(f"{there}.LayerNorm.weight"))
        shift = self._weight(f"{output}.shift", part(f"{there}.LayerNorm.bias"))
        return self._node("LayerNormalization", [total, scale, shift], output, axis=-1, epsilon=EPSILON)

    def _matrix(self, name: str) -> NDArray[np.float32]:
        """The weight of a linear layer as MatMul needs it, [in, out]; torch stores [out, in]."""
        return self._tensors.tensor(f"{name}.weight").T

    def _node(self, kind: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **attributes))
        return outputs[0]

    def _weight(self, name: str, values: NDArray[Any] | np.generic) -> str:
        """Stores a weight, float32 or 8-bit: in the data file, starting at the next page, or in the model."""
        raw = np.asarray(values, order="C")
        if self._data is None:
            self._weights.append(numpy_helper.from_array(raw, name))
            return name
        self._data.seek(-self._data.tell() % _PAGE, os.SEEK_CUR)
        place = {"location": self._location, "offset": self._data.tell(), "length": raw.nbytes}
        self._data.write(raw.data)
        tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(raw.dtype), dims=raw.shape)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self._weights.append(tensor)
        return name
