"""Reads a model folder exported by Hugging Face's optimum: the kind of model, the meaning of its labels, its name."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from monitor.assess.embed.weights import file_sha256
from monitor.core.errors import WrongSettings

Kind = Literal["token classifier", "cross-encoder"]


class Use(StrEnum):
    """What a model is for: it finds unsupported parts of an answer, or orders texts by how well they answer."""

    DETECTOR = "detector"
    RERANKER = "reranker"

    @property
    def setting(self) -> str:
        """How the names of its settings begin."""
        return f"MONITOR_{self.upper()}"

    @property
    def task(self) -> str:
        """What to export the model for."""
        return "token-classification or text-classification" if self is Use.DETECTOR else "text-classification"

    @property
    def export(self) -> str:
        return f"export it with optimum (`monitor docs quality/{self}` says how)"


_ARCHITECTURES: Mapping[str, Kind] = {
    "ForTokenClassification": "token classifier",
    "ForSequenceClassification": "cross-encoder",
}
_PAIRS = "…ForSequenceClassification"
_UNNAMED = ("LABEL_0", "LABEL_1")  # the default names of two labels, which transformers leaves out of config.json
_UNCARRIED = re.compile(r"hallucinat|(un|not|non)[-_ ]?(supported|grounded|carried)|fabricat", re.IGNORECASE)
_CARRIED = re.compile(r"(not|non|no)[-_ ]?(hallucinat|fabricat)", re.IGNORECASE)
_ENTAILMENT = re.compile(r"(?!not|non|no[-_ ]).*entail", re.IGNORECASE)
# These models count positions from the padding id + 1, so their last positions are never reached.
_SHIFTED = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "longformer", "data2vec-text", "mpnet")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """A folder that holds a model.

    `labels` are the numbers of the labels in use: for a token classifier the labels of tokens that are not carried, for
    a cross-encoder the label of entailment, for a reranker its only one. `positions` is the longest input in tokens,
    None if config.json does not say. `name` comes from config.json, `digest` (hex SHA-256) from all files of the model.
    """

    use: Use
    graph: Path
    tokenizer: Path
    kind: Kind
    label_count: int
    labels: tuple[int, ...]
    positions: int | None
    vocabulary: int | None
    padding: int
    name: str
    digest: str


def model_folder(path: Path, use: Use = Use.DETECTOR) -> ModelFolder:
    """Reads a folder with `model.onnx` (external data in files named `model.onnx…`), tokenizer.json and config.json.

    Raises:
        WrongSettings: a file is missing, or config.json names no known kind of model for this use, or has labels of
            unknown meaning.
    """
    graph, tokenizer, config_file = (path / name for name in ("model.onnx", "tokenizer.json", "config.json"))
    for file in (graph, tokenizer, config_file):
        if not file.is_file():
            raise WrongSettings(
                f"{use.setting}__PATH: {file} is missing: the folder needs model.onnx, tokenizer.json and "
                f"config.json of the same model; {use.export}"
            )
    config = _config(config_file, use)
    try:
        architecture, kind = _kind(config, use)
        names = _label_names(config)
        if use is Use.RERANKER:
            labels: tuple[int, ...] = _only(names)
        else:
            labels = _uncarried(names) if kind == "token classifier" else _entailment(names)
    except WrongSettings as error:
        raise WrongSettings(f"{config_file}: {error}") from None
    name = PurePosixPath(str(config.get("_name_or_path") or "")).name
    return ModelFolder(
        use=use,
        graph=graph,
        tokenizer=tokenizer,
        kind=kind,
        label_count=len(names),
        labels=labels,
        positions=_positions(config),
        vocabulary=_number(config, "vocab_size"),
        padding=_number(config, "pad_token_id") or 0,
        name=name or architecture,
        digest=_digest([*sorted(path.glob("model.onnx*")), tokenizer, config_file]),
    )


def _config(path: Path, use: Use) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WrongSettings(f"{path}: cannot be read ({error}); {use.export}") from None
    if not isinstance(found, dict):
        raise WrongSettings(f"{path}: is not the config of a model; {use.export}")
    return found


def _kind(config: Mapping[str, Any], use: Use) -> tuple[str, Kind]:
    architectures = config.get("architectures")
    for architecture in architectures if isinstance(architectures, list) else ():
        for suffix, kind in _ARCHITECTURES.items():
            if str(architecture).endswith(suffix) and (use is Use.DETECTOR or kind == "cross-encoder"):
                return str(architecture), kind
    wanted = "…ForTokenClassification or a …ForSequenceClassification" if use is Use.DETECTOR else _PAIRS
    raise WrongSettings(f"architectures is {architectures}: a {use} is a {wanted}")


def _label_names(config: Mapping[str, Any]) -> tuple[str, ...]:
    given = config.get("id2label")
    if given is None:
        return _UNNAMED
    if not isinstance(given, dict) or set(given) != {str(number) for number in range(len(given))}:
        raise WrongSettings(f'id2label is {given}: it must name each label by its number: {{"0": "…", "1": "…"}}')
    return tuple(str(given[str(number)]) for number in range(len(given)))


def _uncarried(names: tuple[str, ...]) -> tuple[int, ...]:
    """The labels of tokens that are not carried.

    LettuceDetect's labels have no names: 0 is supported, 1 is not (hallucination_dataset.py, `__getitem__`).
    """
    found = tuple(number for number, name in enumerate(names) if _UNCARRIED.search(name) and not _CARRIED.search(name))
    if not found and names == _UNNAMED:
        return (1,)
    if not 0 < len(found) < len(names):
        raise WrongSettings(
            f"id2label is {', '.join(names)}: it does not show which labels mark a token that is not carried; "
            "give those, and only those, a name with `hallucinated` or `unsupported` in it"
        )
    return found


def _entailment(names: tuple[str, ...]) -> tuple[int]:
    found = [number for number, name in enumerate(names) if _ENTAILMENT.match(name)]
    if len(found) != 1 or len(names) == 1:
        raise WrongSettings(
            f"id2label is {', '.join(names)}: a cross-encoder needs at least two labels, exactly one of them named "
            "`entailment`; if the model card says which one that is, give it this name"
        )
    return (found[0],)


def _only(names: tuple[str, ...]) -> tuple[int]:
    if len(names) != 1:
        raise WrongSettings(
            f"id2label is {', '.join(names)}: a reranker has one label, whose logit says how well a text answers; "
            "models that tell classes apart belong to MONITOR_DETECTOR__PATH"
        )
    return (0,)


def _positions(config: Mapping[str, Any]) -> int | None:
    positions = _number(config, "max_position_embeddings")
    if positions is not None and config.get("model_type") in _SHIFTED:
        positions -= (_number(config, "pad_token_id") or 0) + 1
    return positions


def _number(config: Mapping[str, Any], key: str) -> int | None:
    """A positive number, or None; models without a limit on positions say -1."""
    value = config.get(key)
    return value if isinstance(value, int) and value > 0 else None


def _digest(files: list[Path]) -> str:
    lines = "".join(f"{file_sha256(file)}  {file.name}\n" for file in files)
    return hashlib.sha256(lines.encode()).hexdigest()
