"""Which interactions are judged: the same ones in every process and at every repetition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from monitor.core.model import Assessment


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """`negatives` and `rest` are parts in [0, 1]; below `low_margin` between the first two verdicts all are taken."""

    negatives: float
    low_margin: float
    rest: float

    def takes(self, assessment: Assessment) -> bool:
        """Whether it is judged; of two samples the larger holds all of the smaller."""
        p = assessment.probabilities
        second, first = sorted((p.grounded, p.refusal, p.self_generated))[1:]
        if first - second < self.low_margin:
            return True
        part = self.negatives if assessment.verdict.negative else self.rest
        return chance(assessment.interaction.app, assessment.interaction.id) < part


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingPolicy:
    """A sample for every app, with others for some."""

    sample: Sample
    by_app: Mapping[str, Sample] = field(default_factory=dict)

    def takes(self, assessment: Assessment) -> bool:
        """Whether it is judged."""
        return self.by_app.get(assessment.interaction.app, self.sample).takes(assessment)


def chance(app: str, interaction_id: str) -> float:
    """A number in [0, 1) that is an interaction's own: the first 64 bits of the SHA-256 of its app and id."""
    digest = sha256(f"{app}\0{interaction_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
