"""What answers used: their latency, tokens and cost, summed up over many answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Self

from monitor.core.figures.latency import percentile

P50, P95 = 0.5, 0.95  # the percentiles of the latency that people are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """The sum of a quantity over the `answers` whose events tell it."""

    answers: int = 0
    sum: float = 0.0

    @property
    def mean(self) -> float | None:
        """None if no event tells the quantity."""
        return self.sum / self.answers if self.answers else None

    def __add__(self, other: Amount) -> Amount:
        return Amount(answers=self.answers + other.answers, sum=self.sum + other.sum)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerUsage:
    """What `answers` used, of which `grounded` are grounded; latencies in seconds, `cost` in the prices' currency."""

    answers: int = 0
    grounded: int = 0
    latency: Amount = Amount()
    latency_bins: tuple[int, ...] = ()
    input_tokens: Amount = Amount()
    output_tokens: Amount = Amount()
    tokens: Amount = Amount()
    cost: Amount = Amount()

    @property
    def told(self) -> bool:
        """Whether any answer tells its latency, tokens or cost."""
        return bool(
            self.latency.answers or self.input_tokens.answers or self.output_tokens.answers or self.cost.answers
        )

    @property
    def unpriced(self) -> int:
        """The number of answers without a price."""
        return self.answers - self.cost.answers

    @property
    def cost_per_grounded(self) -> float | None:
        """What all answers cost for each grounded one; None if some have no cost, or none is grounded."""
        return self.cost.sum / self.grounded if self.grounded and self.cost.answers and not self.unpriced else None

    def latency_at(self, share: float) -> float | None:
        """The percentile of the latency, such as 0.95; None if no event tells a latency."""
        return percentile(self.latency_bins, share)

    def __add__(self, other: AnswerUsage) -> AnswerUsage:
        return AnswerUsage(
            answers=self.answers + other.answers,
            grounded=self.grounded + other.grounded,
            latency=self.latency + other.latency,
            latency_bins=tuple(a + b for a, b in zip_longest(self.latency_bins, other.latency_bins, fillvalue=0)),
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            tokens=self.tokens + other.tokens,
            cost=self.cost + other.cost,
        )

    @classmethod
    def total(cls, parts: Iterable[Self]) -> AnswerUsage:
        """The sum of `parts`."""
        return sum(parts, AnswerUsage())
