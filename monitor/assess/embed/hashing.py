"""Vectors from hashed words, without any meaning: the `hash` provider, for tests and benchmarks only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Final
from zlib import crc32

import numpy as np
from typing_extensions import override

from monitor.assess.embed.sentences import Vectors as SentenceVectors
from monitor.assess.embed.sentences import sentences_of
from monitor.assess.embed.tokens import Tokens, surface_vectors, token_type
from monitor.assess.embed.windows import Vectors, unit
from monitor.assess.ports import Embedder, TokenEncoder

_DIMENSIONS = 64
_WORD = re.compile(r"\w+")
_TELLING = 4  # the letters that a word needs to count in full


class HashEmbedder(Embedder, TokenEncoder):
    """Gives texts that share words similar vectors, and the same text the same vector on every machine.

    Feature hashing (Weinberger et al., 2009): each word, in lower case, adds +1 or -1 to one of 63 dimensions.
    The last dimension is ½ for every text, so that no vector has length 0.
    """

    model: Final = f"hash/{_DIMENSIONS}"
    dimensions: Final = _DIMENSIONS
    token_model: Final = f"hash/{_DIMENSIONS}"

    @override
    def embed(self, texts: Sequence[str]) -> Vectors:
        words = [text.lower().encode(errors="surrogatepass").split() for text in texts]
        counts = np.fromiter(map(len, words), np.int64, len(words))
        hashes = np.fromiter(map(crc32, chain.from_iterable(words)), np.int64, int(counts.sum()))
        # The lowest bit is the sign; the others choose the dimension.
        places = np.repeat(np.arange(len(texts)) * _DIMENSIONS, counts) + (hashes >> 1) % (_DIMENSIONS - 1)
        totals = np.bincount(places, 1.0 - 2.0 * (hashes & 1), minlength=len(texts) * _DIMENSIONS)
        vectors = totals.reshape(len(texts), _DIMENSIONS).astype(np.float32)
        vectors[:, -1] = 0.5
        return unit(vectors)

    @override
    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        return [_tokens(text) for text in texts]

    @override
    def sentences(self, texts: Sequence[str]) -> list[SentenceVectors]:
        return [self.embed([text[slice(*span)] for span in sentences_of(text)]).astype(np.float16) for text in texts]


def _tokens(text: str) -> Tokens:
    found = list(_WORD.finditer(text))
    tokens: Tokens = np.zeros(len(found), token_type(_DIMENSIONS))
    if found:
        tokens["vector"] = surface_vectors([m.group() for m in found], _DIMENSIONS)
        tokens["start"] = [m.start() for m in found]
        tokens["end"] = [m.end() for m in found]
        tokens["weight"] = [5.0 if m.end() - m.start() >= _TELLING else 1.0 for m in found]
    return tokens
