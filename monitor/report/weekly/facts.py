"""What was counted and read of one app for the report of a week: what `monitor.store.report.weekly` gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from monitor.core.model import Tally, Verdict
from monitor.core.verdict_counts import Verdicts
from monitor.report.weekly.week import Week
from monitor.review.label import Opinion


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """The same of the report's week and of the week before."""

    this: Verdicts = field(default_factory=Verdicts)
    before: Verdicts = field(default_factory=Verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Whole refusals by whether they were right: the documents do not hold the answer, they do, it cannot be told."""

    correct: int = 0
    over: int = 0
    unknown: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.correct + self.over + self.unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileUse:
    """Answers of the week that were assessed live under one profile."""

    name: str
    hash: str
    embedding_model: str
    uncalibrated: bool
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One answer. Texts are as they are stored."""

    id: str
    occurred_at: datetime
    verdict: Verdict
    reasons: tuple[str, ...]
    p_grounded: float
    p_refusal: float
    model: str | None
    topic: str | None
    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentUse:
    """A document that was retrieved for `answers` answers of those read, of which so many are self-generated.

    `compared` are those whose sentences were held against the documents; in `supported` of these it carries one.
    """

    id: str
    answers: int
    self_generated: int
    compared: int
    supported: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """An even sample of the answers, or all of them: what was read of the rows themselves."""

    answers: int
    of: int
    self_generated: int
    documents: tuple[DocumentUse, ...]  # that were retrieved often enough


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One alert that fired before the end of the week and had not ended before its beginning; times before the end."""

    episode: str
    rule: str
    severity: str
    labels: Mapping[str, str]
    fired_at: datetime
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    resolved_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """A silence that held in the week and may have held for the app."""

    matchers: tuple[str, ...]
    starts_at: datetime
    ends_at: datetime
    by: str
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What one model said of one metric: `judged` answers, of which `scored` have a score, Σ and Σ² of these."""

    metric: str
    model: str
    judged: int = 0
    scored: int = 0
    sum: float = 0.0
    squares: float = 0.0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What all apps' calls of language models used in the week, by what for."""

    purpose: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Messages of all apps that arrived in the week from one source, and those of them that were dead letters."""

    source: str
    received: int
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Up to when a source was read when that was last noted, and how many messages were left."""

    source: str
    through: datetime
    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What became of messages. A message that is no interaction is of no app, so all but `pending` is of all apps.

    `ledger` is the sum of all live groups since their beginning, `unbalanced` how many of the partitions do not add up.
    """

    pending: int  # interactions of the app's week that wait for their assessment
    arrivals: tuple[Arrivals, ...]
    problems: tuple[tuple[str, int], ...]  # of dead letters of the week: path and problem
    ledger: Tally
    partitions: int
    unbalanced: int
    behind: tuple[Behind, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything of one app and week. Groups are by `environment`, `model` and `topic`; '' where an event had none."""

    app: str
    week: Week
    days: Mapping[date, Verdicts]  # of the trend; those without answers may be missing
    groups: Mapping[str, Mapping[str, Both]]
    prompt_versions: Mapping[str, Both]  # of what was read of both weeks
    read: Read
    refusals: Refusals
    refusals_before: Refusals
    partial_refusals: int
    verdicts: Mapping[tuple[Verdict, Verdict], int]  # the profile's and the rule's
    profiles: tuple[ProfileUse, ...]
    worst: tuple[Example, ...]
    over_refusals: tuple[Example, ...]
    episodes: tuple[Episode, ...]
    silences: tuple[Quiet, ...]
    judged: tuple[Judged, ...]
    judged_before: tuple[Judged, ...]
    judged_answers: int
    usage: tuple[Usage, ...]
    coverage: Coverage
    opinions: tuple[Opinion, ...]
    unlabelled: int
