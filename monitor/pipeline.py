"""The flow on one screen: complete ─▶ embed ─▶ score ─▶ classify, for one batch at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.classify.profile import Profile
from monitor.classify.refusal import Role, read_answer
from monitor.classify.rules import classify
from monitor.detect.detection import Claim
from monitor.embed.batch import Encoded, embed_batch, encode_batch
from monitor.model import Assessment, Interaction, Scores, Support
from monitor.ports import Completer, Detector, Embedder, TokenEncoder
from monitor.score.adaptability import adaptability
from monitor.score.features import Judged, evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """What one batch goes through; holds no state of its own, so the same batch gives the same assessments."""

    completer: Completer
    encoder: TokenEncoder
    embedder: Embedder
    profile: Profile
    detector: Detector | None = None

    def assess(self, interactions: Sequence[Interaction]) -> list[Assessment]:
        """One assessment per interaction, in order.

        Raises:
            Retriable: a provider is out of reach for now; nothing was decided.
            Fatal: a provider refuses for good.
        """
        supports = self.completer.complete(interactions)
        encoded = encode_batch(interactions, self.encoder)  # first: its pass may give the embedder's vectors too
        scores = adaptability(embed_batch(interactions, supports, self.embedder))
        detected = self._detected(interactions)
        return [
            self._assessment(*parts) for parts in zip(interactions, supports, scores, encoded, detected, strict=True)
        ]

    def _detected(self, interactions: Sequence[Interaction]) -> list[float | None]:
        if self.detector is None:
            return [None] * len(interactions)
        claims = [
            Claim(question=it.question, answer=it.answer, documents=tuple(d.text for d in it.retrieved_documents))
            for it in interactions
        ]
        return [None if found is None else found.score for found in self.detector.detect(claims)]

    def _assessment(
        self, interaction: Interaction, support: Support, scores: Scores, encoded: Encoded, detected: float | None
    ) -> Assessment:
        profile = self.profile
        metrics = profile.compared(scores)
        reading = read_answer(interaction.answer, interaction.question)
        sentences = [Judged(s.start, s.end, s.role is Role.CONTENT) for s in reading.sentences]
        found = evidence(interaction, support, metrics, encoded, sentences, detected)
        decided = classify(interaction, support, metrics, reading, found, profile)
        return Assessment(
            interaction=interaction,
            support=support,
            scores=scores,
            metrics=metrics,
            evidence=found,
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
