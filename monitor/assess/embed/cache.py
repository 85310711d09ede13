"""Caches in front of the encoders: no text is embedded or encoded twice while the cache still holds its vectors."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from threading import Lock
from typing import Any

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from typing_extensions import override

from monitor.assess.embed.sentences import Vectors as SentenceVectors
from monitor.assess.embed.tokens import Tokens
from monitor.assess.embed.windows import Vectors
from monitor.assess.ports import Embedder, OnePass, Piecewise, TokenEncoder


def content_key(text: str) -> bytes:
    """The SHA-256 of a text, which is its key in the caches. A lone surrogate is hashed as it is."""
    return sha256(text.encode(errors="surrogatepass")).digest()


class ArrayCache:
    """Arrays by content key. Drops the least recently used ones to stay within `max_bytes`, keys and overhead included.

    One thread calls at a time.
    """

    # Bytes that an entry takes besides its numbers: key, array header, and its size and slots in three dictionaries.
    overhead = sys.getsizeof(b"") + 32 + sys.getsizeof(np.empty(0)) + 272

    def __init__(self, max_bytes: int) -> None:
        self._arrays: LRUCache[bytes, NDArray[Any]] = LRUCache(max_bytes, lambda array: array.nbytes + self.overhead)

    def __len__(self) -> int:
        return len(self._arrays)

    @property
    def nbytes(self) -> int:
        return int(self._arrays.currsize)

    def get(self, key: bytes) -> NDArray[Any] | None:
        """The array under `key`, which the caller must not write to, marked as the most recently used."""
        return self._arrays.get(key)

    def put(self, key: bytes, array: NDArray[Any]) -> None:
        """Stores a copy of `array`, unless the array alone exceeds the bound."""
        self._arrays.pop(key, None)  # replaced in place, it could push out more entries than its new size needs
        with suppress(ValueError):  # the array alone exceeds the bound
            self._arrays[key] = array.copy()  # a row of a batch would keep the whole batch in memory


class CachedEmbedder(Embedder):
    """An `Embedder` that asks `inner` once for each distinct text and keeps up to `max_bytes` of vectors.

    When `inner` fails midway, the pieces it has finished stay in the cache, so that a repeated call asks only for the
    rest (as far as `max_bytes` holds them). As many threads may call as may call `inner`.
    """

    def __init__(self, inner: Embedder, max_bytes: int) -> None:
        self._inner = inner
        self._lock = Lock()
        self._cache = ArrayCache(max_bytes)
        self.hits = 0  # texts answered without `inner`, including repetitions within a call
        self.misses = 0  # texts that `inner` was asked for

    @property
    @override
    def model(self) -> str:
        return self._inner.model

    @property
    @override
    def dimensions(self) -> int:
        return self._inner.dimensions

    @property
    def nbytes(self) -> int:
        return self._cache.nbytes

    @override
    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        keys = [content_key(text) for text in places]
        with self._lock:
            found = [self._cache.get(key) for key in keys]
        missing = [place for place, vector in enumerate(found) if vector is None]
        if missing:
            distinct = list(places)
            for rows, vectors in self._pieces([distinct[place] for place in missing]):
                with self._lock:
                    for row, vector in zip(rows, vectors, strict=True):
                        found[missing[row]] = vector
                        self._cache.put(keys[missing[row]], vector)
        with self._lock:
            self.misses += len(missing)
            self.hits += len(texts) - len(missing)
        vectors = np.array(found, np.float32)
        return vectors if len(places) == len(texts) else vectors[[places[text] for text in texts]]

    def _pieces(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        if isinstance(self._inner, Piecewise):
            yield from self._inner.pieces(texts)
        else:
            yield range(len(texts)), self._inner.embed(texts)

    def remember(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Stores vectors that were computed elsewhere."""
        with self._lock:
            for text, vector in zip(texts, vectors, strict=True):
                self._cache.put(content_key(text), vector)


class CachedTokenEncoder(TokenEncoder):
    """A `TokenEncoder` that keeps up to `max_bytes` of tokens and of vectors of sentences.

    If `inner` is also the embedder behind `embedder`, the vectors of each pass go into its cache. What `sentences` is
    asked for after `encode` costs no second pass, whatever `max_bytes` is.
    """

    def __init__(self, inner: TokenEncoder, max_bytes: int, *, embedder: CachedEmbedder | None = None) -> None:
        self._inner = inner
        self._embedder = embedder
        self._lock = Lock()
        self._cache = ArrayCache(max_bytes)
        self._latest: dict[str, SentenceVectors] = {}  # of the texts that `encode` was asked for last

    @property
    @override
    def token_model(self) -> str:
        return self._inner.token_model

    @override
    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        held, latest = {}, {}
        keys = {text: content_key(text) for text in dict.fromkeys(texts)}
        with self._lock:
            for text, key in keys.items():
                tokens, sentences = self._cache.get(key), self._cache.get(_of_sentences(key))
                if tokens is not None and sentences is not None:
                    held[text], latest[text] = tokens, sentences
        missing = [text for text in keys if text not in held]
        if missing:
            found, vectors = self._computed(missing)
            held.update(zip(missing, found, strict=True))
            latest.update(zip(missing, vectors, strict=True))
            with self._lock:
                for text in missing:
                    self._cache.put(keys[text], held[text])
                    self._cache.put(_of_sentences(keys[text]), latest[text])
        self._latest = latest
        return [held[text] for text in texts]

    @override
    def sentences(self, texts: Sequence[str]) -> list[SentenceVectors]:
        latest = self._latest
        if not all(text in latest for text in texts):
            self.encode(texts)
            latest = self._latest
        return [latest[text] for text in texts]

    def _computed(self, texts: Sequence[str]) -> tuple[list[Tokens], list[SentenceVectors]]:
        if isinstance(self._inner, OnePass):
            vectors, tokens, sentences = self._inner.embed_and_encode(texts)
            if self._embedder is not None:
                self._embedder.remember(texts, vectors)
            return tokens, sentences
        return self._inner.encode(texts), self._inner.sentences(texts)


def _of_sentences(key: bytes) -> bytes:
    """The key of a text's sentences, as long as that of its tokens."""
    return key[::-1]
