"""Groups similar questions by their vectors. Deterministic: the same questions give the same groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitor.alert.explain.finding import Cluster
from monitor.alert.explain.keywords import telling_words, words
from monitor.core.figures.proportions import Share, greater
from monitor.privacy.masking import redact_head, without_findings

MOST = 4
FEWEST = 3  # questions of a cluster
FEWEST_SHARE = 0.05  # of the matching questions
FEWEST_BEFORE = 10  # matching questions of the baseline; with fewer, their share is not given
_ABOVE = 0.25  # of the way from the usual similarity of two questions to the same question
_LONGEST_EXAMPLE = 200  # characters
_CHANCE = 0.05  # of a growth that is none

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMembers:
    """A cluster with the indexes of its questions among those that were grouped."""

    cluster: Cluster
    members: tuple[int, ...]


def clusters(
    failing: Sequence[str], vectors: Vectors, *, others: Vectors, before: Vectors, background: Sequence[str]
) -> list[ClusterMembers]:
    """The largest groups of `failing` questions that have grown; their unit vectors are `vectors`, shape (n, d).

    `others` are vectors of questions whose answers do not match: the usual similarity of two questions decides what
    counts as similar, since it differs between models. `before` are vectors of matching answers of the baseline: a
    group that had about its share of them is no change, and is left out. With fewer than `FEWEST_BEFORE` that is
    unknown. `background` has all other questions of the window, with which words are compared.
    """
    if len(failing) < FEWEST:
        return []
    vectors, others, before = map(_units, (vectors, others, before))
    threshold = _threshold(vectors, others)
    known = [words(without_findings(question)) for question in failing]
    elsewhere = [words(without_findings(question)) for question in background]
    found: list[ClusterMembers] = []
    for members in _groups(vectors, threshold):
        if len(members) < max(FEWEST, FEWEST_SHARE * len(failing)) or len(found) == MOST:
            break
        inside = set(members)
        rest = [w for place, w in enumerate(known) if place not in inside]
        centre = vectors[members].mean(axis=0)
        nearest = members[int(np.argmax(vectors[members] @ centre))]
        alike = before @ centre >= threshold
        if len(before) >= FEWEST_BEFORE and not _has_grown(len(members), len(failing), alike):
            continue
        cluster = Cluster(
            words=telling_words([known[place] for place in members], [*rest, *elsewhere]),
            questions=len(members),
            share=len(members) / len(failing),
            before_share=float(alike.mean()) if len(before) >= FEWEST_BEFORE else None,
            example=redact_head(failing[nearest], _LONGEST_EXAMPLE),
        )
        found.append(ClusterMembers(cluster=cluster, members=tuple(members)))
    return found


def _has_grown(members: int, failing: int, alike_before: NDArray[np.bool_]) -> bool:
    """Whether a group has a clearly larger share of the failing questions than it had before."""
    before = Share(matching=int(alike_before.sum()), total=len(alike_before))
    return greater(Share(matching=members, total=failing), before) <= _CHANCE


def _units(vectors: Vectors) -> Vectors:
    """The vectors scaled to length 1; NaN and infinity count as 0."""
    clean = np.nan_to_num(vectors, posinf=0.0, neginf=0.0).astype(np.float32)
    lengths = np.linalg.norm(clean, axis=1, keepdims=True)
    units: Vectors = np.divide(clean, lengths, out=np.zeros_like(clean), where=lengths > 0)
    return units


def _threshold(vectors: Vectors, others: Vectors) -> float:
    """The cosine from which on questions are similar: well above the median of a failing and a good question.

    Without good questions, above the median of two failing ones.
    """
    pairs = others @ vectors.T if len(others) else (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    usual = float(np.median(pairs))
    return usual + _ABOVE * (1 - usual)


def _groups(vectors: Vectors, threshold: float) -> list[list[int]]:
    """Agglomerative clustering with average linkage: the two nearest groups join while their cosine is `threshold`.

    Largest group first, members in order. For unit vectors the mean cosine of two groups is the product of their means.
    """
    groups: list[list[int]] = [[place] for place in range(len(vectors))]
    sums = vectors.astype(np.float64)
    sizes = np.ones(len(vectors))
    near = sums @ sums.T
    np.fill_diagonal(near, -np.inf)
    while True:
        one, other = divmod(int(np.argmax(near)), len(groups))
        if near[one, other] < threshold:
            break
        groups[one] += groups[other]
        groups[other] = []
        sums[one] += sums[other]
        sizes[one] += sizes[other]
        near[other] = near[:, other] = -np.inf
        alive = np.array([bool(group) for group in groups])
        near[one] = np.where(alive, (sums @ sums[one]) / (sizes * sizes[one]), -np.inf)
        near[one, one] = -np.inf
        near[:, one] = near[one]
    return sorted((sorted(group) for group in groups if group), key=lambda group: (-len(group), group[0]))
