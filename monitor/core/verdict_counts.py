"""Answers counted by their verdict."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.core.model import Verdict
from monitor.core.proportions import wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """How many answers have which verdict."""

    grounded: int = 0
    refusal: int = 0
    self_generated: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.grounded + self.refusal + self.self_generated

    @property
    def negative(self) -> int:
        """Refusals and self-generated ones."""
        return self.refusal + self.self_generated

    def of(self, verdict: Verdict) -> int:
        """Those with that verdict."""
        return int(getattr(self, verdict.value))

    def share(self, name: str) -> float | None:
        """Of `refusal`, `self_generated`, `negative` or `grounded`; None of nothing."""
        number: int = getattr(self, name)
        return number / self.total if self.total else None

    def interval(self, name: str) -> tuple[float, float] | None:
        """Wilson's at 95 % of that share."""
        return wilson(getattr(self, name), self.total) if self.total else None

    def __add__(self, other: Verdicts) -> Verdicts:
        return Verdicts(
            grounded=self.grounded + other.grounded,
            refusal=self.refusal + other.refusal,
            self_generated=self.self_generated + other.self_generated,
        )
