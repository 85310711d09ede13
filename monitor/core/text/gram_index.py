"""An index of all runs of a few characters of several texts, which says where in them a piece may be.

Building it takes n·log n in the length of the texts, and a look-up n·log n in the length of the piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import ceil
from typing import NamedTuple

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from monitor.core.text.grams import Grams, gram_hashes

LEAST_SHARED = 0.1  # of a piece's runs, in a region
MOST_SEEDS = 4_096  # occurrences of a piece's rarest runs that are looked at
ENOUGH = 16  # rare runs that tell a region from all others
CHECKED = 8  # runs of a piece that are checked before its characters are
NARROWEST = 32  # characters by which the starts of a region may differ
CACHED = 256  # results for a piece and the texts that come first
_BETWEEN = "\n"  # between two texts

Places = NDArray[np.int64]


class Region(NamedTuple):
    """A part of a text that shares many runs with a piece; the piece would start at about characters `[low, high]`."""

    text: int
    low: int
    high: int


class _Runs(NamedTuple):
    """The hashes of a piece's runs; of those that some text has, the rarest first, offsets and entries in the index."""

    hashes: Grams
    offsets: Places
    firsts: Places
    counts: Places


class EveryPlace:
    """Instead of an index: looks everywhere in `texts`. Quicker for short texts and a few pieces."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def occurrences(self, piece: str, first: Sequence[int], most: int) -> tuple[list[tuple[int, int]], bool]:
        """As `GramIndex.occurrences`, but only one of each text."""
        places = [(number, self._texts[number].find(piece)) for number in (*first, *range(len(self._texts)))]
        return [place for place in places if place[1] >= 0][:most], True

    def regions(self, _piece: str, _head: int, most: int) -> tuple[list[Region], bool]:
        """Each of the first `most` texts, and whether these are all."""
        every = [Region(number, 0, len(text)) for number, text in enumerate(self._texts)]
        return every[:most], len(every) <= most


class GramIndex:
    """The places of all runs of `length` characters of `texts`."""

    def __init__(self, texts: Sequence[str], length: int) -> None:
        self._length = length
        self._starts = np.array([0, *accumulate(len(text) + len(_BETWEEN) for text in texts)], np.int64)
        self._at = hashes = gram_hashes(_BETWEEN.join(texts), length)
        self._places = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._places]
        self._known: LRUCache[tuple[str, tuple[int, ...], int], tuple[list[tuple[int, int]], bool]] = LRUCache(CACHED)

    def _runs(self, piece: str) -> _Runs:
        hashes = gram_hashes(piece, self._length)
        firsts = self._hashes.searchsorted(hashes)
        counts = self._hashes.searchsorted(hashes, side="right") - firsts
        offsets = np.argsort(counts, kind="stable")[np.count_nonzero(counts == 0) :]
        return _Runs(hashes=hashes, offsets=offsets, firsts=firsts[offsets], counts=counts[offsets])

    def occurrences(self, piece: str, first: Sequence[int], most: int) -> tuple[list[tuple[int, int]], bool]:
        """Text and place of each likely occurrence of `piece`, and whether these are all that there may be.

        They are in order, those in the texts `first` before all others; at most `most`. The piece has at least `length`
        characters. Events may repeat a piece thousands of times.
        """
        asked = piece, tuple(first), most
        if asked not in self._known:
            self._known[asked] = self._looked_up(*asked)
        return self._known[asked]

    def _looked_up(self, piece: str, first: Sequence[int], most: int) -> tuple[list[tuple[int, int]], bool]:
        runs = self._runs(piece)
        number = len(runs.hashes)
        if len(runs.offsets) < number:  # a run that no text has
            return [], True
        places = self._places[runs.firsts[0] : runs.firsts[0] + runs.counts[0]]  # ascending
        seeds = [places[:MOST_SEEDS]]
        share = MOST_SEEDS if len(places) <= MOST_SEEDS else MOST_SEEDS // max(1, len(first))  # of each text in `first`
        for text in first:
            begin, end = places.searchsorted(self._starts[text : text + 2])
            seeds.insert(-1, places[begin : min(end, begin + share)])
        found = np.concatenate(seeds) - runs.offsets[0]
        found = found[(found >= 0) & (found + number <= len(self._at))]
        for offset in range(0, number, ceil(number / CHECKED)):
            found = found[self._at[found + offset] == runs.hashes[offset]]
        texts = self._text_at(found[:most])
        starts = found[:most] - self._starts[texts]
        complete = len(places) <= MOST_SEEDS and len(found) <= most
        return list(zip(texts.tolist(), starts.tolist(), strict=True)), complete

    def regions(self, piece: str, head: int, most: int) -> tuple[list[Region], bool]:
        """The up to `most` regions that share most runs with `piece`, and whether these are all that there may be.

        The start of a region is estimated from the runs in the first `head` characters of the piece, if it has any.
        """
        runs = self._runs(piece)
        number = len(runs.hashes)
        taken = int(np.cumsum(runs.counts).searchsorted(MOST_SEEDS, side="right"))
        whole = taken == len(runs.counts)
        taken = max(taken, min(1, len(runs.counts)))
        counts = np.minimum(runs.counts[:taken], MOST_SEEDS)
        entries = np.repeat(runs.firsts[:taken] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        offsets = np.repeat(runs.offsets[:taken], counts)
        texts = self._text_at(self._places[entries])
        starts = self._places[entries] - offsets - self._starts[texts]

        width = max(NARROWEST, number // 4)
        keys = (starts + number + self._length) // width
        keys += texts * (keys.max(initial=0) + 2)
        distinct, votes = np.unique(keys, return_counts=True)
        votes[:-1] += np.where(np.diff(distinct) == 1, votes[1:], 0)  # the starts of a region may be on a border
        needed = LEAST_SHARED * (number if whole else taken)
        found: list[Region] = []
        chosen: set[int] = set()
        for at in np.argsort(-votes, kind="stable")[: np.count_nonzero(votes >= needed)].tolist():
            key = int(distinct[at])
            if chosen.isdisjoint((key - 1, key, key + 1)):
                if len(found) == most:
                    return found, False
                chosen.add(key)
                own = (keys == key) | (keys == key + 1)
                early = own & (offsets < head)
                near = starts[early if early.any() else own]
                found.append(Region(int(texts[own][0]), int(near.min()), int(near.max())))
        return found, whole or taken >= ENOUGH

    def _text_at(self, places: Places) -> Places:
        return self._starts.searchsorted(places, side="right") - 1
