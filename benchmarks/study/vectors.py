"""Vectors cached on disk, so that a second run of a study embeds nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monitor.assess.embed.cache import content_key
from monitor.assess.ports import Embedder

Vectors = NDArray[np.float32]


class CachingEmbedder:
    """An `Embedder` that asks `inner` only for texts without a cached vector."""

    def __init__(self, inner: Embedder, vectors: dict[bytes, Vectors]) -> None:
        self._inner = inner
        self._vectors = vectors
        self.model = inner.model
        self.dimensions = inner.dimensions
        self.embedded = 0  # texts that `inner` has embedded

    def embed(self, texts: Sequence[str]) -> Vectors:
        keys = [content_key(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        if new:
            self._vectors.update(zip(new, self._inner.embed(list(new.values())), strict=True))
            self.embedded += len(new)
        return np.array([self._vectors[key] for key in keys], np.float32).reshape(len(keys), self.dimensions)


@contextmanager
def cached_embedder(inner: Embedder, folder: Path) -> Iterator[CachingEmbedder]:
    """`inner` with the vectors in `folder`; new vectors are written at the end, even of a failed run."""
    path = folder / f"{re.sub(r'[^A-Za-z0-9]+', '-', inner.model)}.npz"
    vectors: dict[bytes, Vectors] = {}
    if path.exists():
        with np.load(path) as stored:
            vectors = {bytes(key): row for key, row in zip(stored["keys"], stored["rows"], strict=True)}
    embedder = CachingEmbedder(inner, vectors)
    try:
        yield embedder
    finally:
        if embedder.embedded:
            folder.mkdir(parents=True, exist_ok=True)
            keys = np.frombuffer(b"".join(vectors), np.uint8).reshape(len(vectors), -1)
            fresh = path.with_suffix(".new.npz")
            np.savez(fresh, keys=keys, rows=np.stack(list(vectors.values())))
            fresh.replace(path)
