"""The numbers that are read in a text."""

from __future__ import annotations

from monitor.assess.score.facts import Fact, FactKind, facts
from monitor.assess.score.facts.quantities.quantity import Quantity


def numbers(text: str) -> list[Fact]:
    return [fact for fact in facts(text) if fact.kind is FactKind.NUMBER]


def dimension(quantity: Quantity) -> str | None:
    return quantity.unit.dimension if quantity.unit else None


def with_dimensions(text: str) -> list[tuple[float, str | None]]:
    """The likeliest reading of each number of a text, as (value, dimension)."""
    return [(fact.key[0].number, dimension(fact.key[0])) for fact in numbers(text)]


def values(text: str) -> list[float]:
    return [value for value, _ in with_dimensions(text)]
