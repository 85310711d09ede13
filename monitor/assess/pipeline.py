"""The flow on one screen: complete ─▶ embed ─▶ score ─▶ classify, for one batch at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from monitor.assess.classify.lexicon.examples import EXAMPLES, closeness
from monitor.assess.classify.profile import Profile
from monitor.assess.classify.refusal import Reading, Role, read_answer
from monitor.assess.classify.verdict import classify
from monitor.assess.detect.detection import Claim
from monitor.assess.embed.batch import EmbeddedBatch, embed_batch, encode_batch
from monitor.assess.ports import Completer, Detector, Embedder, TokenEncoder
from monitor.assess.score.adaptability import adaptability
from monitor.assess.score.features import Judged, evidence
from monitor.core.evidence import Evidence
from monitor.core.model import Assessment, Interaction, Scores, Support
from monitor.core.text.markup import prose, without


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
        readings = [read_answer(it.answer, it.question) for it in interactions]
        stated = [_stated(*parts) for parts in zip(interactions, readings, strict=True)]
        encoded = encode_batch(stated, self.encoder)  # first: its pass may give the embedder's vectors too
        embedded = embed_batch(stated, supports, self.embedder)
        scores = adaptability(embedded)
        metrics = [self.profile.compared(each) for each in scores]
        readings = self._reread(interactions, readings, embedded)
        parts = zip(stated, supports, metrics, encoded, readings, self._detected(interactions), strict=True)
        found = [
            evidence(it, support, compared, tokens, _judged(reading), detected=detected)
            for it, support, compared, tokens, reading, detected in parts
        ]
        return [self._assessment(*part) for part in zip(interactions, supports, scores, readings, found, strict=True)]

    def _reread(
        self, interactions: Sequence[Interaction], readings: Sequence[Reading], embedded: EmbeddedBatch
    ) -> list[Reading]:
        """The readings, with those anew whose answers are close to a refusal."""
        if (least := self.profile.refusal_closeness) is None:
            return list(readings)
        near = closeness(embedded.vectors[embedded.answer], self.embedder.embed(EXAMPLES)) >= least
        return [
            read_answer(it.answer, it.question, close=True) if close else reading
            for it, reading, close in zip(interactions, readings, near.tolist(), strict=True)
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
        self, interaction: Interaction, support: Support, scores: Scores, reading: Reading, found: Evidence
    ) -> Assessment:
        profile = self.profile
        metrics = profile.compared(scores)
        decided = classify(interaction, support, metrics, reading, found, profile=profile)
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


def _judged(reading: Reading) -> list[Judged]:
    return [Judged(s.start, s.end, s.role is Role.CONTENT) for s in reading.sentences]


def _stated(interaction: Interaction, reading: Reading) -> Interaction:
    """The interaction with what its answer states alone, offsets kept: no markup, no courtesy, no refusing sentence.

    So courtesy and markup change no vector. Where nothing is stated, or code alone, the answer stays whole.
    """
    others = [(s.start, s.end) for s in reading.sentences if s.role is not Role.CONTENT]
    answer = prose(interaction.answer)
    if len(others) < len(reading.sentences):
        answer = without(answer, others)
    if not any(map(str.isalnum, answer)):
        answer = interaction.answer
    return interaction if answer == interaction.answer else replace(interaction, answer=answer)
