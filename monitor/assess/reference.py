"""Reference periods: how rare the score of an answer is among the usual answers of its app.

The rank of a score s in a reference of n scores is its conformal p-value (Vovk, Gammerman and Shafer, *Algorithmic
Learning in a Random World*, 2005): p = (1 + number of scores ≥ s) / (n + 1). As long as answers are like those of the
reference, a share of at most α of them has p ≤ α, whatever the level of the scores. So a rank says where to look
first. It is no rate: about α of all answers are flagged even if none is bad.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monitor.core.model import Assessment

ALPHA = 0.1  # an answer with this rank or a lower one is flagged
LEAST_SCORES = 500  # fewer say too little about the rarest answers
_ROUNDING = 1e-6  # more than a REAL differs from the rank that it holds
_RARE_IN_A_THOUSAND = 0.005  # below this rank a hundredth is too coarse

Scores: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reference:
    """The scores of a frozen reference, in ascending order: probabilities of *self-generated* as a REAL holds them.

    `model` is '' for answers that name none; `topic` is '' for the reference of all topics. Only scores that were made
    with the same profile and embedding model can be compared with it.
    """

    hash: str
    app: str
    model: str
    topic: str
    profile_hash: str
    embedding_model: str
    scores: Scores


def ranks(reference: Scores, scores: Sequence[float] | Scores) -> NDArray[np.float64]:
    """The rank of each of `scores` in the ascending scores of a reference; NaN for a score that is NaN."""
    asked = np.asarray(scores, dtype=np.float32)
    at_least = reference.size - np.searchsorted(reference, asked, side="left")
    return np.where(np.isnan(asked), np.nan, (1 + at_least) / (reference.size + 1))


def is_flagged(rank: float | None) -> bool:
    """Whether an answer of this rank is flagged."""
    return rank is not None and rank <= ALPHA + _ROUNDING


def rank_words(rank: float | None) -> str:
    """The rank of an answer in words; None: there is no reference for it."""
    if rank is None:
        return "no reference period is frozen for this app, so the profile alone decides"
    if not is_flagged(rank):
        return f"usual for this app: rank {rank:.2f} of 1"
    of = 1_000 if rank < _RARE_IN_A_THOUSAND else 100
    return f"rarer than {min(int(of * (1 - rank) + of * _ROUNDING), of - 1)} in {of:,} of this app's usual answers"


def ranked_in(row: Mapping[str, Any]) -> str:
    """The rank of a row of `AssessmentQueries.with_assessments` in words, with its reference."""
    words = rank_words(row["rank"])
    if row["reference"] is None:
        return words
    frozen_at, size = row["reference_frozen_at"], row["reference_size"]
    known = "" if frozen_at is None else f", {size:,} scores, frozen on {frozen_at:%Y-%m-%d}"
    return f"{words} (reference {row['reference']}{known})"


class References:
    """The references in force, by app, model and topic."""

    def __init__(self, references: Iterable[Reference] = ()) -> None:
        self._by_source = {(one.app, one.model, one.topic): one for one in references}

    def rank(self, assessments: Sequence[Assessment]) -> list[Assessment]:
        """The assessments, in order, each with its rank and the hash of its reference, if there is one for it.

        The reference of the answer's topic counts, or else that of its app and model.
        """
        places: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
        for place, assessment in enumerate(assessments if self._by_source else ()):
            if (reference := self._of(assessment)) is not None:
                places[reference.app, reference.model, reference.topic].append(place)
        ranked = list(assessments)
        for source, found in places.items():
            reference = self._by_source[source]
            scores = [assessments[place].probabilities.self_generated for place in found]
            for place, rank in zip(found, ranks(reference.scores, scores).tolist(), strict=True):
                if not isnan(rank):
                    ranked[place] = replace(ranked[place], rank=rank, reference=reference.hash)
        return ranked

    def _of(self, assessment: Assessment) -> Reference | None:
        it = assessment.interaction
        app, model = it.app, it.model or ""
        topic = it.tags.get("topic", "")
        found = self._by_source.get((app, model, topic)) or self._by_source.get((app, model, ""))
        if found is None or found.profile_hash != assessment.profile_hash:
            return None
        return found if found.embedding_model == assessment.embedding_model else None
