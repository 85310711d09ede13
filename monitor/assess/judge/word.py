"""The judge's word on an answer: what its faithfulness says, and how much that weighs.

A word adds its weight to the log-odds of *self-generated*, and nothing else: a judge that is wrong, or talked into its
answer by a document, moves a verdict by no more than MOST. The weights are learnt from people's labels of judged
answers, as two parameters of a logistic regression whose offset is the log-odds before the word, so that what the judge
and the features see alike counts once. It does not matter whether the labelled answers were drawn at random or by score
and word, since the regression is given both.

Each weight is drawn to PRIOR by a normal prior with the deviation SPREAD. PRIOR is an assumption, not a measurement of
any judge: three in four unsupported answers are called so, and one in four of the others. A balanced accuracy of three
in four is about what GPT-4 reached on the sets of LLM-AggreFact (Tang et al., 2024, arXiv 2404.10774). SPREAD lets
some twenty labels count as much as the assumption.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

METRIC: Final = "faithfulness"
UNSUPPORTED: Final = 0.5  # below this faithfulness the judge contradicts `grounded`
SUPPORTED: Final = 0.8  # from this faithfulness on the judge contradicts `self_generated`

PRIOR: Final = math.log(0.75 / 0.25)
SPREAD: Final = 0.5
MOST: Final = 3.0  # log-odds: a factor of 20
_STEPS = 40  # of the bisection: far below what a REAL holds


class Says(StrEnum):
    """What the judge says of an answer; between the two it says nothing."""

    UNSUPPORTED = "unsupported"
    SUPPORTED = "supported"

    @classmethod
    def by(cls, faithfulness: float | None) -> Says | None:
        """What a score says; None without a score, or if it is between UNSUPPORTED and SUPPORTED."""
        if faithfulness is None or UNSUPPORTED <= faithfulness < SUPPORTED:
            return None
        return cls.UNSUPPORTED if faithfulness < UNSUPPORTED else cls.SUPPORTED


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledWord:
    """A judged answer that people have labelled: the log-odds of *self-generated* without the judge, and the truth."""

    log_odds: float
    says: Says
    made_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WordWeights:
    """What a word adds to the log-odds of *self-generated*: `unsupported` ≥ 0, `supported` ≤ 0; from so many labels."""

    unsupported: float = PRIOR
    supported: float = -PRIOR
    labels: int = 0

    def of(self, says: Says | None) -> float:
        if says is None:
            return 0.0
        return self.unsupported if says is Says.UNSUPPORTED else self.supported


def learnt(labelled: Sequence[LabelledWord]) -> WordWeights:
    """The weights with the highest posterior density; those of the prior without labels."""
    return WordWeights(
        unsupported=_weight([w for w in labelled if w.says is Says.UNSUPPORTED], PRIOR, 0.0, MOST),
        supported=_weight([w for w in labelled if w.says is Says.SUPPORTED], -PRIOR, -MOST, 0.0),
        labels=len(labelled),
    )


def _weight(labelled: Sequence[LabelledWord], prior: float, low: float, high: float) -> float:
    """The root of Σ (y - σ(log-odds + w)) = (w - prior) / SPREAD² in [low, high], else the end next to it."""
    for _ in range(_STEPS):
        middle = (low + high) / 2
        excess = sum(w.made_up - _sigmoid(w.log_odds + middle) for w in labelled)
        if excess > (middle - prior) / SPREAD**2:  # the left side falls and the right side rises with w
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
