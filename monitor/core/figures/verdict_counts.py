"""Counts of answers by verdict, with their shares."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.core.figures.proportions import wilson
from monitor.core.model import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """The number of answers with each verdict."""

    grounded: int = 0
    refusal: int = 0
    self_generated: int = 0

    @property
    def total(self) -> int:
        return self.grounded + self.refusal + self.self_generated

    @property
    def negative(self) -> int:
        return self.refusal + self.self_generated

    def of(self, verdict: Verdict) -> int:
        return int(getattr(self, verdict.value))

    def share(self, name: str) -> float | None:
        """Share of `refusal`, `self_generated`, `negative` or `grounded`; None without answers."""
        number: int = getattr(self, name)
        return number / self.total if self.total else None

    def interval(self, name: str) -> tuple[float, float] | None:
        """Wilson interval of that share at 95%; None without answers."""
        return wilson(getattr(self, name), self.total) if self.total else None

    def __add__(self, other: Verdicts) -> Verdicts:
        return Verdicts(
            grounded=self.grounded + other.grounded,
            refusal=self.refusal + other.refusal,
            self_generated=self.self_generated + other.self_generated,
        )
