"""The filters of a list of interactions, and what a page of it holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitor.core.model import Reason, Verdict


class Labelled(StrEnum):
    """How an interaction is labelled."""

    NO = "no"
    YES = "yes"
    WRONG = "wrong"  # the newest label of some person is another verdict


class RefusalCorrectness(StrEnum):
    """Whether a refusal was right."""

    CORRECT = "correct"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRange:
    """Values of one metric (`sdq`, `sdrd`, `sda`, `qrd`, `qa`), both bounds included; None is open."""

    metric: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Interactions of [since, until) that match every filter that is set; for `words` see `terms`."""

    since: datetime
    until: datetime
    app: str | None = None
    environment: str | None = None
    model: str | None = None
    topic: str | None = None
    verdicts: frozenset[Verdict] = frozenset()  # none: all
    reason: Reason | None = None
    refusal: RefusalCorrectness | None = None
    metric: MetricRange | None = None
    labelled: Labelled | None = None
    words: str | None = None

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """The set filters that are labels of the rollups."""
        names = ("app", "environment", "model", "topic")
        return tuple((name, value) for name in names if (value := getattr(self, name)) is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePosition:
    """Where a page begins: after this row, in the order of the list."""

    occurred_at: datetime
    app: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedInteraction:
    """One row. Texts are unmasked: mask them before they are shown."""

    app: str
    id: str
    occurred_at: datetime
    environment: str
    model: str | None
    topic: str | None
    conversation_id: str | None
    question: str
    answer: str
    verdict: Verdict
    rule_verdict: Verdict
    reasons: tuple[Reason, ...]
    refusal_kind: str
    refusal_correct: bool | None
    p_grounded: float
    p_refusal: float
    p_self_generated: float
    uncalibrated: bool
    sdq: float | None
    sdrd: float | None
    sda: float | None
    qrd: float | None
    qa: float | None
    profile_name: str
    profile_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionPage:
    """A page, newest first. `older` and `newer` are where the next pages begin, None where there is none.

    `reached` is set where the search stopped before the end of the span: `older` (or `newer`) goes on from there.
    """

    rows: tuple[ListedInteraction, ...]
    older: PagePosition | None
    newer: PagePosition | None
    reached: datetime | None = None
