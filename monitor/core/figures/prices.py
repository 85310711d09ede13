"""What the tokens of a language model cost: of the chatbot's model, and of the models that monitor itself asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase

MOST_REMEMBERED = 10_000  # names of models; a producer may send any number of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """The price of a million tokens."""

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return (self.input * input_tokens + self.output * output_tokens) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """The price of the models whose name is `model`, where `*` stands for any text, from the day `since` on (UTC)."""

    model: str
    price: Price
    since: date = date.min


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceTable:
    """The prices that the user keeps, in one `currency`. Safe to use from several threads."""

    currency: str
    models: tuple[ModelPrice, ...]
    _found: dict[str, tuple[ModelPrice, ...]] = field(default_factory=dict, compare=False, repr=False)

    def price(self, model: str, on: date) -> Price | None:
        """The price of `model` on a day: the most exact name holds, and of its prices the newest that has begun.

        Upper and lower case are equal. A name without `*` is more exact than any with one, then the longer name.
        """
        known = self._found.get(model)
        if known is None:
            if len(self._found) >= MOST_REMEMBERED:
                self._found.clear()
            known = self._found[model] = self._of(model)
        return next((one.price for one in known if one.since <= on), None)

    def cost(self, model: str | None, on: date, input_tokens: int | None, output_tokens: int | None) -> float | None:
        """What an answer cost; None if its model has no price or a number of tokens is unknown."""
        if model is None or input_tokens is None or output_tokens is None:
            return None
        price = self.price(model, on)
        return None if price is None else price.cost(input_tokens, output_tokens)

    def _of(self, model: str) -> tuple[ModelPrice, ...]:
        """All prices of the most exact name, the newest first."""
        fitting = [one for one in self.models if _fits(one.model, model)]
        if not fitting:
            return ()
        exact = max(_exactness(one.model) for one in fitting)
        of_name = [one for one in fitting if _exactness(one.model) == exact]
        return tuple(sorted(of_name, key=lambda one: one.since, reverse=True))


def _fits(pattern: str, model: str) -> bool:
    """Whether `model` is meant; of the signs of `fnmatch`, only `*` has a meaning here."""
    escaped = pattern.replace("[", "[[]").replace("?", "[?]")
    return fnmatchcase(model.casefold(), escaped.casefold())


def _exactness(pattern: str) -> tuple[bool, int]:
    return "*" not in pattern, len(pattern)
