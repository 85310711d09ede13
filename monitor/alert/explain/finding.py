"""The parts of an explanation: findings, parts of the rise, clusters of questions, and examples."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from monitor.core.figures.proportions import Share

FEWEST_DIAGNOSED = 10  # answers with a diagnosis that tell anything


class Kind(StrEnum):
    """Why a value has more bad answers than the other values, judged by the baseline."""

    NEW = "new"  # the value hardly occurred before
    WORSE = "worse"  # its answers became worse, compared with the others
    MIX = "mix"  # its answers were worse already, and now there are more of them
    AS_BEFORE = "as_before"  # its answers were as bad and as many before, so it explains no rise
    UNCOMPARED = "uncompared"  # the baseline has too few answers to tell


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisCount:
    """How many answers have a diagnosis, now and before."""

    diagnosis: str
    now: int
    before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnoses:
    """The answers that have a diagnosis, now and before, and those of them that are counted, by diagnosis.

    What an earlier release has assessed has none, and is left out.
    """

    answers: int = 0
    before_answers: int = 0
    counts: tuple[DiagnosisCount, ...] = ()

    def shares(self, *diagnoses: str) -> tuple[Share, Share]:
        """The share of the answers that are counted under any of `diagnoses`, now and before."""
        counted = [each for each in self.counts if each.diagnosis in diagnoses]
        return (
            Share(matching=sum(each.now for each in counted), total=self.answers),
            Share(matching=sum(each.before for each in counted), total=self.before_answers),
        )

    def shares_of_counted(self, diagnosis: str) -> tuple[Share, Share]:
        """The share of those that are counted which have the diagnosis, now and before."""
        (now, before) = self.shares(diagnosis)
        return (
            Share(matching=now.matching, total=sum(each.now for each in self.counts)),
            Share(matching=before.matching, total=sum(each.before for each in self.counts)),
        )

    @property
    def comparable(self) -> bool:
        """Whether there are enough answers on both sides."""
        return min(self.answers, self.before_answers) >= FEWEST_DIAGNOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value of a dimension: `app`, `model`, `prompt_version`, `topic`, `document`, `documents`, `tag NAME` and so on.

    Both are masked. The empty document stands for answers without retrieved documents. `documents` has a single value,
    for answers with any of several documents that were not retrieved before.
    """

    dimension: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A value whose answers match the signal more often than other answers, with all values that coincide with it.

    Rates and shares are in [0, 1]. `lift` is rate / elsewhere, None if `elsewhere` is 0. The cost of a value is what it
    adds to the rate, rate(all) - rate(not v) = share · (rate - elsewhere); `owed` is its cost now minus its cost in the
    baseline, as a share. `p` is from the two-proportion test, `q` is `p` adjusted for all compared values.
    """

    values: tuple[Value, ...]
    kind: Kind
    answers: int
    matching: int
    rate: float
    elsewhere: float
    lift: float | None
    share: float
    before_rate: float | None  # None where the baseline has no such answers
    before_elsewhere: float | None
    before_share: float | None
    owed: float
    p: float
    q: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The rise of the rate from baseline to window, split by one dimension into three addends.

    `new` comes from values that did not occur before, `within` from changed rates of the other values, and `mix` from
    their changed shares.
    """

    dimension: str
    new: float
    within: float
    mix: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Matching answers with similar questions, named by the words that set them apart from the window's other ones.

    `share` is of the window's matching answers, `before_share` of the baseline's, None if the baseline has too few.
    """

    words: tuple[str, ...]
    questions: int
    share: float
    before_share: float | None
    example: str  # redacted


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleAnswer:
    """A bad answer that represents others. Texts are redacted; `probability` is the one of its verdict.

    `rank` is that among the usual answers of its app, None without a reference.
    """

    id: str
    app: str
    question: str
    answer: str
    verdict: str
    reasons: tuple[str, ...]
    probability: float
    rank: float | None = None
