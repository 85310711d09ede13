"""The flow on one screen: complete ─▶ embed ─▶ score ─▶ classify, for one batch at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.classify.profile import Profile
from monitor.classify.rules import classify
from monitor.embed.batch import embed_batch
from monitor.model import Assessment, Interaction, Scores, Support
from monitor.ports import Completer, Embedder
from monitor.score.adaptability import adaptability


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """What one batch goes through; holds no state of its own, so the same batch gives the same assessments."""

    completer: Completer
    embedder: Embedder
    profile: Profile

    def assess(self, interactions: Sequence[Interaction]) -> list[Assessment]:
        """One assessment per interaction, in order.

        Raises:
            Retriable: a provider is out of reach for now; nothing was decided.
            Fatal: a provider refuses for good.
        """
        supports = self.completer.complete(interactions)
        embedded = embed_batch(interactions, supports, self.embedder)
        scores = adaptability(embedded)
        return [self._assessment(*parts) for parts in zip(interactions, supports, scores, strict=True)]

    def _assessment(self, interaction: Interaction, support: Support, scores: Scores) -> Assessment:
        profile = self.profile
        metrics = profile.compared(scores)
        decided = classify(interaction, support, metrics, profile)
        return Assessment(
            interaction=interaction,
            support=support,
            scores=scores,
            metrics=metrics,
            verdict=decided.verdict,
            rule_verdict=decided.rule_verdict,
            reasons=decided.reasons,
            refusal=decided.refusal,
            probabilities=decided.probabilities,
            uncalibrated=not profile.calibrated,
            profile_name=profile.name,
            profile_hash=profile.hash,
            embedding_model=profile.embedding_model,
        )
