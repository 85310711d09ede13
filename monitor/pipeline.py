"""The flow on one screen: complete ─▶ embed ─▶ score ─▶ classify, for one batch at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monitor.classify.lexicon.examples import EXAMPLES, closeness
from monitor.classify.profile import Profile
from monitor.classify.refusal import Reading, Role, read_answer
from monitor.classify.rules import classify
from monitor.detect.detection import Claim
from monitor.embed.batch import EmbeddedBatch, Encoded, embed_batch, encode_batch
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
        embedded = embed_batch(interactions, supports, self.embedder)
        scores = adaptability(embedded)
        readings = self._readings(interactions, embedded)
        detected = self._detected(interactions)
        found = zip(interactions, supports, encoded, scores, readings, detected, strict=True)
        return [self._assessment(*parts, detected=score) for *parts, score in found]

    def _readings(self, interactions: Sequence[Interaction], embedded: EmbeddedBatch) -> list[Reading]:
        """How each answer refuses, if it does."""
        close = np.zeros(len(interactions), bool)
        if (least := self.profile.refusal_closeness) is not None:
            close = closeness(embedded.vectors[embedded.answer], self.embedder.embed(EXAMPLES)) >= least
        parts = zip(interactions, close.tolist(), strict=True)
        return [read_answer(it.answer, it.question, close=near) for it, near in parts]

    def _detected(self, interactions: Sequence[Interaction]) -> list[float | None]:
        if self.detector is None:
            return [None] * len(interactions)
        claims = [
            Claim(question=it.question, answer=it.answer, documents=tuple(d.text for d in it.retrieved_documents))
            for it in interactions
        ]
        return [None if found is None else found.score for found in self.detector.detect(claims)]

    def _assessment(
        self,
        interaction: Interaction,
        support: Support,
        encoded: Encoded,
        scores: Scores,
        reading: Reading,
        *,
        detected: float | None,
    ) -> Assessment:
        profile = self.profile
        metrics = profile.compared(scores)
        sentences = [Judged(s.start, s.end, s.role is Role.CONTENT) for s in reading.sentences]
        found = evidence(interaction, support, metrics, encoded, sentences, detected=detected)
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
