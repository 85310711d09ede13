"""What an explanation consists of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """Why a value goes with more bad answers than the others do, by what the baseline says of it."""

    NEW = "new"  # it was hardly there before
    WORSE = "worse"  # its answers became worse, compared with the others
    MIX = "mix"  # its answers were worse before, and now there are more of them
    AS_BEFORE = "as_before"  # its answers were worse before, and as many: it explains no rise
    UNCOMPARED = "uncompared"  # the baseline has too few answers to say


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value of a dimension: `app`, `model`, `prompt_version`, `topic`, `document`, `documents`, `tag NAME` and so on.

    The empty document stands for answers without any retrieved document; `documents` has one value, for those with any
    of several that were not retrieved before.
    """

    dimension: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A value whose answers match the signal more often than the others', with all values that coincide with it.

    Rates and shares are in [0, 1]. `lift` is rate / elsewhere, None where that is 0. The cost of a value is what it
    adds to the rate, rate(all) - rate(not v) = share · (rate - elsewhere); `owed` is its cost now less its cost in the
    baseline, in points of the rate. `p` is of the two-proportion test, `q` the same adjusted for all values looked at.
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

    `new` is owing to values that were not there before, `within` to changed rates of those that were, and `mix` to
    their changed shares.
    """

    dimension: str
    new: float
    within: float
    mix: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Matching answers whose questions are alike, named by the words that tell them from the window's other questions.

    `share` is of the window's matching answers, `before_share` of the baseline's, None where that has too few.
    """

    words: tuple[str, ...]
    questions: int
    share: float
    before_share: float | None
    example: str  # redacted


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleAnswer:
    """One bad answer that shows what the others are like. Texts are redacted; `probability` is of its verdict."""

    id: str
    app: str
    question: str
    answer: str
    verdict: str
    reasons: tuple[str, ...]
    probability: float
