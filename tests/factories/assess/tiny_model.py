"""Models small enough to be made in a test: a token is carried where the first sequence holds the same one.

The token classifier gives ±4 for each token; the cross-encoder's logit of entailment is 4 where all tokens of the
second sequence stand in the first one, else -4, and so is the only logit of the reranker. All tell the sequences apart
by `token_type_ids`, or, without them, by the first separator.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from monitor.assess.detect.classifiers import QUESTION_PROMPT, SUMMARY_PROMPT

PAD, CLS, SEP, UNKNOWN = range(4)
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]
WORDS = [
    *("the", "shop", "opens", "on", "monday", "tuesday", "at", "nine", "ten", "zoe", "pays", "42", "euros", "parcels"),
    *("arrive", "returns", "are", "free", "which", "day", "passage", *"abx123456789", *".,!?:;-(){}", "🎉", "🚚"),
    *"店舗は月火曜日に開きます。",
]


def word_tokenizer(words=WORDS):
    """BERT's, with whole words for word pieces; what it does not know is [UNK]."""
    prompts = f"{QUESTION_PROMPT} {SUMMARY_PROMPT}".replace("{question}", "").replace("{documents}", "")
    pre = pre_tokenizers.BertPreTokenizer()
    known = [piece for piece, _ in pre.pre_tokenize_str(prompts.lower())]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys([*SPECIAL, *words, *known]))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(strip_accents=True, lowercase=True)
    tokenizer.pre_tokenizer = pre
    return paired(tokenizer)


def byte_tokenizer():
    """Every byte a token: a character beyond ASCII is two to four of them, with its offsets each."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: number for number, piece in enumerate([*SPECIAL, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return paired(tokenizer)


def paired(tokenizer):
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    return tokenizer


@dataclass(frozen=True, kw_only=True)
class TinyModel:
    """What is to be written; the defaults make a LettuceDetect in small."""

    tokenizer: Tokenizer
    pairs: bool = False
    ranks: bool = False  # a cross-encoder with one label
    typed: bool = True
    labels: tuple[str, ...] | None = None
    config: dict[str, Any] | None = None
    entailed: int = 0  # the label of entailment, of three
    constant: float | None = None  # a logit instead
    input_names: tuple[str, str, str] = ("input_ids", "attention_mask", "token_type_ids")
    output_name: str = "logits"
    batch: str | int = "batch"

    def but(self, **changes):
        return replace(self, **changes)

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        save_model(self._model(), str(folder / "model.onnx"))
        self.tokenizer.save(str(folder / "tokenizer.json"))
        architecture = "TinyForSequenceClassification" if self.pairs or self.ranks else "TinyForTokenClassification"
        labels = (
            self.labels
            or (("LABEL_0",) if self.ranks else None)
            or (("entailment", "neutral", "contradiction") if self.pairs else None)
        )
        config = {"architectures": [architecture], "_name_or_path": "someone/tiny", "max_position_embeddings": 512}
        config |= {"vocab_size": self.tokenizer.get_vocab_size(), "pad_token_id": PAD}
        if labels is not None:
            config["id2label"] = {str(number): label for number, label in enumerate(labels)}
        (folder / "config.json").write_text(json.dumps(config | (self.config or {})), encoding="utf-8")
        return folder

    def _model(self):
        ids, mask, types = self.input_names
        graph = _Graph()
        node, constant = graph.node, graph.constant
        one, row, column = constant("one", 1), constant("row", [2]), constant("column", [1])
        if self.typed:
            second = types
        else:  # behind the first separator
            ends = node("Cast", node("Equal", ids, constant("separator", SEP)), to=TensorProto.INT64)
            second = node("Min", node("CumSum", ends, constant("places", 1), exclusive=1), one)
        first = node("Mul", node("Sub", one, second), mask)
        same = node("Equal", node("Unsqueeze", ids, row), node("Unsqueeze", ids, column))
        same = node("Mul", node("Cast", same, to=TensorProto.INT64), node("Unsqueeze", first, column))
        carried = node("ReduceMax", same, row, keepdims=0)
        if self.pairs or self.ranks:
            word = node("Cast", node("Greater", ids, constant("special", SEP)), to=TensorProto.INT64)
            missing = node("Mul", node("Mul", node("Sub", one, carried), second), word)
            carried = node("Sub", one, node("ReduceMax", missing, constant("tokens", [1]), keepdims=0))
        carried = node("Cast", carried, to=TensorProto.FLOAT)
        up = node("Sub", node("Mul", carried, constant("eight", 8.0)), constant("four", 4.0))
        if self.constant is not None:
            up = node("Add", node("Mul", up, constant("nothing", 0.0)), constant("constant", self.constant))
        last = constant("last", [-1])
        down = node("Unsqueeze", node("Neg", up), last)
        up = node("Unsqueeze", up, last)
        columns = [up if number == self.entailed else down for number in range(3)] if self.pairs else [up, down]
        if self.ranks:
            columns = [up]
        graph.nodes.append(helper.make_node("Concat", columns, [self.output_name], axis=-1))

        names = [ids, mask, *([types] if self.typed else [])]
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [self.batch, "sequence"]) for name in names]
        pairs = self.pairs or self.ranks
        shape = [self.batch, len(columns)] if pairs else [self.batch, "sequence", 2]
        outputs = [helper.make_tensor_value_info(self.output_name, TensorProto.FLOAT, shape)]
        made = helper.make_graph(graph.nodes, "tiny", inputs, outputs, graph.constants)
        return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


class _Graph:
    """Nodes in the order of computation; each method gives the name of its result."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def node(self, kind, *inputs, **attributes):
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def constant(self, name, value):
        array = np.asarray(value)
        array = array.astype(np.float32 if array.dtype == float else np.int64)
        self.constants.append(numpy_helper.from_array(array, name))
        return name
