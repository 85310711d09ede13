"""A grade: how correct an answer is beside a reference answer (Iwama and Takeuchi, 2025; metrics.md §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final, Protocol

from monitor.assess.llm.exchange import Prompt, Spend

UNSURE: Final = 0  # the score of an answer that says that it is not sure
HIGHEST: Final = 5  # the reference answer's, by definition


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """`scores` are those of the single judgings, each from 0 to 5; empty if none succeeded, for a `reason`."""

    scores: tuple[int, ...]
    feedback: str = ""
    reason: str | None = None
    spend: Spend = field(default_factory=Spend)
    prompts: tuple[Prompt[Any], ...] = ()

    @property
    def is_unsure(self) -> bool:
        """Whether at least half of the judgings say that the answer is not sure."""
        return bool(self.scores) and 2 * self.scores.count(UNSURE) >= len(self.scores)

    @property
    def score(self) -> float | None:
        """The mean of the scores above 0; 0 for an answer that is not sure, None without scores."""
        if not self.scores:
            return None
        return 0.0 if self.is_unsure else fmean(score for score in self.scores if score != UNSURE)

    @property
    def spread(self) -> int:
        """The highest score less the lowest."""
        return max(self.scores) - min(self.scores) if self.scores else 0


class Grader(Protocol):
    """Grades answers. Any number of threads may call."""

    @property
    def model(self) -> str:
        """Name of the model; it is stored with each run."""

    def grade(
        self, *, question: str, contexts: Sequence[str], reference: str, answer: str, deadline: float | None = None
    ) -> Grade:
        """The grade of `answer`; `deadline` is on the clock of `time.monotonic`.

        An answer that the model does not grade in the form asked for has a grade without scores.

        Raises:
            BudgetSpent, Retriable, Fatal: as `LanguageModel.ask` does.
        """


class Contexts(Protocol):
    """Finds documents by question and reference together, so that the judge sees what the answer should rest on."""

    def find(self, question: str, reference: str) -> Sequence[str]:
        """The texts of the best documents, the best first; none if nothing is known.

        Raises:
            Retriable: the source of the documents is out of reach for now.
        """
