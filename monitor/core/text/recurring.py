"""What is read from a document is kept while the document keeps coming: a knowledge base retrieves the same ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

T = TypeVar("T")

REMEMBERED: Final = 512  # texts for each reader, the least recently asked for dropped first
LONGEST: Final = 10_000  # characters of a text that is kept; at 20 bytes a character, 100 MB a reader at the worst


def recurring(read: Callable[[str], T]) -> Callable[[str], T]:
    """`read`, a pure function of a text whose results nobody writes to, remembering the last ones."""
    remembered = lru_cache(maxsize=REMEMBERED)(read)

    @wraps(read)
    def reader(text: str) -> T:
        return remembered(text) if len(text) <= LONGEST else read(text)

    return reader
