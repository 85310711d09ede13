"""Measures how much of an answer's wording its documents hold (metrics.md §5), by words and by characters.

Content words are all words except the commonest of six languages. The first letters of a word stand for all its
inflections; in scripts without spaces, pairs of characters stand for words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from monitor.assess.score.facts.language import listed
from monitor.core.text.cache import cached_by_text
from monitor.core.text.grams import Grams, gram_hashes
from monitor.core.text.words import STEM, stems

T = TypeVar("T")

GRAM: Final = 8  # characters of a quoted piece; with the paper's 25, short answers would have none

# Articles, pronouns, prepositions, conjunctions and auxiliaries.
_COMMON: Final = frozenset(
    word[:STEM]
    for word in listed(
        """
        a an the and or but of in on at to for with by from as is are was were be been it its this that these those
        he she they them his her their we you your i my our us has have had do does did not no so if then than there
        here which who what when where how can could may might will would shall should must also such into about
        over
        der die das den dem des ein eine einen einem einer und oder aber in im an am auf zu zum zur von vom mit bei
        für aus ist sind war waren wird werden hat haben nicht auch es er sie wir ihr ich sich als wie dass kann
        können
        le la les un une des du de et ou mais dans en sur au aux à pour par avec est sont était ce cette ces il elle
        ils elles nous vous je se qui que ne pas plus on leur peut
        el los las una unos unas del y o pero con es son era este esta estos se su sus lo al como más no puede
        il lo gli uno della dei delle e ma nel nella su sul per con è sono era questo questa si che non più può
        o os as um uma do da dos das no na nos nas ao mas com é são foi este esta se seu sua que não mais pode
        """
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Shares in [0, 1]; None if the whole is empty (no content word, a single word, too few characters).

    `content`: content words of the answer that a document holds. `new_content`: the same share of the content words
    that are not in the question. `bigrams`: pairs of neighbouring words. `quoted`: character n-grams (n = GRAM; QUIP,
    Weller et al., 2023). `copied`: the longest run of consecutive quoted n-grams, as a share of the answer's length.
    """

    content: float | None
    new_content: float | None
    bigrams: float | None
    quoted: float | None
    copied: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wording:
    """The wording of a document."""

    words: frozenset[str]
    bigrams: frozenset[tuple[str, str]]
    grams: Grams  # hashes, sorted


def overlap(answer: str, question: str, documents: Sequence[str]) -> Overlap:
    """The overlap of `answer`, which may be a part of an answer, with the documents."""
    wordings = [_wording(text) for text in documents]
    words = stems(answer)
    content = [word for word in words if word not in _COMMON]
    asked = frozenset(stems(question))
    bigrams = list(pairwise(words))
    every = _grams(answer)
    order = every.argsort()
    ordered = every[order]
    first = np.ones(len(every), bool)  # of its kind
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    grams = ordered[first]
    held = np.zeros(len(grams), bool)
    lacking, lacking_bigrams = set(content), set(bigrams)
    for document in wordings:
        lacking = _without(lacking, document.words)
        lacking_bigrams = _without(lacking_bigrams, document.bigrams)
        _mark_common(held, grams, document.grams)
    found = np.empty(len(every), bool)
    found[order] = held[np.cumsum(first) - 1]
    return Overlap(
        content=_share_held(content, lacking),
        new_content=_share_held([word for word in content if word not in asked], lacking),
        bigrams=_share_held(bigrams, lacking_bigrams),
        quoted=_share(int(np.count_nonzero(found)), len(found)),
        copied=_share(_longest_run(found), len(found)),
    )


def _without(lacking: set[T], held: frozenset[T]) -> set[T]:
    """`lacking` less `held`, which may be changed. Takes time in proportion to the smaller one."""
    if len(lacking) < len(held):
        return lacking - held
    lacking.difference_update(held)
    return lacking


def _mark_common(marks: NDArray[np.bool_], grams: Grams, others: Grams) -> None:
    """Marks the `grams` that are among the `others`; both ascend. Searches for the fewer in the more numerous."""
    fewer, more = (grams, others) if len(grams) < len(others) else (others, grams)
    if not len(fewer):
        return
    places = np.minimum(more.searchsorted(fewer), len(more) - 1)
    common = more[places] == fewer
    marks[np.flatnonzero(common) if fewer is grams else places[common]] = True


def _share_held(pieces: Sequence[T], lacking: set[T]) -> float | None:
    return _share(len(pieces) - sum(map(lacking.__contains__, pieces)), len(pieces))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _longest_run(found: NDArray[np.bool_]) -> int:
    """The length of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], found.view(np.int8), [0]))))
    return int((edges[1::2] - edges[0::2]).max(initial=0))


@cached_by_text
def _wording(text: str) -> _Wording:
    words = stems(text)
    return _Wording(words=frozenset(words), bigrams=frozenset(pairwise(words)), grams=np.unique(_grams(text)))


def _grams(text: str) -> Grams:
    """The hashes of all runs of GRAM characters, in lower case with single spaces; none for a shorter text."""
    folded = " ".join(text.casefold().split())
    return gram_hashes(folded, GRAM)
