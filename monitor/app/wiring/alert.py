"""The part of the composition root that wires alerting: rules, stores, receivers and actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from monitor.alert.notification import Course, NotifiedAlert
from monitor.alert.notify.actions import AlertActions
from monitor.alert.notify.deliver import Patience
from monitor.alert.notify.describe import Describer
from monitor.alert.notify.loop import AlertLoop
from monitor.alert.ports import Receiver
from monitor.alert.rule import Rule, RuleSet
from monitor.alert.rules.file import load_rules, parse_rules
from monitor.alert.rules.version import RulesInForce, VersionedRules, parser
from monitor.assess.ports import Embedder
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import Settings
from monitor.core.text.trace_link import trace_link
from monitor.core.yaml.watched import WatchedFile
from monitor.privacy.masking import redact

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from monitor.alert.answers import ListedAnswer
    from monitor.alert.labelled import LabelledRate
    from monitor.alert.notify.enqueue import Describe
    from monitor.alert.ports import SignalReader
    from monitor.alert.signal import Signal
    from monitor.alert.window import Span
    from monitor.app.review.labelled_periods import LabelledPeriods
    from monitor.store.alert.alerts import PostgresAlertStore
    from monitor.store.alert.explanations import Explanations
    from monitor.store.alert.history import AlertHistory
    from monitor.store.alert.outbox import PostgresOutbox
    from monitor.store.alert.responses import PostgresResponses
    from monitor.store.alert.rules_versions import RulesVersions


def course_chart(course: Course) -> bytes:
    """A PNG of an alert's signal over time."""
    from monitor.report.charts import drawing

    return drawing.course_chart(course)


class StoredPast:
    """The stored past, on which rules are tried."""

    def __init__(self, counting: SignalReader, engine: Engine, labelled: LabelledPeriods) -> None:
        self.counting = counting
        self._engine = engine
        self._labelled = labelled

    def answers(self, signal: Signal, selector: Mapping[str, tuple[str, ...]], span: Span) -> list[ListedAnswer]:
        """The stored answers of a span; may raise `Retriable`."""
        from monitor.store.alert.stored_answers import stored_answers

        return stored_answers(self._engine, signal, selector, span)

    def labelled(self, class_: str) -> list[LabelledRate]:
        """The rates of all labelled periods; may raise `Retriable`."""
        return self._labelled.all(class_)


class Alerting:
    """Everything about alerts. Each part is built when it is first asked for."""

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
        """The configured receivers, by the names that rules use.

        Raises:
            WrongSettings: the settings of a receiver are incomplete.
        """
        from monitor.alert.receivers import configured

        return configured(self._settings, course_chart)

    @property
    def rules(self) -> RuleSet:
        """The rules in force now: in the configured file, or the newest saved version, or those that ship."""
        return self.rules_in_force().rules

    def rules_in_force(self) -> RulesInForce:
        """As `rules`, with where they come from.

        Raises:
            WrongSettings: the configured file is wrong.
            Retriable: there is no such file, and the database is out of reach.
        """
        path = self._settings.rules
        if path is None:
            return self.versioned_rules.in_force()
        rules = load_rules(path, receivers=tuple(self.receivers), docs_url=self._settings.docs_url)
        return RulesInForce(rules=rules, origin=str(path), version=None)

    @cached_property
    def versioned_rules(self) -> VersionedRules:
        """The newest saved version of the rules, which is in force without a configured file."""
        return VersionedRules(self.rules_versions, self.parse_rules)

    @cached_property
    def rules_versions(self) -> RulesVersions:
        from monitor.store.alert.rules_versions import RulesVersions

        return RulesVersions(self._engine())

    @property
    def parse_rules(self) -> Callable[[str, str], RuleSet]:
        """Parses the text of rules, given their name, for the configured receivers."""
        return parser(lambda: tuple(self.receivers), self._settings.docs_url)

    @cached_property
    def store(self) -> PostgresAlertStore:
        from monitor.store.alert.alerts import PostgresAlertStore

        return PostgresAlertStore(self._engine(), self.labelled.newest)

    @cached_property
    def labelled(self) -> LabelledPeriods:
        """The true rates of labelled periods."""
        from monitor.app.review.labelled_periods import LabelledPeriods
        from monitor.store.review.plans import Plans

        return LabelledPeriods(Plans(self._engine()), self._now)

    @property
    def past(self) -> StoredPast:
        """What rules are tried on."""
        return StoredPast(self.store, self._engine(), self.labelled)

    @cached_property
    def outbox(self) -> PostgresOutbox:
        from monitor.store.alert.outbox import PostgresOutbox

        return PostgresOutbox(self._engine())

    @cached_property
    def responses(self) -> PostgresResponses:
        """Acknowledgements and silences."""
        from monitor.store.alert.responses import PostgresResponses

        return PostgresResponses(self._engine())

    @cached_property
    def history(self) -> AlertHistory:
        """Past alerts, for commands and pages."""
        from monitor.store.alert.history import AlertHistory

        return AlertHistory(self._engine())

    @cached_property
    def explanations(self) -> Explanations:
        """Stored explanations of what changed about an alert."""
        from monitor.store.alert.explanations import Explanations

        return Explanations(self._engine())

    @cached_property
    def actions(self) -> AlertActions:
        """What people can do about alerts, in chats and by commands."""
        return AlertActions(self.responses, self._now)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handles clicks in Slack while the block runs, if Socket Mode is set up."""
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
        """Evaluation and delivery under `rules`; by default those in force, taken up anew when they change."""
        from monitor.store.audit.acts import RulesRecorder

        notified = self.receivers if receivers is None else receivers
        return AlertLoop(
            rules=rules or self._watched(tuple(notified)),
            store=self.store,
            outbox=self.outbox,
            receivers=notified,
            describe=self._describer,
            link=self.link,
            noted=RulesRecorder(self._engine).record,
            patience=self.patience(notified),
        )

    def _watched(self, receivers: tuple[str, ...]) -> Callable[[], RuleSet]:
        path, docs_url = self._settings.rules, self._settings.docs_url
        if path is None:
            return VersionedRules(self.rules_versions, parser(lambda: receivers, docs_url)).current
        parse = partial(parse_rules, name=str(path), receivers=receivers, docs_url=docs_url)
        return WatchedFile(path, parse, of="alert rules", count=lambda rules: len(rules.rules)).current

    def patience(self, receivers: Mapping[str, Receiver]) -> Patience:
        """How long receivers are retried, and the fallback.

        Raises:
            WrongSettings: the fallback is not one of the receivers.
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
            trace_link=self.trace_link,
            run_link=self.run_link,
        )

    def link(self, alert: NotifiedAlert) -> str | None:
        """The page of an alert, if the URL of this installation is set."""
        return self._address("alerts", alert.fingerprint)

    def answer_link(self, app: str, interaction_id: str) -> str | None:
        """The page of an answer, if the URL of this installation is set."""
        return self._address("interactions", app, interaction_id)

    def run_link(self, run: int) -> str | None:
        """The page of a run of a probe, if the URL of this installation is set."""
        return self._address("probes", str(run))

    def trace_link(self, app: str, interaction_id: str) -> str | None:
        """The trace of an answer in the team's own tool, if MONITOR_TRACE_URL has an address; may raise `Retriable`."""
        if not self._settings.trace_url:
            return None
        from monitor.store.interaction.trace import trace_of

        trace = trace_of(self._engine(), app, interaction_id)
        if trace is None or redact(trace.trace_id) != trace.trace_id:  # an id that looks like personal data
            return None
        return trace_link(
            self._settings.trace_url, app=app, id_=interaction_id, trace_id=trace.trace_id, span_id=trace.span_id
        )

    def _address(self, *path: str) -> str | None:
        base = self._settings.public_url
        if not base:
            return None
        return "/".join([base.rstrip("/"), *(quote(part.encode(errors="replace"), safe="") for part in path)])
