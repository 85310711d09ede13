"""Runs a user's model that reads two sequences, on onnxruntime: what a detector and a reranker have in common."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray

from monitor.assess.detect.claim_windows import Input
from monitor.assess.detect.model_folder import ModelFolder, Use
from monitor.assess.detect.tokenizer import Feed, PairTokenizer
from monitor.core.errors import WrongSettings

Device = Literal["auto", "cpu", "cuda"]

_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_OUTPUT = "logits"
# Tokens of a run with padding: for each CPU thread, and on a GPU, where four inputs of 2,048 tokens still fit in 8 GB.
_TOKENS_PER_THREAD, _TOKENS_ON_GPU = 256, 8_192
log = logging.getLogger(__name__)


class PairModel:
    """A loaded model with its tokenizer. Any number of threads may call at the same time."""

    def __init__(self, folder: ModelFolder, *, device: Device, threads: int, max_tokens: int) -> None:
        """Loads the model.

        Args:
            folder: where the model is, and what it is for.
            device: `auto` stands for the GPU if onnxruntime reaches one, else for the CPU.
            threads: on the CPU; 0 stands for one per core.
            max_tokens: tokens of one input, special ones included; fewer if the model reads fewer.

        Raises:
            WrongSettings: the model, its tokenizer or the device cannot be used; the message says what to change.
        """
        tokenizer = PairTokenizer.from_file(folder.tokenizer, padding=folder.padding)
        if folder.vocabulary is not None and tokenizer.largest >= folder.vocabulary:
            raise WrongSettings(
                f"{folder.tokenizer}: has tokens up to {tokenizer.largest}, but the model knows only "
                f"{folder.vocabulary}: they do not belong together; export both again"
            )
        self._folder: Final = folder
        self.tokenizer: Final = tokenizer
        self.window: Final = min(max_tokens, folder.positions or max_tokens)
        # Never 0, onnxruntime's default: it would pin the threads to cores, and those of two replicas to the same ones.
        threads = threads or os.cpu_count() or 1
        self.session: Final = _session(folder.graph, use=folder.use, device=device, threads=threads)
        self._inputs: Final = _named_inputs(folder, self.session)
        self._output: Final = _logits_name(folder.graph, self.session)
        self.device: Final = "cuda" if self.session.get_providers()[0] == _CUDA else "cpu"
        self.budget: Final = _TOKENS_ON_GPU if self.device == "cuda" else _TOKENS_PER_THREAD * max(threads, 2)

    def name(self, *, prompt: str | None = None) -> str:
        """The model's name, with a short hash of everything that its logits depend on."""
        content = json.dumps([self._folder.digest, self.window, prompt])
        return f"{self._folder.name}/{hashlib.sha256(content.encode()).hexdigest()[:12]}"

    def read(self, inputs: Sequence[Input]) -> Iterator[tuple[list[int], NDArray[Any], Feed]]:
        """Runs the model: positions in `inputs` with their logits and what was fed; together each position once.

        The errors of onnxruntime have no common base class.
        """
        sizes = [it.size + self.tokenizer.special for it in inputs]
        for run in _runs(sizes, self.budget):
            feed = self.tokenizer.feed([inputs[place] for place in run])
            (logits,) = self.session.run([self._output], self._named(feed))
            yield run, logits, feed

    def fails(self, error: Exception) -> WrongSettings:
        """That the model fails to run at all, with what to change."""
        return WrongSettings(
            f"{self._folder.graph}: fails to run ({error}); export model and tokenizer together, with dynamic axes for "
            "batch and sequence"
        )

    def gives_no_numbers(self) -> WrongSettings:
        """That the model returns no numbers for plain texts, with what to change."""
        return WrongSettings(
            f"{self._folder.graph}: returns no numbers for a plain sentence; export it again, in float32"
        )

    def _named(self, feed: Feed) -> dict[str, NDArray[np.int64]]:
        named = {"input_ids": feed.ids, "attention_mask": feed.mask, "token_type_ids": feed.types}
        return {name: values for name, values in named.items() if name in self._inputs}


def _session(graph: Path, *, use: Use, device: Device, threads: int) -> Any:
    providers = _providers(device, use)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.enable_mem_pattern = False  # it would plan the memory again for every shape
    options.log_severity_level = 3  # errors only: it warns about every node that it places on the CPU
    try:
        session = ort.InferenceSession(str(graph), options, providers=providers)
    except Exception as error:  # noqa: BLE001  onnxruntime's errors have no common base class
        raise WrongSettings(f"{graph}: onnxruntime cannot load it ({error}); export it again") from None
    if providers[0] == _CUDA and session.get_providers()[0] != _CUDA:
        missing = "onnxruntime-gpu finds no GPU: driver, CUDA or cuDNN is missing (`monitor docs quality/detector`)"
        if device == "cuda":
            raise WrongSettings(f"{use.setting}__DEVICE is cuda, but {missing}")
        log.warning("the %s runs on the CPU: %s", use.value, missing)
    return session


def _providers(device: Device, use: Use) -> list[str]:
    offered = ort.get_available_providers()
    if device == "cpu" or (device == "auto" and _CUDA not in offered):
        return [_CPU]
    if _CUDA not in offered:
        raise WrongSettings(
            f"{use.setting}__DEVICE is cuda, but this onnxruntime does not support GPUs: install rag-monitor[gpu] "
            "as `monitor docs quality/detector` says, or set the device to auto"
        )
    ort.preload_dlls()  # CUDA and cuDNN from the nvidia wheels that the extra brings
    return [_CUDA, _CPU]


def _named_inputs(folder: ModelFolder, session: Any) -> frozenset[str]:
    """The names of the graph's inputs, all of which can be supplied."""
    names = frozenset(it.name for it in session.get_inputs())
    if not {"input_ids", "attention_mask"} <= names or names - _INPUTS:
        raise WrongSettings(
            f"{folder.graph}: has the inputs {', '.join(sorted(names))}; a {folder.use} has input_ids, attention_mask "
            f"and optionally token_type_ids: export it for the task {folder.use.task}"
        )
    return names


def _logits_name(graph: Path, session: Any) -> str:
    names = [it.name for it in session.get_outputs()]
    if _OUTPUT in names or len(names) == 1:
        return _OUTPUT if _OUTPUT in names else str(names[0])
    raise WrongSettings(f"{graph}: has the outputs {', '.join(names)} but no {_OUTPUT}: export it for its task")


def _runs(sizes: Sequence[int], budget: int) -> Iterator[list[int]]:
    """The positions of inputs to run together: similar sizes, longest first, at most `budget` tokens with padding."""
    order = sorted(range(len(sizes)), key=lambda place: -sizes[place])
    start = 0
    while start < len(order):
        end = start + max(1, budget // sizes[order[start]])
        yield order[start:end]
        start = end
