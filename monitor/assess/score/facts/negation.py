"""Detects negation: whether a sentence denies something, and whether it denies what a source's sentence says.

There is no parsing: sentences are split into clauses, and two clauses are compared only if they consist of the same
words in the same order. So a contradiction that is found is one, but most contradictions are not found.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from monitor.assess.score.facts.antonyms import OPPOSITES, opposite, stem
from monitor.assess.score.facts.language import COMMON, listed

LEAST_SHARED = 3  # content words that two clauses must share
SHARE = 0.8  # the share of each clause's content words that must be in both
UNSPACED_SHARE = 0.8  # the share of pairs of characters, in scripts without spaces between words
LONGEST = 1_000  # characters of a sentence that are read
MOST_CLAUSES = 24  # of a sentence; each is compared with each of the other's

_NEGATORS = listed(
    """not no never none nor neither without cannot nothing nobody nowhere
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder
    ne pas jamais aucun aucune rien sans
    nunca jamás ningún ninguna ninguno nada sin tampoco
    não jamais nenhum nenhuma sem nem
    non nessun nessuno nessuna senza né niente nulla
    niet geen nooit niemand niets nergens zonder noch"""
)
# Two of these in one clause negate once ("ne … pas", "no … nada", "non … mai"); others cancel out.
_CONCORD = _NEGATORS - listed("not cannot nothing nobody nowhere without neither nor")
# Words after which a negator negates nothing: "not only", "no more than".
_DENIES_NOTHING = listed(
    """only just merely simply doubt matter later less more least necessarily fewer sooner other for nur solo
    seulement alleen"""
)
_BEFORE = listed("or if why whether oder ou o si wenn ob se")  # words before a negator: "or not", "if not"
# Words that reverse a statement without being negators, or make it a condition: a sentence is compared only with one
# that has the same ones.
_TURNING = listed(
    """fail lack unable except unless prevent refuse hardly rarely seldom barely scarcely deny avoid impossible instead
    rather otherwise until only unlikely few little doubt false myth contrary despite regardless should if when were
    wenn quand cuando quando than before after within beyond als vor nach innerhalb avant après antes después depois
    prima dopo indien tenzij behalve wanneer voordat nadat"""
)
_MORE_COMMON = listed(
    """do does did will would can could may might must shall should had been being they them their he she his her we
    your i my me us our also so then than there here any some such each all every always both these those into about
    what when where who how why only very just its am s t re ve ll d m haben hat kann können une un uno ein eine avoir
    a ont peut ha han puede tem pode può"""
)
_FUNCTION = (COMMON | _MORE_COMMON) - frozenset(OPPOSITES)
_WORD = re.compile(r"[^\W_]+")
_CLAUSE = re.compile(
    r"""[,;:()\[\]—–]|\s-\s|\b(?:but|while|whereas|although|though|however|because|which|who|unless|aber|sondern|während|
    mais|pero|sino|porém|però|mentre|maar|terwijl)\b""",
    re.VERBOSE,
)
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'"})
_CONTRACTED = re.compile(r"\b(ca|wo|sha)?n't\b|(?<=[a-z])n't\b|\bn'(?=\w)")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_UNSPACED_NEGATOR = re.compile(
    r"不(?![同断斷仅僅但只久少])|没有?|沒有?|无(?!论)|未|ません|なかった|ない|않는|않다|않습니|않았|없[다습는]|못[하한합했]"
)
_UNSPACED_REST = re.compile(r"[\s、。，,.！？!?会會ますできるはがを은는이가을를]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clause:
    """The stems of a clause's content words in order; `given` are figures and capitalised words within the clause."""

    stems: tuple[str, ...]
    given: frozenset[str]
    negated: bool


def polarity(sentence: str) -> int:
    """The number of negations in `sentence`, in ten languages; 0 or an even number affirms. Concord counts once."""
    text = sentence[:LONGEST]
    if _UNSPACED.search(text):
        return len(_UNSPACED_NEGATOR.findall(text))
    return sum(_negations(_words(clause)) for clause in _CLAUSE.split(_plain(text)))


def contradicts(answer_sentence: str, source_sentence: str) -> bool:
    """Whether the sentences, or a clause of each, have the same words in the same order, but one denies them.

    Or whether they differ only in a word and its opposite. Questions and conditions contradict nothing.
    """
    ours, theirs = _of_answer(answer_sentence[:LONGEST]), _of_source(source_sentence[:LONGEST])
    if ours.asks or theirs.asks:
        return False
    if ours.unspaced:
        return _contradicts_unspaced(ours.text, theirs.text)
    if not _may_oppose(ours, theirs):
        return False
    return any(_opposed(a, b) for a in ours.clauses if a not in theirs.clauses for b in theirs.clauses)


class _Sentence:
    """A sentence as it is compared. `opposites` has the words that have opposites, and the stems of these."""

    __slots__ = ("_clauses", "asks", "negates", "opposites", "text", "turning", "unspaced", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.asks = text.rstrip().endswith(("?", "？"))
        self.unspaced = not text.isascii() and _UNSPACED.search(text) is not None
        self.words = frozenset(_words(_plain(text).lower()))
        self.negates = not _NEGATORS.isdisjoint(self.words)
        senses = [(word, sense) for word in self.words if (sense := _sense(word)) is not None]
        self.turning = frozenset().union(*(sense.turning for _, sense in senses)) if senses else frozenset()
        self.opposites = {word: sense.opposites for word, sense in senses if sense.opposites}
        self._clauses: list[_Clause] | None = None

    @property
    def clauses(self) -> list[_Clause]:
        """Read when they are first asked for, since few comparisons need them."""
        if self._clauses is None:
            self._clauses = _clauses(_plain(self.text))
        return self._clauses


_of_source = lru_cache(maxsize=4_096)(_Sentence)  # documents recur
_of_answer = lru_cache(maxsize=1)(_Sentence)  # a sentence of the answer is compared with one source after the other


def _may_oppose(ours: _Sentence, theirs: _Sentence) -> bool:
    """A quick check that rules out nearly all pairs: shared words, the same turning words, a negator or an opposite."""
    if len(ours.words & theirs.words) < LEAST_SHARED - 1:
        return False
    if not (ours.negates or theirs.negates):
        opposites = [stems for word, stems in ours.opposites.items() if word not in theirs.words]
        if not opposites or frozenset().union(*opposites).isdisjoint(map(stem, theirs.words - ours.words)):
            return False
    if ours.turning and not _turning(ours.words - theirs.words) <= theirs.turning:
        return False
    return not theirs.turning or _turning(theirs.words - ours.words) <= ours.turning


def _plain(sentence: str) -> str:
    """The sentence with straight apostrophes, and with each contracted "not" or "ne" as a word of its own."""
    text = sentence if sentence.isascii() else sentence.translate(_APOSTROPHES)
    return _CONTRACTED.sub(" not ", text) if "n'" in text else text


def _words(clause: str) -> list[str]:
    return _WORD.findall(clause)


def _negations(words: Sequence[str]) -> int:
    folded = [word.lower() for word in words]
    found = [
        word
        for i, word in enumerate(folded)
        if word in _NEGATORS
        and (i + 1 == len(folded) or folded[i + 1] not in _DENIES_NOTHING)
        and (i == 0 or folded[i - 1] not in _BEFORE)
    ]
    if len(found) > 1 and any(word in _CONCORD for word in found):
        return 1
    return len(found)


class _Sense(NamedTuple):
    """How a word turns what a sentence states: the words of _TURNING that it is, and the stems of its opposites."""

    turning: frozenset[str]
    opposites: frozenset[str]


@lru_cache(maxsize=32_768)
def _sense(word: str) -> _Sense | None:
    """None for nearly all words."""
    base = stem(word)
    turning, opposites = _TURNING & {word, base}, OPPOSITES.get(base, frozenset())
    return _Sense(turning, opposites) if turning or opposites else None


def _turning(words: frozenset[str]) -> frozenset[str]:
    return _TURNING.intersection(words).union(_TURNING.intersection(map(stem, words)))


def _clauses(text: str) -> list[_Clause]:
    """The first clauses that have enough words."""
    found = (c for piece in _CLAUSE.split(text) if len((c := _clause(piece)).stems) >= LEAST_SHARED - 1)
    return list(islice(found, MOST_CLAUSES))


def _clause(text: str) -> _Clause:
    words = _words(text)
    stems: list[str] = []
    given: set[str] = set()
    for at, word in enumerate(words):
        folded = word.lower()
        if folded in _NEGATORS or folded in _FUNCTION:
            continue
        base = stem(folded)
        stems.append(base)
        if word[0].isdigit() or (at and word[0].isupper()) or len(word) == 1:
            given.add(base)
    return _Clause(stems=tuple(dict.fromkeys(stems)), given=frozenset(given), negated=_negations(words) % 2 == 1)


def _opposed(ours: _Clause, theirs: _Clause) -> bool:
    place = {word: at for at, word in enumerate(theirs.stems)}
    shared = [place[word] for word in ours.stems if word in place]
    if len(shared) < LEAST_SHARED - 1 or _rising(shared) < len(shared) - (len(shared) > LEAST_SHARED + 1):
        return False
    only_ours = [word for word in ours.stems if word not in place]
    only_theirs = [word for word in theirs.stems if word not in set(ours.stems)]
    if (ours.given & set(only_ours)) or (theirs.given & set(only_theirs)):
        return False
    if any(opposite(one, other) for one in only_ours for other in only_theirs):
        return ours.negated == theirs.negated and len(only_ours) == len(only_theirs) == 1
    most = max(len(ours.stems), len(theirs.stems))
    return ours.negated != theirs.negated and len(shared) >= max(LEAST_SHARED, SHARE * most)


def _rising(places: Sequence[int]) -> int:
    """The length of the longest increasing subsequence of `places`."""
    tails: list[int] = []
    for place in places:
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
    return len(tails)


def _contradicts_unspaced(answer: str, source: str) -> bool:
    denied = len(_UNSPACED_NEGATOR.findall(answer)), len(_UNSPACED_NEGATOR.findall(source))
    if denied[0] % 2 == denied[1] % 2:
        return False
    ours, theirs = (_pairs(sentence) for sentence in (answer, source))
    shared = len(ours & theirs)
    return shared >= LEAST_SHARED and shared >= UNSPACED_SHARE * max(len(ours), len(theirs))


def _pairs(sentence: str) -> set[str]:
    """The pairs of neighbouring characters of a sentence, without its negators and endings."""
    text = _UNSPACED_REST.sub("", _UNSPACED_NEGATOR.sub("", sentence))
    return {text[i : i + 2] for i in range(len(text) - 1)}
