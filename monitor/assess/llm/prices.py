"""What the tokens of a language model cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The price of a million tokens, in the currency of the budget."""

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return (self.input * input_tokens + self.output * output_tokens) / 1e6
