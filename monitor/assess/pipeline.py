"""The flow on one screen: read ─▶ complete ─▶ embed ─▶ score ─▶ classify ─▶ diagnose, for one batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from monitor.assess.chunks.examine import USUAL, Retrieved, examine
from monitor.assess.chunks.relevance import read_question
from monitor.assess.classify.lexicon.examples import EXAMPLES, closeness
from monitor.assess.classify.profile import Profile
from monitor.assess.classify.refusal import Reading, Role, read_answer
from monitor.assess.classify.verdict import classify
from monitor.assess.conversation.read import as_read, standalone_questions, with_both_readings
from monitor.assess.detect.detection import Claim
from monitor.assess.embed.batch import EmbeddedBatch, EncodedInteraction, embed_batch, encode_batch
from monitor.assess.ports import Completer, Conversations, Detector, Embedder, Reranker, TokenEncoder
from monitor.assess.score.adaptability import adaptability
from monitor.assess.score.features import AnswerPart, gather_evidence
from monitor.assess.threshold import Spread
from monitor.core.diagnosis import ChunkDiagnosis
from monitor.core.evidence import Evidence, StandaloneQuestion
from monitor.core.model import Assessment, Interaction, Metrics, Scores, Support, Verdict
from monitor.core.stage import stage
from monitor.core.text.markup import blank_spans, prose

AT_A_TIME: Final = 64  # interactions that are encoded together


@dataclass(frozen=True, slots=True, kw_only=True)
class _Completed:
    """An interaction with its support, `asked` as the event has it and `read` as everything is compared with it."""

    asked: Interaction
    standalone: StandaloneQuestion | None
    read: Interaction
    support: Support


@dataclass(frozen=True, slots=True, kw_only=True)
class _Encoded:
    """Interactions with their vectors; `stated` are they with what their answers state."""

    completed: Sequence[_Completed]
    readings: Sequence[Reading]
    stated: Sequence[Interaction]
    tokens: Sequence[EncodedInteraction]
    vectors: EmbeddedBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """The steps that a batch goes through. They keep no state but what `conversations` remembers.

    Of a long batch, `at_a_time` interactions are encoded and scored at a time, which bounds the vectors in memory.
    """

    completer: Completer
    encoder: TokenEncoder
    embedder: Embedder
    profile: Profile
    detector: Detector | None = None
    conversations: Conversations | None = None
    reranker: Reranker | None = None
    usual_relevance: Callable[[str], Spread] = lambda _: USUAL  # of the chunks of an app
    at_a_time: int = AT_A_TIME

    def assess(self, asked: Sequence[Interaction]) -> list[Assessment]:
        """One assessment per interaction, in order. One thread calls at a time.

        Raises:
            Retriable: a provider is out of reach for now; no interaction was assessed.
            Fatal: a provider refuses permanently.
        """
        standalone = standalone_questions(asked, self.conversations)
        interactions = [as_read(it, read) for it, read in zip(asked, standalone, strict=True)]
        with stage("complete", interactions=len(interactions)):
            supports = self.completer.complete(interactions)
        completed = [
            _Completed(asked=it, standalone=leaning, read=read, support=support)
            for it, leaning, read, support in zip(asked, standalone, interactions, supports, strict=True)
        ]
        groups = [completed[at : at + self.at_a_time] for at in range(0, len(completed), self.at_a_time)]
        return [a for group in groups for a in self._score(self._encode(group))]

    def _encode(self, completed: Sequence[_Completed]) -> _Encoded:
        readings = [_read(each.read) for each in completed]
        stated = [_only_statements(each.read, reading) for each, reading in zip(completed, readings, strict=True)]
        supports, asked = [each.support for each in completed], [each.asked.question for each in completed]
        with stage("encode", interactions=len(stated)):
            tokens = encode_batch(stated, self.encoder)  # before embedding: one pass may compute both kinds of vectors
            vectors = embed_batch(stated, supports, self.embedder, asked=asked)
            readings = self._reread_close_to_refusals(completed, readings, vectors)
        return _Encoded(completed=completed, readings=readings, stated=stated, tokens=tokens, vectors=vectors)

    def _score(self, encoded: _Encoded) -> list[Assessment]:
        interactions = [each.read for each in encoded.completed]
        supports = [each.support for each in encoded.completed]
        with stage("score", interactions=len(interactions)):
            scores = adaptability(encoded.vectors)
            detected = self._detect(interactions)
            metrics = [self.profile.compared(each) for each in scores]
            evidence = [
                gather_evidence(answer, support, compared, tokens, _parts(reading), detected=probability)
                for answer, support, compared, tokens, reading, probability in zip(
                    encoded.stated, supports, metrics, encoded.tokens, encoded.readings, detected, strict=True
                )
            ]
            assessed = [
                self._classify(*parts)
                for parts in zip(
                    interactions, supports, scores, metrics, encoded.readings, evidence, encoded.tokens, strict=True
                )
            ]
            asked, standalone = zip(*[(each.asked, each.standalone) for each in encoded.completed], strict=True)
            return with_both_readings(assessed, asked, standalone, encoded.vectors, self.profile)

    def _reread_close_to_refusals(
        self, completed: Sequence[_Completed], readings: Sequence[Reading], embedded: EmbeddedBatch
    ) -> list[Reading]:
        """Replaces the readings of answers whose vectors are close to an example of a refusal."""
        if (least := self.profile.refusal_closeness) is None:
            return list(readings)
        close = closeness(embedded.vectors[embedded.answer], self.embedder.embed(EXAMPLES)) >= least
        return [
            _read(each.read, close=True) if is_close else reading
            for each, reading, is_close in zip(completed, readings, close.tolist(), strict=True)
        ]

    def _detect(self, interactions: Sequence[Interaction]) -> list[float | None]:
        """The detector's probabilities; None where there is no detector or it cannot judge."""
        if self.detector is None:
            return [None] * len(interactions)
        claims = [
            Claim(question=it.question, answer=it.answer, documents=tuple(d.text for d in it.retrieved_documents))
            for it in interactions
        ]
        detections = self.detector.detect(claims)
        return [None if detection is None else detection.score for detection in detections]

    def _classify(  # noqa: PLR0917  all that is known of an interaction
        self,
        interaction: Interaction,
        support: Support,
        scores: Scores,
        metrics: Metrics,
        reading: Reading,
        evidence: Evidence,
        encoded: EncodedInteraction,
    ) -> Assessment:
        profile = self.profile
        decided = classify(interaction, support, metrics, reading, evidence, profile=profile)
        return Assessment(
            interaction=interaction,
            support=support,
            scores=scores,
            metrics=metrics,
            evidence=evidence,
            verdict=decided.verdict,
            rule_verdict=decided.rule_verdict,
            reasons=decided.reasons,
            refusal=decided.refusal,
            probabilities=decided.probabilities,
            uncalibrated=not profile.calibrated,
            profile_name=profile.name,
            profile_hash=profile.hash,
            embedding_model=profile.embedding_model,
            diagnosis=self._diagnose(interaction, decided.verdict, evidence, encoded),
        )

    def _diagnose(
        self, it: Interaction, verdict: Verdict, evidence: Evidence, encoded: EncodedInteraction
    ) -> ChunkDiagnosis:
        retrieved = Retrieved(
            texts=[d.text for d in it.retrieved_documents],
            tokens=encoded.documents,
            sentences=encoded.document_sentences,
        )
        return examine(
            read_question(it.question, encoded.question, encoded.question_sentences),
            retrieved,
            verdict,
            evidence.alignment,
            usual=self.usual_relevance(it.app),
            reranker=self.reranker,
        )


def _read(it: Interaction, *, close: bool = False) -> Reading:
    return read_answer(it.answer, it.question, documents=[d.text for d in it.retrieved_documents], close=close)


def _parts(reading: Reading) -> list[AnswerPart]:
    return [AnswerPart(s.start, s.end, s.role is Role.CONTENT) for s in reading.sentences]


def _only_statements(interaction: Interaction, reading: Reading) -> Interaction:
    """The interaction with its answer reduced to what it states: no markup, no courtesy, no refusing sentence.

    Offsets stay as they are, and courtesy and markup change no vector. An answer that states nothing, or consists of
    code, stays whole.
    """
    others = [(s.start, s.end) for s in reading.sentences if s.role is not Role.CONTENT]
    answer = prose(interaction.answer)
    if len(others) < len(reading.sentences):
        answer = blank_spans(answer, others)
    if not any(map(str.isalnum, answer)):
        answer = interaction.answer
    return interaction if answer == interaction.answer else replace(interaction, answer=answer)
