"""The part of the composition root that wires alerting: rules, what they look at, and who is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote

from monitor.alert.notification import NotifiedAlert
from monitor.alert.notify.actions import AlertActions
from monitor.alert.notify.deliver import Patience
from monitor.alert.notify.describe import Describer
from monitor.alert.notify.loop import AlertLoop
from monitor.alert.ports import Receiver
from monitor.alert.rule import Rule, RuleSet
from monitor.alert.rules.file import load_rules
from monitor.alert.rules.reload import WatchedRules
from monitor.assess.ports import Embedder
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import Settings

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from monitor.alert.notify.enqueue import Describe
    from monitor.store.alert.alerts import PostgresAlertStore
    from monitor.store.alert.explanations import Explanations
    from monitor.store.alert.history import AlertHistory
    from monitor.store.alert.outbox import PostgresOutbox
    from monitor.store.alert.responses import PostgresResponses


class Alerting:
    """Built part by part, when first asked for."""

    def __init__(
        self,
        settings: Settings,
        engine: Callable[[], Engine],
        embedder: Callable[[], Embedder],
        closing: ExitStack,
        now: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._embedder = embedder
        self._closing = closing
        self._now = now

    @cached_property
    def receivers(self) -> Mapping[str, Receiver]:
        """Who is told, by the names that rules use.

        Raises:
            WrongSettings: one is set up by half.
        """
        from monitor.alert.receivers import configured
        from monitor.report.charts.drawing import course_chart

        return configured(self._settings, course_chart)

    @property
    def rules(self) -> RuleSet:
        """Those of the configured file, or the set that ships, as they are now."""
        return load_rules(self._settings.rules, receivers=tuple(self.receivers))

    @cached_property
    def store(self) -> PostgresAlertStore:
        """What the evaluation reads and writes."""
        from monitor.store.alert.alerts import PostgresAlertStore

        return PostgresAlertStore(self._engine())

    @cached_property
    def outbox(self) -> PostgresOutbox:
        """What is told."""
        from monitor.store.alert.outbox import PostgresOutbox

        return PostgresOutbox(self._engine())

    @cached_property
    def responses(self) -> PostgresResponses:
        """What people do."""
        from monitor.store.alert.responses import PostgresResponses

        return PostgresResponses(self._engine())

    @cached_property
    def history(self) -> AlertHistory:
        """What people ask about alerts."""
        from monitor.store.alert.history import AlertHistory

        return AlertHistory(self._engine())

    @cached_property
    def explanations(self) -> Explanations:
        """What was said of what changed."""
        from monitor.store.alert.explanations import Explanations

        return Explanations(self._engine())

    @cached_property
    def actions(self) -> AlertActions:
        """For chats and commands alike."""
        return AlertActions(self.responses, self._now)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Takes what people click in Slack while the block runs, where that is set up."""
        from monitor.alert.receivers.slack.actions import actions_from_settings

        listener = actions_from_settings(self._settings, self.actions)
        if listener is None:
            yield
            return
        listener.start()
        try:
            yield
        finally:
            listener.stop()

    def loop(
        self, *, rules: Callable[[], RuleSet] | None = None, receivers: Mapping[str, Receiver] | None = None
    ) -> AlertLoop:
        """Evaluates and delivers under the configured rules, read again when their file changes, or under others."""
        from monitor.store.audit.acts import RulesRecorder

        told = self.receivers if receivers is None else receivers
        watched = rules or WatchedRules(self._settings.rules, receivers=tuple(told)).current
        return AlertLoop(
            rules=watched,
            store=self.store,
            outbox=self.outbox,
            receivers=told,
            describe=self._describer,
            link=self.link,
            noted=RulesRecorder(self._engine).record,
            patience=self.patience(told),
        )

    def patience(self, receivers: Mapping[str, Receiver]) -> Patience:
        """How long they are tried, and who is told instead.

        Raises:
            WrongSettings: the fallback is none of them.
        """
        notify = self._settings.notify
        if notify.fallback is not None and notify.fallback not in receivers:
            known = ", ".join(receivers)
            raise WrongSettings(f"MONITOR_NOTIFY__FALLBACK={notify.fallback} is not configured; configured: {known}")
        return Patience(
            deadline=timedelta(seconds=notify.deadline),
            fallback=notify.fallback,
            fallback_after=timedelta(seconds=notify.fallback_after),
        )

    def _describer(self, rules: Sequence[Rule]) -> Describe:
        from monitor.store.alert.explanations import ExplanationRows

        return Describer(
            rules=rules,
            signals=self.store,
            answers=ExplanationRows(self._engine()),
            explanations=self.explanations,
            embed=lambda texts: self._embedder().embed(texts),
            link=self.answer_link,
        )

    def link(self, told: NotifiedAlert) -> str | None:
        """Where people look at an alert, once the address of this installation is set."""
        return self._address("alerts", told.fingerprint)

    def answer_link(self, app: str, interaction_id: str) -> str | None:
        """Where people look at an answer, the same."""
        return self._address("interactions", app, interaction_id)

    def _address(self, *path: str) -> str | None:
        base = self._settings.public_url
        if not base:
            return None
        return "/".join([base.rstrip("/"), *(quote(part.encode(errors="replace"), safe="") for part in path)])
