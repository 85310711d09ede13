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

from monitor.assess.score.facts.antonyms import OPPOSITES, opposite, stem
from monitor.assess.score.facts.language import COMMON, listed

LEAST_SHARED = 3  # content words that two clauses must share
SHARE = 0.8  # the share of each clause's content words that must be in both
UNSPACED_SHARE = 0.8  # the share of pairs of characters, in scripts without spaces between words
LONGEST = 1_000  # characters of a sentence that are read

_NEGATORS = listed(
    """not no never none nor neither without cannot nothing nobody nowhere
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder
    ne pas jamais aucun aucune rien sans
    nunca jamás ningún ninguna ninguno nada sin tampoco
    não jamais nenhum nenhuma sem nem
    non nessun nessuno nessuna senza né niente nulla"""
)
# Two of these in one clause negate once ("ne … pas", "no … nada", "non … mai"); others cancel out.
_CONCORD = _NEGATORS - listed("not cannot nothing nobody nowhere without neither nor")
# Words after which a negator negates nothing: "not only", "no more than".
_DENIES_NOTHING = listed(
    """only just merely simply doubt matter later less more least necessarily fewer sooner other for nur solo
    seulement"""
)
_BEFORE = listed("or if why whether oder ou o si wenn ob se")  # words before a negator: "or not", "if not"
# Words that reverse a statement without being negators, or make it a condition: a sentence is compared only with one
# that has the same ones.
_TURNING = listed(
    """fail lack unable except unless prevent refuse hardly rarely seldom barely scarcely deny avoid impossible instead
    rather otherwise until only unlikely few little doubt false myth contrary despite regardless should if when were
    wenn quand cuando quando"""
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
    mais|pero|sino|porém|però|mentre)\b""",
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
    """The number of negations in `sentence`, in nine languages; 0 or an even number affirms. Concord counts once."""
    text = sentence[:LONGEST]
    if _UNSPACED.search(text):
        return len(_UNSPACED_NEGATOR.findall(text))
    return sum(_negations(_words(clause)) for clause in _CLAUSE.split(_plain(text)))


def contradicts(answer_sentence: str, source_sentence: str) -> bool:
    """Whether the sentences, or a clause of each, have the same words in the same order, but one denies them.

    Or whether they differ only in a word and its opposite. Questions and conditions contradict nothing.
    """
    answer, source = answer_sentence[:LONGEST], source_sentence[:LONGEST]
    if answer.rstrip().endswith(("?", "？")) or source.rstrip().endswith(("?", "？")):
        return False
    if _UNSPACED.search(answer):
        return _contradicts_unspaced(answer, source)
    ours = _plain(answer)
    theirs, their_words = _source(source)
    if not _may_oppose(frozenset(_words(ours.lower())), their_words):
        return False
    source_clauses = _clauses(theirs)
    return any(_opposed(a, b) for a in _clauses(ours) if a not in source_clauses for b in source_clauses)


@lru_cache(maxsize=4_096)
def _source(sentence: str) -> tuple[str, frozenset[str]]:
    """A document's sentence and its words; cached, since documents recur."""
    text = _plain(sentence)
    return text, frozenset(_words(text.lower()))


def _may_oppose(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """A quick check that rules out nearly all pairs: shared words, the same turning words, a negator or an opposite."""
    if len(ours & theirs) < LEAST_SHARED - 1:
        return False
    only_ours, only_theirs = ours - theirs, theirs - ours
    if _NEGATORS.isdisjoint(ours) and _NEGATORS.isdisjoint(theirs):
        stems = [stem(word) for word in only_theirs]
        if not any(opposite(stem(word), other) for word in only_ours if stem(word) in OPPOSITES for other in stems):
            return False
    return _turning(only_ours) <= _turning(theirs) and _turning(only_theirs) <= _turning(ours)


def _plain(sentence: str) -> str:
    """The sentence with straight apostrophes, and with each contracted "not" or "ne" as a word of its own."""
    text = sentence.translate(_APOSTROPHES)
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


def _turning(words: frozenset[str]) -> set[str]:
    return {word for word in (words | {stem(word) for word in words}) if word in _TURNING}


def _clauses(text: str) -> list[_Clause]:
    """The clauses that have enough words."""
    return [c for piece in _CLAUSE.split(text) if len((c := _clause(piece)).stems) >= LEAST_SHARED - 1]


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
