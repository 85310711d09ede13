"""The language models of one set of settings: the sidecar's generator, the judge, their common budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from monitor.assess.llm.exchange import Purpose
from monitor.core.model import Assessment, Work
from monitor.core.ports import Budget, Embedder, LanguageModel
from monitor.core.settings.load import Settings
from monitor.providers import chat_model, limits, sampling
from monitor.store.database import connect

if TYPE_CHECKING:
    from monitor.assess.judge.judge import Judge
    from monitor.assess.llm.client import ChatModel
    from monitor.store.pending.queue import FollowUps


class LanguageModels:
    """Each is built when it is first asked for; what it opens is closed by `closing`."""

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
        """What calls of language models may use."""
        from monitor.store.pending.budget import PostgresBudget  # noqa: PLC0415

        shares = {Purpose.JUDGE: self._settings.judge.budget_share}
        calls = self._settings.sidecar.concurrency + self._settings.judge.concurrency
        engine = connect(self._database_url(), overflow=calls)  # its own: no call waits for alerts, nor they for calls
        self._closing.callback(engine.dispose)
        return PostgresBudget(engine, self._now, limits=limits(self._settings), shares=shares)

    @cached_property
    def generator(self) -> LanguageModel:
        """Whom the sidecar asks."""
        return self._chat_model(Purpose.SIDECAR)

    @cached_property
    def judging_model(self) -> ChatModel:
        """Whom the judge asks."""
        return self._chat_model(Purpose.JUDGE)

    def _chat_model(self, purpose: Purpose) -> ChatModel:
        model = chat_model(self._settings, purpose, self.budget)
        self._closing.callback(model.close)
        return model

    @cached_property
    def judge(self) -> Judge | None:
        """The judge, unless it is off."""
        judge = self._settings.judge
        if judge.mode == "off":
            return None
        from monitor.assess.judge.judge import Judge  # noqa: PLC0415

        return Judge(self.judging_model, self._embedder(), metrics=judge.metrics, mode=judge.mode)

    @cached_property
    def follow_ups(self) -> FollowUps:
        """What is still to be done for an assessed interaction."""
        policy = sampling(self._settings.judge)
        judged = self._settings.judge.mode != "off"

        def follow_ups(assessment: Assessment) -> Iterator[Work]:
            stands_in = assessment.support.stands_in
            if stands_in is not None and stands_in.queued:
                yield Work.SIDECAR
            if judged and policy.takes(assessment):
                yield Work.JUDGE

        return follow_ups
