"""Caches in front of the encoders: no text is embedded or encoded twice while its vectors are still held."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from threading import Lock
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from monitor.assess.embed.tokens import Tokens
from monitor.assess.embed.windows import Vectors
from monitor.assess.ports import Embedder, TokenEncoder


@runtime_checkable
class Piecewise(Protocol):
    """What an embedder offers whose call is several requests, each paid for whether or not the next succeeds."""

    def pieces(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Vectors]]:
        """Places in `texts` with their unit vectors, as they are finished; together every place once.

        Raises:
            Retriable, Fatal: as `embed` does; what came before holds.
        """


@runtime_checkable
class OnePass(Protocol):
    """What a token encoder offers that is an embedder too: both for the price of one."""

    def embed_and_encode(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        """What `embed` and `encode` give; raises what they raise."""


def content_key(text: str) -> bytes:
    """The cache's key of a text: its SHA-256 (lone surrogates count as they are)."""
    return sha256(text.encode(errors="surrogatepass")).digest()


class ArrayCache:
    """Arrays by content key, the least recently used dropped first, bounded by the bytes they take with their keys."""

    # What an entry takes beside the numbers: its key, the array's header, the dictionary's node and slot.
    overhead = sys.getsizeof(b"") + 32 + sys.getsizeof(np.empty(0)) + 128

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.nbytes = 0
        self._arrays: OrderedDict[bytes, NDArray[Any]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._arrays)

    def get(self, key: bytes) -> NDArray[Any] | None:
        """The array under `key`, now the most recently used; not to be written to."""
        array = self._arrays.get(key)
        if array is not None:
            self._arrays.move_to_end(key)
        return array

    def put(self, key: bytes, array: NDArray[Any]) -> None:
        """Keeps a copy of `array`, unless it alone is over the bound."""
        old = self._arrays.pop(key, None)
        if old is not None:
            self.nbytes -= old.nbytes + self.overhead
        size = array.nbytes + self.overhead
        if size > self.max_bytes:
            return
        while self.nbytes + size > self.max_bytes:
            _, dropped = self._arrays.popitem(last=False)
            self.nbytes -= dropped.nbytes + self.overhead
        self._arrays[key] = array.copy()  # a row would keep the whole batch that it is part of alive
        self.nbytes += size


class CachedEmbedder:
    """An `Embedder` that asks `inner` once for each distinct text and keeps vectors within `max_bytes`.

    When `inner` fails midway, the pieces that it had finished are kept, so a repeated call asks for the rest only
    (as far as `max_bytes` holds them). Any number of threads may call, if as many may call `inner`.
    """

    def __init__(self, inner: Embedder, max_bytes: int) -> None:
        self._inner = inner
        self._lock = Lock()
        self._cache = ArrayCache(max_bytes)
        self.hits = 0  # texts answered without `inner`, repetitions within a call included
        self.misses = 0  # texts that `inner` was asked for

    @property
    def model(self) -> str:
        """The inner model's name: a cache changes no vector."""
        return self._inner.model

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._inner.dimensions

    @property
    def nbytes(self) -> int:
        """Bytes that the cache takes now."""
        return self._cache.nbytes

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As `inner` does; raises what it raises."""
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
        """Keeps vectors that came by another way than `embed`."""
        with self._lock:
            for text, vector in zip(texts, vectors, strict=True):
                self._cache.put(content_key(text), vector)


class CachedTokenEncoder:
    """A `TokenEncoder` that keeps tokens within `max_bytes`.

    Where `inner` is the embedder behind `embedder` too, the sentence vectors of the same pass are handed to that.
    """

    def __init__(self, inner: TokenEncoder, max_bytes: int, *, embedder: CachedEmbedder | None = None) -> None:
        self._inner = inner
        self._embedder = embedder
        self._lock = Lock()
        self._cache = ArrayCache(max_bytes)

    @property
    def token_model(self) -> str:
        """The inner encoder's name."""
        return self._inner.token_model

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """As `inner` does; raises what it raises."""
        keys = {text: content_key(text) for text in dict.fromkeys(texts)}
        with self._lock:
            held = {text: tokens for text, key in keys.items() if (tokens := self._cache.get(key)) is not None}
        missing = [text for text in keys if text not in held]
        if missing:
            if self._embedder is not None and isinstance(self._inner, OnePass):
                vectors, found = self._inner.embed_and_encode(missing)
                self._embedder.remember(missing, vectors)
            else:
                found = self._inner.encode(missing)
            held.update(zip(missing, found, strict=True))
            with self._lock:
                for text, tokens in zip(missing, found, strict=True):
                    self._cache.put(keys[text], tokens)
        return [held[text] for text in texts]
