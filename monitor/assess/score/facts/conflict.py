"""Decides whether a passage gives another figure instead of one that no document holds."""

from __future__ import annotations

from monitor.assess.score.facts.extract import facts
from monitor.assess.score.facts.fact import Fact
from monitor.assess.score.facts.quantities.quantity import Quantity


def conflicts(fact: Fact, passage: str) -> bool:
    """Whether the fact is a number with a unit and the passage has one of the same kind: both are prices, for example.

    Only meaningful for a fact that no document holds, and a passage that otherwise carries its sentence.
    """
    ours = _kinds(fact)
    return bool(ours) and any(not ours.isdisjoint(_kinds(theirs)) for theirs in facts(passage))


def _kinds(fact: Fact) -> frozenset[str]:
    return frozenset(q.unit.dimension for q in fact.key if isinstance(q, Quantity) and q.unit is not None)
