"""How much of a reference answer an answer says, by the standard formulas, and paired differences with intervals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_ARTICLES = frozenset({"a", "an", "the"})
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The mean of paired differences, with a 95 % interval by the percentile bootstrap over the pairs."""

    mean: float
    low: float
    high: float
    better: int
    worse: int


def words(text: str) -> list[str]:
    """Lower-case words without articles and punctuation, as SQuAD's evaluation script normalises."""
    return [word for word in _WORD.findall(text.casefold()) if word not in _ARTICLES]


def token_f1(answer: str, reference: str) -> float:
    """The harmonic mean of precision and recall of shared words, each as often as in both (SQuAD; Rajpurkar, 2016)."""
    own, wanted = words(answer), words(reference)
    shared = sum((Counter(own) & Counter(wanted)).values())
    return 2 * shared / (len(own) + len(wanted)) if shared else 0.0


def contains(answer: str, reference: str) -> float:
    """1 if the reference's words stand in the answer, one after the other, else 0 (PopQA; Mallen et al., 2023)."""
    own, wanted = words(answer), words(reference)
    places = range(len(own) - len(wanted) + 1) if wanted else ()
    return float(any(own[at : at + len(wanted)] == wanted for at in places))


def rouge_l_recall(answer: str, reference: str) -> float:
    """The longest common subsequence of words / words of the reference (ROUGE-L's recall; Lin, 2004)."""
    own, wanted = words(answer), words(reference)
    if not wanted:
        return 0.0
    row = [0] * (len(own) + 1)
    for sought in wanted:
        before = 0  # the row above, one to the left
        for at, word in enumerate(own, start=1):
            above = row[at]
            row[at] = before + 1 if word == sought else max(above, row[at - 1])
            before = above
    return row[-1] / len(wanted)


def paired(one: Sequence[float], other: Sequence[float], *, draws: int, seed: int) -> Difference:
    """`one` - `other`, pair by pair; both have the same length, at least 1 (Efron and Tibshirani, 1993, ch. 13)."""
    found = np.asarray(one) - np.asarray(other)
    rng = np.random.default_rng(seed)
    means = [found[rng.integers(len(found), size=len(found))].mean() for _ in range(draws)]
    low, high = np.quantile(means, [0.025, 0.975])
    return Difference(
        mean=float(found.mean()),
        low=float(low),
        high=float(high),
        better=int((found > 0).sum()),
        worse=int((found < 0).sum()),
    )
