"""Holds what `monitor.store.report.weekly` counted and read of one app for the report of a week."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from monitor.core.batch import Tally
from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.usage import AnswerUsage
from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Unscored, Verdict
from monitor.report.findings.find import Candidate
from monitor.report.findings.lacking import QuestionGroup
from monitor.report.weekly.probes.week import ProbeWeek
from monitor.report.weekly.week import Week
from monitor.review.label import Opinion
from monitor.review.rates.period import PeriodRates


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoWeeks:
    """Verdict counts of the report's week and of the week before."""

    this: Verdicts = field(default_factory=Verdicts)
    before: Verdicts = field(default_factory=Verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedInTwoWeeks:
    """What the answers of the week used, and those of the week before."""

    this: AnswerUsage = field(default_factory=AnswerUsage)
    before: AnswerUsage = field(default_factory=AnswerUsage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Full refusals: the documents do not hold the answer (`correct`), they do (`over`), or it is `unknown`.

    Told by comparison with that many `answered` questions of the app; 0: there were too few, so the profile tells.
    """

    correct: int = 0
    over: int = 0
    unknown: int = 0
    answered: int = 0

    @property
    def total(self) -> int:
        return self.correct + self.over + self.unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileUse:
    """The number of answers of the week assessed live under one profile."""

    name: str
    hash: str
    embedding_model: str
    uncalibrated: bool
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One answer, with its texts as stored."""

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
    """A document retrieved for `answers` of the answers read, of which `self_generated` are self-generated.

    `compared` counts the answers whose sentences were compared with the documents; in `supported` of them the
    document supports a sentence. `last` is when the last of the answers was given, and `last_id` its id.
    """

    id: str
    answers: int
    self_generated: int
    compared: int
    supported: int
    last: datetime | None = None
    last_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """The beginning of the text of a document that has no id of its own, as it was retrieved for the answer `id`."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswers:
    """What was read of the rows themselves: all answers, or an even sample."""

    answers: int
    of: int
    self_generated: int
    documents: tuple[DocumentUse, ...]  # those retrieved often enough
    beginnings: Mapping[str, Beginning] = field(default_factory=dict)  # by document, of those that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosed:
    """The diagnoses of this week and of the week before, and the days with any. Earlier releases made none."""

    this: Mapping[Diagnosis, int] = field(default_factory=dict)
    before: Mapping[Diagnosis, int] = field(default_factory=dict)
    days: int = 0
    days_before: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """What was asked and the documents do not answer, from `answers` with a diagnosis, read `of` those of the week.

    `missed` of them have the diagnosis `retrieval_missed`, in so many different `questions`, of which `read` were
    grouped, by meaning or word for word.
    """

    answers: int = 0
    of: int = 0
    missed: int = 0
    questions: int = 0
    read: int = 0
    by_meaning: bool = True
    groups: tuple[QuestionGroup, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One alert that was firing at some time in the week. Times after the end of the week are None."""

    episode: str
    rule: str
    severity: str
    labels: Mapping[str, str]
    fired_at: datetime
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    resolved_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekSilence:
    """A silence in force in the week that may apply to the app."""

    matchers: tuple[str, ...]
    starts_at: datetime
    ends_at: datetime
    by: str
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMetric:
    """One metric as judged by one model: `judged` answers, `scored` of them with a score, Σ and Σ² of the scores.

    Both sums are of the weighted answers, as of `worth` unweighted ones: fewer than `scored` where weights differ.
    """

    metric: str
    model: str
    judged: int = 0
    scored: int = 0
    worth: int = 0
    sum: float = 0.0
    squares: float = 0.0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What calls to language models used in the week, for all apps, by purpose and model."""

    purpose: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Messages of all apps that arrived from one source in the week, and how many became dead letters."""

    source: str
    received: int
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """How far a source had been read when this was last recorded, and how many messages were left."""

    source: str
    through: datetime
    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What became of messages.

    A dead letter belongs to no app, so everything but `pending` and `unscored` counts all apps.
    `ledger` sums all live groups since their beginning; `unbalanced` counts the partitions that do not balance.
    """

    pending: int  # interactions of the app and week that wait for their assessment
    arrivals: tuple[Arrivals, ...]
    problems: tuple[tuple[str, int], ...]  # of the week's dead letters: `path: problem` and their number
    ledger: Tally
    read_once: tuple[Arrivals, ...]  # files and the like that the ledger does not hold, since the beginning
    partitions: int
    unbalanced: int
    behind: tuple[Behind, ...]
    unscored: Mapping[Unscored, int] = field(default_factory=dict)  # turns of the app and week, by reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An outage, a rise or a level, with its false discovery rate `q`.

    Of an outage its times to the minute, and its negative answers.
    """

    about: Candidate
    q: float
    start: datetime | None = None
    end: datetime | None = None
    negative: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What was found among so many `tests`."""

    tests: int = 0
    items: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All facts of one app and week. Groups are `environment`, `model` and `topic`; '' if an event names none."""

    app: str
    week: Week
    days: Mapping[date, Verdicts]  # days of the trend; those without answers may be missing
    groups: Mapping[str, Mapping[str, TwoWeeks]]
    prompt_versions: Mapping[str, TwoWeeks]  # from the answers read of both weeks
    read: ReadAnswers
    refusals: Refusals
    refusals_before: Refusals
    partial_refusals: int
    verdicts: Mapping[tuple[Verdict, Verdict], int]  # by the profile's verdict and the rule's
    profiles: tuple[ProfileUse, ...]
    worst: tuple[Example, ...]
    over_refusals: tuple[Example, ...]
    watched: int  # days of the week on which a rule was evaluated
    episodes: tuple[Episode, ...]
    silences: tuple[WeekSilence, ...]
    judged: tuple[JudgedMetric, ...]
    judged_before: tuple[JudgedMetric, ...]
    judged_answers: int
    usage: tuple[Usage, ...]
    coverage: Coverage
    opinions: tuple[Opinion, ...]
    unlabelled: int
    findings: Findings = Findings()
    diagnosed: Diagnosed = Diagnosed()
    lacking: Lacking = Lacking()
    used: Mapping[str, UsedInTwoWeeks] = field(default_factory=dict)  # by model; '' if an event names none
    probes: tuple[ProbeWeek, ...] = ()
    rates: PeriodRates | None = None  # from labels that were drawn for the week
    running: bool = False  # the week is not over
