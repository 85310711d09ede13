"""Cuts texts into the word pieces of all-MiniLM-L6-v2: the tokeniser of BERT without case and accents.

It gives what the library `tokenizers` makes of the `tokenizer.json` that ships, piece by piece and character by
character, without that library and what comes with it. Source: Devlin et al., BERT, 2019, and their tokenization.py.
What each character becomes stands in a table that tools/build_characters.py makes, so it does not change with Python's
version of Unicode.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final, TypeAlias
from unicodedata import combining, normalize

import numpy as np
from numpy.typing import NDArray

from monitor.assess.embed.weights import CHARACTERS, TOKENIZER, shipped

# Shape (pieces, 3). The columns: the number in the vocabulary, and the characters of the text where the piece starts
# and ends, the end exclusive.
Pieces: TypeAlias = NDArray[np.int32]

LONGEST_WORD: Final = 100  # characters; a longer word is unknown as a whole
# Words of which the pieces are kept, the least recently used dropped first. Made-up words fill at most 30 MB.
CACHED_WORDS: Final = 16_384
LONGEST_CACHED: Final = 64  # characters

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_HANGUL = "\uac00", "\ud7a3"  # syllables; every version of Unicode decomposes them alike


class WordPieces:
    """The tokeniser that ships. Any number of threads may call at the same time."""

    def __init__(self) -> None:
        """Reads the vocabulary and the table of characters.

        Raises:
            WrongSettings: a file is missing or not the one that ships.
        """
        tokenizer = json.loads(shipped(TOKENIZER).read_bytes())
        self.vocabulary: Final[Mapping[str, int]] = tokenizer["model"]["vocab"]
        self.unknown: Final = self.vocabulary["[UNK]"]
        self._later = {piece[2:]: number for piece, number in self.vocabulary.items() if piece.startswith("##")}
        self._longest = max(map(len, self.vocabulary))
        self._characters = _Characters(json.loads(shipped(CHARACTERS).read_bytes()))
        special = [token["content"] for token in tokenizer["added_tokens"]]
        self._special = {name: (self.vocabulary[name], 0, len(name)) for name in special}
        self._words, self._words_astral = (self._characters.words(special, astral=astral) for astral in (False, True))
        self._cached = lru_cache(CACHED_WORDS)(self._pieces_of)

    def pieces(self, text: str) -> Pieces:
        """The pieces of a well-formed text in order, shape (pieces, 3), without special tokens around them.

        The name of a special token in the text, such as "[SEP]", counts as that token. Takes time linear in the text.
        """
        words = self._words if text.isascii() or not _ASTRAL.search(text) else self._words_astral
        found = list(words.finditer(text))
        cached, read = self._cached, self._pieces_of
        of_words = [cached(word) if len(word) <= LONGEST_CACHED else read(word) for word in map(re.Match.group, found)]
        sizes = np.fromiter(map(len, of_words), np.intp, len(found)) // 3
        starts = np.fromiter(map(re.Match.start, found), np.int32, len(found))
        pieces = np.fromiter(chain.from_iterable(of_words), np.int32, 3 * sizes.sum()).reshape(-1, 3)
        pieces[:, 1:] += np.repeat(starts, sizes)[:, None]
        return pieces

    def _pieces_of(self, word: str) -> Sequence[int]:
        """The number, start and end of each piece of a word that begins at 0, one after the other."""
        if word in self._special:
            return self._special[word]
        characters, places = self._characters.normal(word)
        length = len(characters)
        if not length:
            return ()
        unknown = self.unknown, places[0], places[-1] + 1
        if length > LONGEST_WORD:
            return unknown
        found: list[int] = []
        start, table = 0, self.vocabulary
        while start < length:
            for end in range(min(length, start + self._longest), start, -1):
                number = table.get(characters[start:end])
                if number is not None:
                    break
            else:
                return unknown
            found += number, places[start], places[end - 1] + 1
            start, table = end, self._later
        return tuple(found)


class _Characters:
    """What each character becomes, and which of them are words of their own or between words."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._normal: Mapping[str, str] = table["normal"]
        self._removed, self._mark, self._reordered = (_is_in(table[it]) for it in ("removed", "marks", "reordered"))
        self._spaces, self._alone = table["spaces"], [*table["ideographs"], *table["punctuation"]]

    def words(self, special: Sequence[str], *, astral: bool) -> re.Pattern[str]:
        """Finds words, whole or of one character, and the names of `special` tokens.

        Without `astral`, only in texts that have no character above U+FFFF: such ranges make every character slower.
        """
        top = 0x10FFFF if astral else 0xFFFF
        spaces, alone = (_character_class(ranges, top) for ranges in (self._spaces, self._alone))
        return re.compile(f"{'|'.join(map(re.escape, special))}|[{alone}]|[^{alone}{spaces}]+")

    def normal(self, word: str) -> tuple[str, Sequence[int]]:
        """The characters of a word in small letters without accents, and for each its place in `word`."""
        if word.isascii() and word.isprintable():
            return word.lower(), range(len(word))
        kept = [(place, it) for place, it in enumerate(word) if not self._removed(it)]
        if any(map(self._reordered, word)):
            return self._normal_reordered(kept)
        characters: list[str] = []
        places: list[int] = []
        for place, it in kept:
            if not self._mark(it):
                new = self._becomes(it)
                characters.append(new)
                places += [place] * len(new)
        return "".join(characters), places

    def _becomes(self, it: str) -> str:
        return normalize("NFD", it) if _HANGUL[0] <= it <= _HANGUL[1] else self._normal.get(it, it)

    def _normal_reordered(self, kept: Sequence[tuple[int, str]]) -> tuple[str, Sequence[int]]:
        """`normal` where a mark is not dropped: the library brings marks into order, and drops others only then.

        It takes the places in order all the same, so a mark may get the place of one that it changed places with.
        """
        run = 0
        items: list[tuple[int, int, bool, str]] = []  # the run of marks, the class, whether it has a place, the result
        for _, it in kept:
            dropped = self._mark(it)
            for number, new in enumerate(normalize("NFD", it) if dropped else self._becomes(it)):
                order = combining(new) if dropped or self._reordered(new) else 0
                run += not order
                items.append((run, order, number == 0, "" if dropped else new))
        characters: list[str] = []
        places: list[int] = []
        at = -1
        for _, _, own, new in sorted(items, key=lambda item: item[:2]):
            at += own
            if new:
                characters.append(new)
                places.append(kept[max(at, 0)][0])
        return "".join(characters), places


def _is_in(ranges: Sequence[int]) -> Callable[[str], bool]:
    """Whether a character is in one of the ranges, which are given as first, last, first, last and so on."""
    bounds = [bound + number % 2 for number, bound in enumerate(ranges)]  # where it begins and where it has ended
    return lambda it: bisect_right(bounds, ord(it)) % 2 == 1


def _character_class(ranges: Sequence[int], top: int) -> str:
    """The ranges up to `top`, as they stand between brackets in a pattern."""
    pairs = zip(ranges[::2], ranges[1::2], strict=True)
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in pairs if last <= top)
