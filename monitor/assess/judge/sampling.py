"""Chooses the interactions to judge: the same ones in every process and on every repetition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from monitor.core.model import Assessment


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """`negatives` and `rest` are shares in [0, 1].

    The sample always takes an interaction whose two likeliest verdicts are less than `low_margin` apart in probability.
    """

    negatives: float
    low_margin: float
    rest: float

    def takes(self, assessment: Assessment) -> bool:
        """Whether to judge the interaction. A sample with larger shares includes all of one with smaller shares."""
        p = assessment.probabilities
        second, first = sorted((p.grounded, p.refusal, p.self_generated))[1:]
        if first - second < self.low_margin:
            return True
        share = self.negatives if assessment.verdict.negative else self.rest
        return chance(assessment.interaction.app, assessment.interaction.id) < share


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingPolicy:
    """The default sample, and the samples of apps that have their own."""

    sample: Sample
    by_app: Mapping[str, Sample] = field(default_factory=dict)

    def at_random(self, app: str) -> float:
        """The share of the app's answers, in [0, 1], that are judged by `chance` alone, whatever their assessment."""
        sample = self.by_app.get(app, self.sample)
        return min(sample.negatives, sample.rest)

    def takes(self, assessment: Assessment) -> bool:
        return self.by_app.get(assessment.interaction.app, self.sample).takes(assessment)


def chance(app: str, interaction_id: str) -> float:
    """A fixed number in [0, 1) for each interaction: the first 64 bits of the SHA-256 of its app and id."""
    digest = sha256(f"{app}\0{interaction_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
