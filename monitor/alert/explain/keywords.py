"""Finds the words that set some questions apart from others, in scripts with and without spaces between words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log, sqrt
from unicodedata import normalize

from monitor.core.text.stop_words import STOP_WORDS
from monitor.core.text.words import STEM

MOST_WORDS = 4
LONGEST_QUESTION = 500  # characters of a question that are read
_UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # Hangul too: its particles are attached to words
_WORD = re.compile(rf"[^\W_{_UNSPACED}]+|[{_UNSPACED}]+")
_FIRST_UNSPACED = re.compile(f"[{_UNSPACED}]")
_GRAMS = (2, 3, 4)  # characters of a word in such a script
_PRIOR = 100.0  # the weight of the prior, in questions
_CLEAR = 1.96  # standard errors
_FEW = 0.15  # of the questions; a rarer word does not name them


def telling_words(some: Sequence[Counter[str]], others: Sequence[Counter[str]]) -> tuple[str, ...]:
    """The words that `some` questions contain much more often than the `others`, most telling first.

    Both are word counts as `words` returns them. The score is the log-odds ratio with an informative Dirichlet prior,
    in standard errors: δ = log (y + α)/(n + α₀ - y - α) of one side minus that of the other, with the variance
    1/(y + α) + 1/(y' + α) and the words of both sides as the prior. Each question counts a word once, so that no single
    question can name a group by repeating a word. Stop words name nothing and are left out. Source: B. Monroe,
    M. Colaresi and K. Quinn, Fightin' words, Political Analysis 16 (2008), 372-403, equations 16 and 22.
    """
    here, there = _questions_with(some), _questions_with(others)
    both = here + there
    if len(both) < 2:  # a single word tells nothing apart, and nothing would be left for the odds
        return ()
    n, m = here.total(), there.total()
    least = max(2, _FEW * len(some))
    scale = _PRIOR / max(both.total(), 1)
    found: dict[str, float] = {}
    for word, y in here.items():
        if y < least:
            continue
        prior = scale * both[word]
        other = there[word]
        odds = log((y + prior) / (n + _PRIOR - y - prior)) - log((other + prior) / (m + _PRIOR - other - prior))
        score = odds / sqrt(1 / (y + prior) + 1 / (other + prior))
        if score >= _CLEAR:
            found[word] = score
    forms = _forms(some)
    return tuple(forms[word] for word in _apart(found))


def words(question: str) -> Counter[str]:
    """The words of a question in lower case; in scripts without spaces, every run of two to four characters."""
    found: Counter[str] = Counter()
    for word in _WORD.findall(normalize("NFC", question[:LONGEST_QUESTION]).casefold()):
        if _FIRST_UNSPACED.match(word):
            found.update(word[i : i + size] for size in _GRAMS for i in range(len(word) - size + 1))
        elif len(word) > 1 and not word.isdigit():
            found[word] += 1
    return found


def _stem(word: str) -> str:
    """The first letters, which stand for all inflections of a word; no gram is longer."""
    return word[:STEM]


def _questions_with(questions: Sequence[Counter[str]]) -> Counter[str]:
    return Counter(stem for question in questions for stem in {_stem(word) for word in question.keys() - STOP_WORDS})


def _forms(questions: Sequence[Counter[str]]) -> dict[str, str]:
    """The most common form of each stem."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for question in questions:
        for word in question:
            forms[_stem(word)][word] += 1
    return {stem: min(counted, key=lambda word: (-counted[word], word)) for stem, counted in forms.items()}


def _apart(found: dict[str, float]) -> list[str]:
    """The best `MOST_WORDS` words; of overlapping grams only the best, and of equal ones the longest."""
    kept: list[str] = []
    for word in sorted(found, key=lambda word: (-round(found[word], 2), -len(word), word)):
        if not (_FIRST_UNSPACED.match(word) and any(_touch(word, other) for other in kept)):
            kept.append(word)
    return kept[:MOST_WORDS]


def _touch(one: str, other: str) -> bool:
    """Whether one contains the other, or the end of one is the start of the other, as for pieces of one text."""
    within = one in other or other in one
    return within or any(
        one.endswith(other[:n]) or other.endswith(one[:n]) for n in range(1, min(len(one), len(other)))
    )
