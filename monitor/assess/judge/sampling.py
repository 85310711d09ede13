"""Chooses the interactions to judge: the same ones in every process and on every repetition.

With `doubt`, half of a share is a plain random sample, from which rates can be taken as they are. The other half goes
to answers in doubt, where a word is most likely to turn the verdict, by a chance of its own that is as much higher as
such answers are rarer. An interaction's probability of being drawn is stored with its judgements, so that means over
all of them can be weighted (Horvitz and Thompson, 1952).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

from monitor.core.model import Assessment, Probabilities, Verdict

DOUBT: Final = 1.0  # log-odds of self-generated against grounded within which an answer is in doubt: .27 to .73
IN_DOUBT: Final = 0.25  # share of such answers: .01 to .54 in the development files, .27 in the mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """`negatives` and `rest` are shares in [0, 1]; `doubt` says that half of each goes to answers in doubt.

    The sample always takes an interaction whose two likeliest verdicts are less than `low_margin` apart in probability.
    """

    negatives: float
    low_margin: float
    rest: float
    doubt: bool = False

    @property
    def random_share(self) -> float:
        """The share of all interactions that is taken whatever they are: those whose `chance` is below it."""
        least = min(self.negatives, self.rest)
        return least / 2 if self.doubt else least

    def takes(self, assessment: Assessment) -> bool:
        """Whether to judge the interaction. A sample with larger shares includes all of one with smaller shares."""
        it = assessment.interaction
        return self.inclusion(it.app, it.id, assessment.verdict, assessment.probabilities) is not None

    def inclusion(self, app: str, interaction_id: str, verdict: Verdict, p: Probabilities) -> float | None:
        """The probability with which interactions that are assessed like this are taken; None if this one is not."""
        plain, doubtful = self._chances(verdict, p)
        first, second = chances(app, interaction_id)
        return 1 - (1 - plain) * (1 - doubtful) if first < plain or second < doubtful else None

    def _chances(self, verdict: Verdict, p: Probabilities) -> tuple[float, float]:
        """The chance of being drawn at random, and that of being drawn for doubt."""
        second, first = sorted((p.grounded, p.refusal, p.self_generated))[1:]
        if first - second < self.low_margin:
            return 1.0, 0.0
        share = self.negatives if verdict.negative else self.rest
        if not self.doubt:
            return share, 0.0
        return share / 2, min(1.0, share / 2 / IN_DOUBT) if _in_doubt(p) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingPolicy:
    """The default sample, and the samples of apps that have their own."""

    sample: Sample
    by_app: Mapping[str, Sample] = field(default_factory=dict)

    def of(self, app: str) -> Sample:
        return self.by_app.get(app, self.sample)

    def takes(self, assessment: Assessment) -> bool:
        return self.of(assessment.interaction.app).takes(assessment)


def chance(app: str, interaction_id: str) -> float:
    """A fixed number in [0, 1) for each interaction: the first 64 bits of the SHA-256 of its app and id."""
    return chances(app, interaction_id)[0]


def chances(app: str, interaction_id: str) -> tuple[float, float]:
    """`chance`, and a second number that is independent of it: the next 64 bits."""
    digest = sha256(f"{app}\0{interaction_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64, int.from_bytes(digest[8:16], "big") / 2**64


def _in_doubt(p: Probabilities) -> bool:
    least = min(p.grounded, p.self_generated)
    return least > 0 and abs(math.log(p.self_generated / p.grounded)) <= DOUBT
