"""all-MiniLM-L6-v2 on onnxruntime: the embedded default."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray
from tokenizers import Tokenizer

from monitor.embed.graph_cache import cached_graph
from monitor.embed.weights import published_model
from monitor.embed.windows import Vectors, join_windows, text_windows, token_windows, well_formed

_DIMENSIONS = 384
_SPECIAL = 2  # [CLS] before and [SEP] behind each window
_WINDOW = 254  # word pieces; with the special tokens the 256 that the model was tuned on
# Tokenised at a time, so that a text of a million characters needs no more memory than many short ones: a segment is
# cut at a sentence end where there is one, and a token takes some hundred bytes while the tokeniser holds it.
_SEGMENT_BYTES = 16_384
_TOKENISED_BYTES = 512 * 1024
# Padded tokens a run for each thread. Larger runs are slower, since their inner states leave the processor's cache.
_TOKENS_A_THREAD = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class _Windows:
    """Windows of several texts: the word pieces of each, without special tokens, and the text that it belongs to."""

    pieces: list[NDArray[np.int32]] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)


class MiniLMEmbedder:
    """Sentence vectors of all-MiniLM-L6-v2 in float32, cosine ≥ 0.9999 to the published model.

    A text of more than 254 word pieces is read in windows cut at sentence ends; its vector is the mean over the
    tokens of all windows. The first start builds the encoder's graph in `cache_dir`. One thread calls at a time.
    """

    model: Final = "all-MiniLM-L6-v2/fp32"
    dimensions: Final = _DIMENSIONS

    def __init__(self, *, cache_dir: Path, weights_dir: Path | None = None, threads: int = 0) -> None:
        """Loads the model; `threads` 0 is one per core.

        Raises:
            WrongSettings: the weights are missing or not the published ones, or `cache_dir` cannot be written.
        """
        published = published_model(weights_dir)
        graph = cached_graph(cache_dir, published.weights)
        self._tokenizer = Tokenizer.from_file(str(published.tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._first, self._last = self._tokenizer.encode("").ids
        # Never onnxruntime's own 0: it would pin its threads to cores, and two replicas to the same ones.
        threads = threads or os.cpu_count() or 1
        self._budget = _TOKENS_A_THREAD * max(threads, 2)
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # see minilm_graph.py
        options.enable_mem_pattern = False  # it would plan memory anew for every shape
        self._session = ort.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), 384), in order."""
        if not texts:
            return np.zeros((0, _DIMENSIONS), np.float32)
        windows = self._windows(texts)
        sizes = [len(pieces) + _SPECIAL for pieces in windows.pieces]
        means = np.empty((len(sizes), _DIMENSIONS), np.float32)
        for run in _runs(sizes, self._budget):
            feed = self._padded([windows.pieces[i] for i in run])
            (means[run],) = self._session.run(["token_mean"], feed)
        return join_windows(means, windows.owners, sizes, len(texts))

    def _windows(self, texts: Sequence[str]) -> _Windows:
        windows = _Windows()
        for group in _groups(texts):
            encodings = self._tokenizer.encode_batch([segment for _, segment in group], add_special_tokens=False)
            for (owner, segment), encoding in zip(group, encodings, strict=True):
                pieces = np.array(encoding.ids, np.int32)
                spans = [(0, len(pieces))]
                if len(pieces) > _WINDOW:
                    spans = token_windows(segment, encoding.offsets, _WINDOW)
                windows.pieces.extend(pieces[start:end] for start, end in spans)
                windows.owners.extend(owner for _ in spans)
        return windows

    def _padded(self, pieces: Sequence[NDArray[np.int32]]) -> dict[str, NDArray[np.int64]]:
        shape = len(pieces), max(map(len, pieces)) + _SPECIAL
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        ids[:, 0] = self._first
        for row, tokens in enumerate(pieces):
            ids[row, 1 : len(tokens) + 1] = tokens
            ids[row, len(tokens) + 1] = self._last
            mask[row, : len(tokens) + _SPECIAL] = 1
        return {"input_ids": ids, "attention_mask": mask}


def _groups(texts: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    """The texts in segments, each with its text's number, in groups to be tokenised together."""
    group: list[tuple[int, str]] = []
    held = 0
    for owner, text in enumerate(map(well_formed, texts)):
        for start, end in text_windows(text, _SEGMENT_BYTES):
            group.append((owner, text[start:end]))
            held += end - start
            if held >= _TOKENISED_BYTES:
                yield group
                group, held = [], 0
    if group:
        yield group


def _runs(sizes: Sequence[int], budget: int) -> Iterator[NDArray[np.intp]]:
    """Numbers of windows to run together: of like size, longest first, `budget` tokens at most with their padding."""
    order = np.argsort(-np.asarray(sizes), kind="stable")
    start = 0
    while start < len(order):
        end = start + max(1, budget // sizes[order[start]])
        yield order[start:end]
        start = end
