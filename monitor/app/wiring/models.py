"""The part of the composition root that wires models: embedder, sidecar's generator, judge and their budget."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from monitor.app.wiring.prices import prices_of
from monitor.assess.judge.sampling import Sample, SamplingPolicy
from monitor.assess.llm.endpoint import DEFAULT_BASE_URL
from monitor.assess.llm.exchange import Purpose
from monitor.assess.ports import Budget, Completer, Embedder, LanguageModel, TokenEncoder
from monitor.core.errors import WrongSettings
from monitor.core.figures.prices import Price
from monitor.core.installed.extras import require
from monitor.core.model import Assessment
from monitor.core.pending import Work
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import (
    DetectorSettings,
    JudgeSettings,
    ProbeSettings,
    RerankerSettings,
    SampleSettings,
    SidecarSettings,
)
from monitor.store.database import connect

if TYPE_CHECKING:
    from monitor.assess.detect.onnx import OnnxDetector
    from monitor.assess.embed.minilm import MiniLMEmbedder
    from monitor.assess.judge.judge import Judge
    from monitor.assess.llm.batches import BatchEndpoint
    from monitor.assess.llm.client import ChatModel
    from monitor.assess.rerank.onnx import OnnxReranker
    from monitor.store.interaction.follow_ups import FollowUps
    from monitor.store.pending.budget import Limit


class LanguageModels:
    """Each model is built when it is first asked for; `closing` closes it."""

    def __init__(
        self,
        settings: Settings,
        database_url: Callable[[], str],
        embedder: Callable[[], Embedder],
        closing: ExitStack,
        now: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._database_url = database_url
        self._embedder = embedder
        self._closing = closing
        self._now = now

    @cached_property
    def budget(self) -> Budget:
        """The limits on calls of language models."""
        from monitor.store.pending.budget import PostgresBudget

        settings = self._settings
        shares = {Purpose.JUDGE: settings.judge.budget_share, Purpose.PROBE: settings.probe.budget_share}
        calls = settings.sidecar.concurrency + settings.judge.concurrency + settings.probe.concurrency
        # a pool of its own, so that calls and alerts do not wait for each other
        engine = connect(self._database_url(), overflow=calls)
        self._closing.callback(engine.dispose)
        return PostgresBudget(engine, self._now, limits=limits(self._settings), shares=shares)

    @cached_property
    def generator(self) -> LanguageModel:
        return self._chat_model(Purpose.SIDECAR)

    def completer(self, patience: float | None) -> Completer:
        """Supplies supporting documents: the sidecar with `patience` seconds per batch, or extraction if it is off."""
        from monitor.assess.complete.extractive import ExtractiveCompleter

        sidecar, extractive = self._settings.sidecar, ExtractiveCompleter()
        if sidecar.mode == "off":
            return extractive
        from monitor.assess.complete.sidecar import SidecarCompleter

        completer = SidecarCompleter(
            self.generator,
            mode=sidecar.mode,
            otherwise=extractive,
            concurrency=sidecar.concurrency,
            patience=patience,
        )
        self._closing.callback(completer.close)
        return completer

    @cached_property
    def judging_model(self) -> ChatModel:
        return self._chat_model(Purpose.JUDGE)

    @cached_property
    def probing_model(self) -> ChatModel:
        """The judge, composer and questioner of probes."""
        return self._chat_model(Purpose.PROBE)

    def _chat_model(self, purpose: Purpose) -> ChatModel:
        model = chat_model(self._settings, purpose, self.budget, self._now)
        self._closing.callback(model.close)
        return model

    @cached_property
    def judge(self) -> Judge | None:
        """The judge, unless it is off."""
        judge = self._settings.judge
        if judge.mode == "off":
            return None
        from monitor.assess.judge.judge import Judge

        return Judge(
            self.judging_model,
            self._embedder(),
            metrics=judge.metrics,
            mode=judge.mode,
            rewrite_question=judge.rewrite_question,
        )

    @cached_property
    def follow_ups(self) -> FollowUps:
        """Gives the work that is pending after an assessment."""
        policy = sampling(self._settings.judge)
        judged = self._settings.judge.mode != "off"

        def follow_ups(assessment: Assessment) -> Iterator[Work]:
            stands_in = assessment.support.stands_in
            if stands_in is not None and stands_in.queued:
                yield Work.SIDECAR
            if judged and policy.takes(assessment):
                yield Work.JUDGE

        return follow_ups


log = logging.getLogger(__name__)


def embedder(settings: Settings, cache_dir: Path, closing: ExitStack) -> Embedder:
    """The configured embedder, without a cache; `closing` closes it."""
    embedding, llm = settings.embedding, settings.llm
    match embedding.provider:
        case "minilm":
            return _minilm(settings, cache_dir, closing)
        case "openai":
            from monitor.assess.embed.openai import OpenAIEmbedder

            key = embedding.api_key or llm.api_key
            if key is None:
                raise WrongSettings(
                    "the openai embedder needs a key: set MONITOR_EMBEDDING__API_KEY or MONITOR_LLM__API_KEY "
                    "(any word will do if the server needs none)"
                )
            remote = OpenAIEmbedder(
                model=embedding.model,
                api_key=key.get_secret_value(),
                base_url=embedding.base_url or llm.base_url or DEFAULT_BASE_URL,
                dimensions=embedding.dimensions,
            )
            closing.callback(remote.close)
            return remote
        case "hash":
            from monitor.assess.embed.hashing import HashEmbedder

            log.warning("the hash embedder is for tests and benchmarks only: its verdicts mean nothing")
            return HashEmbedder()


def token_encoder(settings: Settings, cache_dir: Path, embedder: Embedder, closing: ExitStack) -> TokenEncoder:
    """The encoder for alignment: the embedder if it gives token vectors, else the embedded model; without a cache."""
    if isinstance(embedder, TokenEncoder):
        return embedder
    return _minilm(settings, cache_dir, closing)


def _minilm(settings: Settings, cache_dir: Path, closing: ExitStack) -> MiniLMEmbedder:
    from monitor.assess.classify.profile import build_of
    from monitor.assess.embed.minilm import MiniLMEmbedder

    embedding = settings.embedding
    build = embedding.build or build_of(settings.profile)
    model = MiniLMEmbedder(build, cache_dir=cache_dir, weights_dir=embedding.weights_dir, threads=embedding.threads)
    closing.callback(model.close)
    return model


def chat_model(settings: Settings, purpose: Purpose, budget: Budget, now: Callable[[], datetime]) -> ChatModel:
    """The model for a purpose; each call costs what the prices say of the day `now`.

    Raises:
        WrongSettings: no name or no key is set.
    """
    from monitor.assess.llm.client import ChatModel
    from monitor.assess.llm.dialect import Structure

    llm = settings.llm
    own: SidecarSettings | JudgeSettings | ProbeSettings
    match purpose:
        case Purpose.SIDECAR:
            own, model = settings.sidecar, settings.sidecar.model
        case Purpose.JUDGE:
            own, model = settings.judge, settings.judge.model
        case Purpose.PROBE:
            own, model = settings.probe, settings.probe.model or settings.judge.model
    model = model or llm.model
    if model is None:
        raise WrongSettings(
            f"the {purpose} needs a model: set MONITOR_LLM__MODEL, or MONITOR_{purpose.upper()}__MODEL=… for it alone"
        )
    if llm.api_key is None:
        raise WrongSettings(
            f"the {purpose} needs a key: set MONITOR_LLM__API_KEY (any word will do if the server needs none)"
        )
    return ChatModel(
        model=model,
        api_key=llm.api_key.get_secret_value(),
        base_url=llm.base_url,
        purpose=purpose,
        budget=budget,
        price=_price(settings, model, now),
        concurrency=own.concurrency,
        timeout=llm.timeout,
        max_output_tokens=llm.max_output_tokens,
        max_input_chars=llm.max_input_chars,
        structure=Structure(llm.structure),
    )


def _price(settings: Settings, model: str, now: Callable[[], datetime]) -> Callable[[], Price | None]:
    llm = settings.llm
    if llm.input_price is not None and llm.output_price is not None:
        fixed = Price(input=llm.input_price, output=llm.output_price)
        return lambda: fixed
    table = prices_of(settings)
    return lambda: None if table is None else table.price(model, now().astimezone(UTC).date())


def batch_endpoint(settings: Settings) -> BatchEndpoint:
    """The batch endpoint of the judge's server."""
    from monitor.assess.llm.batches import BatchEndpoint

    key = settings.llm.api_key
    return BatchEndpoint(api_key="" if key is None else key.get_secret_value(), base_url=settings.llm.base_url)


def limits(settings: Settings) -> Sequence[Limit]:
    from monitor.store.pending.budget import Limit

    given: Mapping[str, float | None] = settings.llm.budget.model_dump()
    named = ((name.split("_per_"), most) for name, most in given.items() if most is not None)
    return [Limit(what=what, per=per, most=most) for (what, per), most in named]


def detector(settings: DetectorSettings) -> OnnxDetector | None:
    """The configured detector, if any."""
    if settings.path is None:
        return None
    require("tokenizers", "MONITOR_DETECTOR__PATH")
    from monitor.assess.detect.onnx import OnnxDetector

    return OnnxDetector(
        settings.path,
        device=settings.device,
        threads=settings.threads,
        max_tokens=settings.max_tokens,
        max_inputs=settings.max_inputs,
        max_input_chars=settings.max_input_chars,
        prompt=settings.prompt,
    )


def reranker(settings: RerankerSettings) -> OnnxReranker | None:
    """The configured reranker, if any."""
    if settings.path is None:
        return None
    require("tokenizers", "MONITOR_RERANKER__PATH")
    from monitor.assess.rerank.onnx import OnnxReranker

    return OnnxReranker(settings.path, device=settings.device, threads=settings.threads, max_tokens=settings.max_tokens)


def sampling(judge: JudgeSettings) -> SamplingPolicy:
    def sample(of: SampleSettings) -> Sample:
        return Sample(negatives=of.negatives, low_margin=of.low_margin, rest=of.rest, doubt=judge.sampling == "doubt")

    return SamplingPolicy(
        sample=sample(judge.sample),
        by_app={
            app: sample(judge.sample.model_copy(update=own.model_dump(exclude_unset=True)))
            for app, own in judge.by_app.items()
        },
    )
