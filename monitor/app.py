"""The composition root: the only place that chooses adapters. Each part is built when it is first asked for."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Self

from monitor.alert.rule import Rule
from monitor.alert.rules_file import load_rules
from monitor.classify.profile import Profile, load_profile
from monitor.complete.extractive import ExtractiveCompleter
from monitor.errors import OutOfReach, Retriable, WrongSettings
from monitor.ingest.decode import Decoder, TopicDecoder
from monitor.model import Batch, Tally
from monitor.pipeline import Pipeline
from monitor.ports import Embedder, Receiver, Source, Store
from monitor.retry import Retry
from monitor.settings import Settings, TopicSettings
from monitor.stages import Stages
from monitor.store.database import connect, migrate

if TYPE_CHECKING:
    from kafka import KafkaConsumer
    from sqlalchemy import Engine

    from monitor.alert.state import Alert
    from monitor.ingest.span import Span
    from monitor.store.alerts import PostgresAlertStore
    from monitor.store.group import Group
    from monitor.store.queries import Queries
    from monitor.store.writer import Writer

log = logging.getLogger(__name__)


def utc_now() -> datetime:
    """The clock of the edges; the core is told the time."""
    return datetime.now(UTC)


class Application:
    """Everything wired by one set of settings. Use it in a `with` block: leaving closes what was opened."""

    def __init__(self, settings: Settings, *, now: Callable[[], datetime] = utc_now) -> None:
        self.settings = settings
        self.now = now
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    @property
    def cache_dir(self) -> Path:
        """For what can be made again, such as the encoder's graph."""
        return self.settings.state_dir / "cache"

    @cached_property
    def database_url(self) -> str:
        """The configured database, or the embedded one, started."""
        if self.settings.database_url is not None:
            return self.settings.database_url.get_secret_value()
        from monitor.store.embedded import embedded_database  # noqa: PLC0415  only where it is wanted

        return embedded_database(self.settings.state_dir)

    @cached_property
    def engine(self) -> Engine:
        """Connections for reading and for alerts, to a database that need not be migrated yet."""
        engine = connect(self.database_url)
        self._closing.callback(engine.dispose)
        return engine

    def migrate(self) -> str:
        """Brings the database to this release's tables; the revision."""
        return migrate(self.engine)

    def prepare(self) -> None:
        """What must stand in the database before the first batch: the tables, and the profile of the verdicts."""
        self.migrate()
        self.queries.keep_profile(self.profile, self.now())

    @cached_property
    def store(self) -> Writer:
        """Where batches go."""
        from monitor.store.writer import Writer  # noqa: PLC0415

        writer = Writer(self.database_url, self.now)
        self._closing.callback(writer.close)
        return writer

    @cached_property
    def alert_store(self) -> PostgresAlertStore:
        """What the alert loop reads and writes."""
        from monitor.store.alerts import PostgresAlertStore  # noqa: PLC0415

        return PostgresAlertStore(self.engine)

    @cached_property
    def queries(self) -> Queries:
        """What people ask of the stored rows."""
        from monitor.store.queries import Queries  # noqa: PLC0415

        return Queries(self.engine)

    @cached_property
    def embedder(self) -> Embedder:
        """The configured embedder behind its cache."""
        from monitor.embed.cache import CachedEmbedder  # noqa: PLC0415  numpy and onnxruntime take time to import

        return CachedEmbedder(self._embedder(), self.settings.embedding.cache_bytes)

    def _embedder(self) -> Embedder:
        embedding, llm = self.settings.embedding, self.settings.llm
        match embedding.provider:
            case "minilm":
                from monitor.embed.minilm import MiniLMEmbedder  # noqa: PLC0415

                return MiniLMEmbedder(
                    cache_dir=self.cache_dir, weights_dir=embedding.weights_dir, threads=embedding.threads
                )
            case "openai":
                from monitor.embed.openai import DEFAULT_BASE_URL, OpenAIEmbedder  # noqa: PLC0415

                key = embedding.api_key or llm.api_key
                if key is None:
                    raise WrongSettings(
                        "the openai embedder needs a key: set MONITOR_EMBEDDING__API_KEY or MONITOR_LLM__API_KEY "
                        "(any word will do for a server that asks for none)"
                    )
                return OpenAIEmbedder(
                    model=embedding.model,
                    api_key=key.get_secret_value(),
                    base_url=embedding.base_url or llm.base_url or DEFAULT_BASE_URL,
                    dimensions=embedding.dimensions,
                )
            case "hash":
                from monitor.embed.hashing import HashEmbedder  # noqa: PLC0415

                log.warning("the hash embedder is for tests and benchmarks only: its verdicts mean nothing")
                return HashEmbedder()

    @cached_property
    def profile(self) -> Profile:
        """The thresholds that verdicts are given under."""
        return load_profile(self.settings.profile, self.embedder.model)

    @cached_property
    def pipeline(self) -> Pipeline:
        """Complete, embed, score, classify."""
        return Pipeline(completer=ExtractiveCompleter(), embedder=self.embedder, profile=self.profile)

    def decoder(self, *, app: str | None = None, dialect: str | None = None) -> TopicDecoder:
        """From bytes to interactions; `app` and `dialect` stand before the settings, those of a topic too."""
        ingest = self.settings.ingest

        def decoder(topic: TopicSettings) -> Decoder:
            return Decoder(
                dialect=dialect or topic.dialect or ingest.dialect,
                app=app or topic.app or ingest.app,
                environment=topic.environment or ingest.environment,
                max_message_bytes=ingest.max_message_bytes,
                max_text_chars=ingest.max_text_chars,
                max_documents=ingest.max_documents,
            )

        by_topic = {name: decoder(topic) for name, topic in self.settings.kafka.by_topic.items()}
        return TopicDecoder(decoder(TopicSettings()), by_topic)

    @cached_property
    def group(self) -> Group:
        """What the database knows of the configured consumer group."""
        from monitor.store.group import Group  # noqa: PLC0415

        return Group(self.engine, self.settings.kafka.group_id)

    def kafka_source(self, span: Span | None = None) -> Source:
        """Our share of the configured topics, or a span of all of them.

        Raises:
            OutOfReach: no broker answers.
            WrongSettings, Fatal: the settings contradict each other, or the broker refuses them.
        """
        from monitor.ingest.consumer import KafkaSource  # noqa: PLC0415
        from monitor.ingest.span import bounds  # noqa: PLC0415

        kafka = self.settings.kafka
        with self._kafka() as consumer:
            limits = None if span is None else bounds(consumer, kafka, span)
            return KafkaSource(consumer, kafka, group=self.group, now=self.now, bounds=limits)

    def kafka_partitions(self) -> Mapping[str, int]:
        """How many partitions each of the configured topics has; raises as `kafka_source` does."""
        from monitor.ingest.span import partitions_of  # noqa: PLC0415

        with self._kafka() as consumer:
            return Counter(partition.topic for partition in partitions_of(consumer, self.settings.kafka))

    @contextmanager
    def _kafka(self) -> Iterator[KafkaConsumer]:
        """A consumer, closed with everything else at the latest."""
        from monitor.ingest.kafka import connected  # noqa: PLC0415

        kafka = self.settings.kafka
        if not kafka.bootstrap_servers:
            raise WrongSettings("no Kafka is set: MONITOR_KAFKA__BOOTSTRAP_SERVERS=host:9092")
        if bool(kafka.topics) == (kafka.topic_pattern is not None):
            found = "both are set" if kafka.topics else "none is set"
            raise WrongSettings(f"set either MONITOR_KAFKA__TOPICS or MONITOR_KAFKA__TOPIC_PATTERN: {found}")
        log.info("asking %s", ", ".join(kafka.bootstrap_servers))
        try:
            consumer = connected(kafka)
            self._closing.callback(consumer.close, autocommit=False, timeout_ms=1_000)  # nothing, where it is closed
            yield consumer
        except Retriable as error:
            servers = ", ".join(kafka.bootstrap_servers)
            raise OutOfReach(f"{error}\nMONITOR_KAFKA__BOOTSTRAP_SERVERS is {servers}") from error

    def kafka_store(self, *, rescore: bool) -> Store:
        """Where batches of Kafka go, past the limit of dead letters; with `rescore`, assessments only."""
        from monitor.ingest.dead_letter import DeadLetterGate, DeadLetterLimit, DeadLetterMirror  # noqa: PLC0415
        from monitor.store.writer import Writer  # noqa: PLC0415

        kafka, mirror = self.settings.kafka, None
        hash_ = self.profile.hash if rescore else ""
        self.group.check(profile_hash=hash_)
        writer = Writer(self.database_url, self.now, group=kafka.group_id, rescore=hash_)
        self._closing.callback(writer.close)
        if kafka.dead_letter_topic is not None and not rescore:
            mirror = DeadLetterMirror(kafka, kafka.dead_letter_topic)
            self._closing.callback(mirror.close)
        limit = DeadLetterLimit(consecutive=kafka.max_consecutive_dead, ratio=kafka.max_dead_ratio)
        return DeadLetterGate(writer, limit, mirror)

    def stages(
        self,
        source: Source,
        *,
        app: str | None,
        dialect: str | None,
        stop: Event,
        written: Callable[[Batch, Tally], None],
        patience: float | None = None,
        store: Store | None = None,
    ) -> Stages:
        """The whole flow from `source` into the store, or another one; `patience` as in `Retry`."""
        ingest = self.settings.ingest
        return Stages(
            source=source,
            decode=self.decoder(app=app, dialect=dialect).decode_batch,
            assess=self.pipeline.assess,
            store=store or self.store,
            retry=Retry(stop=stop, patience=patience),
            stop=stop,
            written=written,
            batch_messages=ingest.batch_events,
            batch_bytes=ingest.batch_bytes,
            poll_seconds=ingest.batch_ms / 1000,
        )

    @cached_property
    def receivers(self) -> Mapping[str, Receiver]:
        """Who is told, by the names that rules use."""
        from monitor.alert.receivers import configured  # noqa: PLC0415

        return configured(self.settings)

    @cached_property
    def rules(self) -> Sequence[Rule]:
        """The alert rules of the configured file, or the set that ships."""
        return load_rules(self.settings.rules, receivers=tuple(self.receivers))

    def link(self, alert: Alert) -> str | None:
        """Where people look at an alert, once the address of this installation is set."""
        base = self.settings.public_url
        return f"{base.rstrip('/')}/alerts/{alert.fingerprint}" if base else None
