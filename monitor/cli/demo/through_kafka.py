"""Sends the demo's answers through a real broker: produces them as a chatbot would, and consumes them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import monotonic
from uuid import uuid4

from kafka import KafkaAdminClient, KafkaProducer, errors

from monitor.app.wiring.application import Application
from monitor.core.assessment_json import encode
from monitor.core.batch import Batch, Tally
from monitor.core.errors import OutOfReach
from monitor.core.model import Assessment, Interaction
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.client import client_options, kafka_errors
from monitor.ingest.kafka.producer import close_producer
from monitor.simulate.broker import KafkaCluster
from monitor.simulate.kafka_jars import kafka_jars
from monitor.simulate.traffic import event

PARTITIONS = 3
PATIENCE = 120.0  # seconds to wait for one step of the demo
_LOOK = 1.0  # seconds between two looks at whether a broker of our own is still there

Assess = Callable[[Sequence[Interaction]], list[Assessment]]
Check = Callable[[], None]
log = logging.getLogger(__name__)


@contextmanager
def demo_topic(kafka: KafkaSettings) -> Iterator[tuple[KafkaSettings, Check]]:
    """Yields settings with their own topic and group, on the configured brokers or on one started for the demo.

    With them comes a function that raises `OutOfReach` once a started broker has ended. At the end the topic is
    deleted, or the broker that was started for it.

    Raises:
        WrongSettings: there is no Java to run a broker with.
        OutOfReach: none of the configured brokers answers.
    """
    with ExitStack() as stack:
        name = f"monitor-demo-{uuid4().hex[:8]}"
        over: dict[str, object] = {"topics": (name,), "topic_pattern": None, "group_id": name, "by_topic": {}}
        check: Check = lambda: None  # noqa: E731
        if not kafka.bootstrap_servers:
            folder = stack.enter_context(TemporaryDirectory(prefix="monitor-demo-kafka-"))
            broker = stack.enter_context(KafkaCluster(Path(folder), jars=kafka_jars()))
            over["bootstrap_servers"], check = (broker.bootstrap_servers,), broker.check
        settings = kafka.model_copy(update=over)
        with kafka_errors(), KafkaAdminClient(**client_options(settings)) as admin:
            admin.create_topics({name: {"num_partitions": PARTITIONS, "replication_factor": -1}})
            try:
                yield settings, check
            finally:
                if kafka.bootstrap_servers:
                    _delete(admin, name)


def _delete(admin: KafkaAdminClient, topic: str) -> None:
    try:
        admin.delete_topics([topic])
    except errors.KafkaError as error:  # must not hide why the demo ended
        log.warning("the topic %s stays on the broker: %s", topic, error)


@contextmanager
def through_kafka(application: Application, check: Check) -> Iterator[Assess]:
    """Yields a function that produces interactions and returns their assessments once a consumer has stored them.

    It calls `check` while it waits.
    """
    stored: Queue[Sequence[Assessment] | BaseException] = Queue()
    stop = Event()
    (topic,) = application.settings.kafka.topics
    source = application.kafka.source()

    def written(batch: Batch, _: Tally) -> None:
        stored.put(batch.assessments)

    def consume() -> None:
        try:
            flow.run()
        except BaseException as error:  # noqa: BLE001  `assess` raises it again
            stored.put(error)

    store = application.kafka.store()
    flow = application.flow(source, app=None, dialect=None, stop=stop, written=written, store=store)
    consumer = Thread(target=consume, name="demo consumer", daemon=True)
    producer = KafkaProducer(**client_options(application.settings.kafka), acks="all", metrics_enabled=False)

    def assess(interactions: Sequence[Interaction]) -> list[Assessment]:
        with kafka_errors():
            for it in interactions:
                producer.send(topic, encode(event(it)).encode(), key=it.id.encode())
        until = monotonic() + PATIENCE
        found: dict[str, Assessment] = {}
        while len(found) < len(interactions):
            try:
                batch = stored.get(timeout=_LOOK)
            except Empty:
                check()
                if monotonic() > until:
                    raise OutOfReach(f"kafka: the produced answers did not come back within {PATIENCE:.0f} s") from None
                continue
            if isinstance(batch, BaseException):
                raise batch
            found.update({a.interaction.id: a for a in batch})
        return [found[it.id] for it in interactions]

    consumer.start()
    try:
        yield assess
    finally:
        stop.set()
        consumer.join(PATIENCE)
        source.close()
        close_producer(producer)
