"""The composition root: the only place that chooses adapters.

Each part is imported and built when it is first asked for, so that a command that only reads loads no models.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Self

from monitor.app.wiring.audit import Auditing
from monitor.app.wiring.export import sends
from monitor.app.wiring.tracing import traced
from monitor.core.settings.load import Settings
from monitor.store.database import connect
from monitor.store.migrate import migrate

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from monitor.app.flow import Flow
    from monitor.app.metrics.pages import MetricsPages
    from monitor.app.metrics.process import ProcessMetrics
    from monitor.app.wiring.alert import Alerting
    from monitor.app.wiring.assess import Assessing
    from monitor.app.wiring.collect import Collecting
    from monitor.app.wiring.kafka import KafkaWiring
    from monitor.app.wiring.models import LanguageModels
    from monitor.app.wiring.probe import Probing
    from monitor.core.batch import Batch, Tally
    from monitor.core.ports import Source, Store
    from monitor.ingest.decode import TopicDecoder
    from monitor.ingest.mapping import EventMap
    from monitor.store.interaction.assessments import AssessmentQueries
    from monitor.store.interaction.overview import OverviewStore
    from monitor.store.interaction.writer import Writer
    from monitor.store.review.labels import Reviews
    from monitor.store.review.plans import Plans


def utc_now() -> datetime:
    """The clock of the edges; the core gets the time as an argument."""
    return datetime.now(UTC)


class Application:
    """All parts, wired by one set of settings. Use it in a `with` block: leaving closes what was opened.

    `traces=False` sends no traces of what is done, whatever the settings say.
    """

    def __init__(self, settings: Settings, *, now: Callable[[], datetime] = utc_now, traces: bool = True) -> None:
        self.settings = settings
        self._traces = traces
        self.now = now
        self.retention_refused = False  # whether the last round of retention waits for a person to confirm it
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        if self._traces:
            self._closing.enter_context(traced(self.settings.tracing))
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    @property
    def cache_dir(self) -> Path:
        """The folder for files that can be built again, such as the encoder's graph."""
        return self.settings.state_dir / "cache"

    @cached_property
    def database_url(self) -> str:
        """The URL of the configured database, or of the embedded one, which this starts."""
        if self.settings.database_url is not None:
            return self.settings.database_url.get_secret_value()
        from monitor.store.embedded_postgres import embedded_database

        return embedded_database(self.settings.state_dir)

    @cached_property
    def engine(self) -> Engine:
        """Connections for everything except batches; the database need not be migrated yet."""
        engine = connect(self.database_url, queue_key=self.auditing.queue_key)
        self._closing.callback(engine.dispose)
        return engine

    def migrate(self) -> str:
        """Migrates the database to this release; returns the revision."""
        return migrate(self.engine)

    def prepare(self) -> None:
        """Stores what the first batch needs: the tables, the profile, the sidecar's prompt."""
        self.migrate()
        self.queries.save_profile(self.assessing.profile, self.now())
        if self.settings.sidecar.mode != "off":
            from monitor.assess.complete.sidecar import PROMPTS
            from monitor.store.pending.finish import save_prompts

            with self.store.transaction() as connection:
                save_prompts(connection, [[PROMPTS[self.settings.sidecar.mode]]], self.now())

    @cached_property
    def store(self) -> Writer:
        """Where batches go that do not come from Kafka."""
        return self.writer()

    def writer(self, *, group: str | None = None, rescore: str = "") -> Writer:
        """A new writer, for one thread; with `rescore`, a profile's hash, it stores assessments only."""
        from monitor.store.interaction.writer import GROUP, Writer

        writer = Writer(
            self.database_url,
            self.now,
            queue_key=self.auditing.queue_key(),
            group=group or GROUP,
            rescore=rescore,
            follow_ups=self.language_models.follow_ups,
            limits=self.settings.collect,
            sends=sends(self.settings),
        )
        self._closing.callback(writer.close)
        return writer

    @cached_property
    def queries(self) -> AssessmentQueries:
        """Stored assessments, for commands and pages."""
        from monitor.store.interaction.assessments import AssessmentQueries

        return AssessmentQueries(self.engine)

    @cached_property
    def overview(self) -> OverviewStore:
        """Figures of the dashboard's first page; caches those that no longer change."""
        from monitor.store.interaction.overview import OverviewStore

        return OverviewStore(self.engine)

    @cached_property
    def reviews(self) -> Reviews:
        """Labels that people give."""
        from monitor.store.review.labels import Reviews

        return Reviews(self.engine)

    @cached_property
    def plans(self) -> Plans:
        """Plans of labels, for true rates."""
        from monitor.store.review.plans import Plans

        return Plans(self.engine)

    @cached_property
    def auditing(self) -> Auditing:
        """The audit trail: key, witnesses and sealer."""
        return Auditing(self.settings, lambda: self.engine)

    @cached_property
    def assessing(self) -> Assessing:
        """The models that assess answers, their profile, and the references that rank them."""
        from monitor.app.wiring.assess import Assessing

        return Assessing(
            self.settings,
            engine=lambda: self.engine,
            database_url=lambda: self.database_url,
            completer=self.language_models.completer,
            cache_dir=self.cache_dir,
            closing=self._closing,
        )

    @cached_property
    def language_models(self) -> LanguageModels:
        """The sidecar's generator, the judge, and their budget."""
        from monitor.app.wiring.models import LanguageModels

        return LanguageModels(
            self.settings, lambda: self.database_url, lambda: self.assessing.embedder, self._closing, self.now
        )

    def decoder(
        self, *, app: str | None = None, dialect: str | None = None, event_map: EventMap | None = None
    ) -> TopicDecoder:
        """From bytes to interactions; `app`, `dialect` and `event_map` come before any setting."""
        from monitor.app.wiring.decoding import topic_decoder

        return topic_decoder(
            self.settings, app=app, dialect=dialect, event_map=event_map, tag_key=self.auditing.tag_key
        )

    @cached_property
    def kafka(self) -> KafkaWiring:
        """The configured Kafka: its source, its store and the consumer group."""
        from monitor.app.wiring.kafka import KafkaWiring

        return KafkaWiring(
            self.settings.kafka,
            engine=lambda: self.engine,
            new_writer=self.writer,
            closing=self._closing,
            now=self.now,
        )

    @cached_property
    def collecting(self) -> Collecting:
        """What takes spans and events: the intake, the assembler, and the inbox."""
        from monitor.app.wiring.collect import Collecting

        return Collecting(self, self._closing)

    def flow(
        self,
        source: Source,
        *,
        app: str | None,
        dialect: str | None,
        stop: Event,
        written: Callable[[Batch, Tally], None],
        patience: float | None = None,
        store: Store | None = None,
        set_aside: bool = False,
        event_map: EventMap | None = None,
    ) -> Flow:
        """The whole flow from `source` into `store`, by default our own; `patience` as in `Retry`.

        Interactions that cannot be assessed are retried; with `set_aside` they are stored as pending after a while.
        """
        from monitor.app.flow import Flow
        from monitor.app.wiring.conversation import remembering
        from monitor.core.retry import Retry

        ingest = self.settings.ingest
        return Flow(
            source=source,
            decode=remembering(
                self.decoder(app=app, dialect=dialect, event_map=event_map).decode_batch, self.assessing.recent_turns
            ),
            told=self.probing.probed_turns.told,
            assess=self.assessing.assess_with(self.settings.sidecar.patience if set_aside else None, live=set_aside),
            store=store or self.store,
            retry=Retry(stop=stop, patience=patience),
            stop=stop,
            written=written,
            batch_messages=ingest.batch_events,
            batch_bytes=ingest.batch_bytes,
            poll_seconds=ingest.batch_ms / 1000,
            set_aside_after=self.settings.pending.after if set_aside else None,
        )

    @cached_property
    def probing(self) -> Probing:
        """Probes: their file, golden sets and runs, and what asks and grades."""
        from monitor.app.wiring.probe import Probing

        return Probing(self)

    @cached_property
    def alerting(self) -> Alerting:
        """Rules, receivers, and what people do about alerts."""
        from monitor.app.wiring.alert import Alerting

        return Alerting(self.settings, lambda: self.engine, lambda: self.assessing.embedder, self._closing, self.now)

    @cached_property
    def process_metrics(self) -> ProcessMetrics:
        """What this process measures of itself."""
        from monitor.app.metrics.process import ProcessMetrics

        return ProcessMetrics(lambda: self.retention_refused)

    @cached_property
    def metrics_pages(self) -> MetricsPages:
        """The metrics of this process, and those of the whole installation."""
        from monitor.app.metrics.installation import collector_of
        from monitor.app.metrics.pages import MetricsPages

        return MetricsPages(process=self.process_metrics, installation=collector_of(self))
