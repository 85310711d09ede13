"""Decides whether a passage gives another figure instead of one that no document holds."""

from __future__ import annotations

from functools import lru_cache

from monitor.assess.score.facts.extract import facts
from monitor.assess.score.facts.fact import Fact, FactKind
from monitor.assess.score.facts.quantities.quantity import Quantity


def conflicts(fact: Fact, passage: str) -> bool:
    """Whether the fact is a number with a unit and the passage has one of the same kind: both are prices, for example.

    Only meaningful for a fact that no document holds, and a passage that otherwise carries its sentence.
    """
    ours = _kinds(fact)
    return bool(ours) and not ours.isdisjoint(_kinds_in(passage))


def _kinds(fact: Fact) -> frozenset[str]:
    if fact.kind is not FactKind.NUMBER:  # a time of day may also be a length of time
        return frozenset()
    return frozenset(q.unit.dimension for q in fact.key if isinstance(q, Quantity) and q.unit is not None)


@lru_cache(maxsize=64)  # the facts of a sentence are compared with one passage, one after the other
def _kinds_in(passage: str) -> frozenset[str]:
    return frozenset().union(*map(_kinds, facts(passage)))
