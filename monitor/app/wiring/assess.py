"""The part of the composition root that wires the assessment of answers: models, profile, pipeline and references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from monitor.assess.ports import TokenEncoder
from monitor.core.settings.load import Settings

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from monitor.app.flow import Assess
    from monitor.app.wiring.reference import WatchedReferences
    from monitor.app.wiring.relevance import WatchedRelevance
    from monitor.assess.classify.profile import Profile
    from monitor.assess.conversation.memory import RecentTurns
    from monitor.assess.detect.onnx import OnnxDetector
    from monitor.assess.embed.cache import CachedEmbedder
    from monitor.assess.pipeline import Pipeline
    from monitor.assess.ports import Completer, Conversations, Embedder
    from monitor.assess.rerank.onnx import OnnxReranker
    from monitor.core.model import Assessment, Interaction

    W = TypeVar("W", WatchedRelevance, WatchedReferences)


class Assessing:
    """Each part is built when it is first asked for; `closing` closes it.

    `completer` makes what supplies supporting documents, within so many seconds per batch. Files that can be built
    again lie in `cache_dir`.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        engine: Callable[[], Engine],
        database_url: Callable[[], str],
        completer: Callable[[float | None], Completer],
        cache_dir: Path,
        closing: ExitStack,
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._database_url = database_url
        self._completer = completer
        self._cache_dir = cache_dir
        self._closing = closing
        self._conversations: dict[float, Conversations] = {}
        self._one_at_a_time = Lock()  # the encoder takes one thread at a time

    @cached_property
    def _uncached_embedder(self) -> Embedder:
        from monitor.app.wiring.models import embedder

        return embedder(self._settings, self._cache_dir, self._closing)

    @cached_property
    def embedder(self) -> CachedEmbedder:
        """The configured embedder behind its cache."""
        from monitor.assess.embed.cache import CachedEmbedder

        return CachedEmbedder(self._uncached_embedder, self._settings.embedding.cache_bytes)

    @cached_property
    def encoder(self) -> TokenEncoder:
        """The encoder for alignment, behind a cache; one pass fills the embedder's cache too, if it can."""
        from monitor.app.wiring.models import token_encoder
        from monitor.assess.embed.cache import CachedTokenEncoder

        inner = token_encoder(self._settings, self._cache_dir, self._uncached_embedder, self._closing)
        own = self.embedder if isinstance(self._uncached_embedder, TokenEncoder) else None
        return CachedTokenEncoder(inner, self._settings.embedding.token_cache_bytes, embedder=own)

    @cached_property
    def detector(self) -> OnnxDetector | None:
        """The configured detector, if any."""
        from monitor.app.wiring.models import detector

        return detector(self._settings.detector)

    @cached_property
    def reranker(self) -> OnnxReranker | None:
        """The configured reranker, if any."""
        from monitor.app.wiring.models import reranker

        return reranker(self._settings.reranker)

    @cached_property
    def profile(self) -> Profile:
        """The configured profile, or the shipped one for the embedder; it suits the models above."""
        from monitor.assess.classify.profile import load_profile

        detector_model = None if self.detector is None else self.detector.model
        return load_profile(
            self._settings.profile, self.embedder.model, self.encoder.token_model, detector_model=detector_model
        )

    @cached_property
    def recent_turns(self) -> RecentTurns:
        """The turns that this process has seen lately."""
        from monitor.assess.conversation.memory import RecentTurns

        return RecentTurns()

    @cached_property
    def pipeline(self) -> Pipeline:
        """A pipeline that asks no database: its conversations are those in its batches, its apps are unknown.

        Its sidecar has a few seconds per batch.
        """
        return self.pipeline_of(self._completer(self._settings.sidecar.patience), self.recent_turns, stored=False)

    def conversations(self, seconds: float) -> Conversations:
        """The turns that this process has seen lately, and those stored, for which a batch waits `seconds` at most."""
        from monitor.app.wiring.conversation import StoredConversations
        from monitor.store.interaction.turns.earlier import EarlierTurns

        if seconds not in self._conversations:
            self._conversations[seconds] = StoredConversations(
                self.recent_turns,
                lambda: EarlierTurns(self._database_url(), milliseconds=int(1_000 * seconds)),
                patience=seconds,
                closing=self._closing,
            )
        return self._conversations[seconds]

    def pipeline_of(self, completer: Completer, conversations: Conversations, *, stored: bool = True) -> Pipeline:
        """A pipeline that has supporting documents from `completer`; `stored` answers tell it what is usual."""
        from monitor.assess.pipeline import Pipeline

        pipeline = Pipeline(
            completer=completer,
            encoder=self.encoder,
            embedder=self.embedder,
            detector=self.detector,
            reranker=self.reranker,
            profile=self.profile,
            conversations=conversations,
        )
        return replace(pipeline, usual_relevance=self.usual_relevance) if stored else pipeline

    @cached_property
    def usual_relevance(self) -> WatchedRelevance:
        """How relevant the chunks of each app usually are, from its stored answers."""
        from monitor.app.wiring.relevance import WatchedRelevance
        from monitor.store.reference.usual_relevance import UsualRelevance

        return self._watched(WatchedRelevance(lambda: UsualRelevance(self._engine())))

    def assess_with(self, patience: float | None, *, live: bool = False) -> Assess:
        """From interactions that are to be stored to assessments with their ranks.

        The sidecar has `patience` seconds per batch; None: as long as its calls take. `live` events hardly wait for the
        look-up of earlier turns. Threads may share what this returns: one batch is assessed at a time.
        """
        from monitor.app.wiring.conversation import LIVE, UNHURRIED

        conversations = self.conversations(LIVE if live else UNHURRIED)
        pipeline, references = self.pipeline_of(self._completer(patience), conversations), self.references

        def assess(interactions: Sequence[Interaction]) -> list[Assessment]:
            with self._one_at_a_time:
                return references.rank(pipeline.assess(interactions))

        return assess

    @cached_property
    def references(self) -> WatchedReferences:
        """The frozen references in which new answers get their ranks; the database is asked with the first answer."""
        from monitor.app.wiring.reference import WatchedReferences
        from monitor.store.reference.references import ReferenceStore

        return self._watched(WatchedReferences(lambda: ReferenceStore(self._engine())))

    def _watched(self, watched: W) -> W:
        """`watched`, closed before the engine over which its thread looks."""
        self._engine()  # closed last
        self._closing.callback(watched.close)
        return watched
