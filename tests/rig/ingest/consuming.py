"""A consumer in this process, over a real broker and a real database, with embeddings that cost nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from monitor.app.run import consume
from monitor.app.wiring.application import Application
from monitor.core.batch import Tally
from monitor.core.settings.kafka import KafkaSettings
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import EmbeddingSettings, IngestSettings
from monitor.ingest.kafka.span import Span
from tests.rig.commands import Command
from tests.rig.waiting import PATIENCE

QUICK = {
    "session_timeout_ms": 6_000,
    "heartbeat_interval_ms": 300,
    "metadata_max_age_ms": 500,
    "fetch_max_wait_ms": 50,
}


def answer(name: str, **over: object) -> bytes:
    """One event."""
    event = {
        "id": name,
        "app": "support-bot",
        "question": "How long are deleted snapshots kept?",
        "answer": "Deleted snapshots are kept for 30 days.",
        "retrieved_documents": ["Deleted snapshots are kept for 30 days, then they are purged for good."],
    }
    return json.dumps({**event, **over}).encode()


def answers(*numbers: int) -> list[bytes]:
    return [answer(f"q-{number}") for number in numbers]


def settings_for(
    bootstrap: str, database: str, *topics: str, ingest: dict[str, Any] | None = None, **kafka: Any
) -> Settings:
    return Settings(
        database_url=database,
        embedding=EmbeddingSettings(provider="hash"),
        ingest=IngestSettings(**{"batch_ms": 50, **(ingest or {})}),
        kafka=KafkaSettings(**{"bootstrap_servers": bootstrap, "topics": topics, **QUICK, **kafka}),
    )


class Consumer:
    """`consume` in a thread, until told to stop or it ends by itself."""

    def __init__(self, settings: Settings, **arguments: Any) -> None:
        self.settings = settings
        self.stop = Event()
        self.error: BaseException | None = None
        self.tally = Tally()
        self._arguments = arguments
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with Application(self.settings) as application:
                self.tally = consume(
                    application, **{"app": None, "dialect": None, "stop": self.stop, **self._arguments}
                )
        except BaseException as error:  # noqa: BLE001  raised again in the test's thread
            self.error = error

    def ended(self) -> Tally:
        """Waits until it ends by itself."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the consumer does not end"
        if self.error is not None:
            raise self.error
        return self.tally

    def stopped(self) -> Tally:
        """Stops it, and gives the ledger of its run."""
        self.stop.set()
        return self.ended()


@contextmanager
def consuming(settings: Settings, **arguments: Any) -> Iterator[Consumer]:
    """A consumer for the block; it is stopped, and must have ended well, at the end."""
    consumer = Consumer(settings, **arguments)
    try:
        yield consumer
    except BaseException:
        consumer.stop.set()
        consumer._thread.join(10)
        if consumer.error is not None:
            raise consumer.error from None
        raise
    consumer.stopped()


def consumer_process(folder: Path, kafka: str, database: str, topic: str, **over: str) -> Command:
    """A consumer that can be killed and halted; `folder` takes its state and what it says."""
    settings = {
        "STATE_DIR": str(folder / "state"),
        "DATABASE_URL": database,
        "EMBEDDING__PROVIDER": "hash",
        "INGEST__BATCH_EVENTS": "20",
        "KAFKA__BOOTSTRAP_SERVERS": kafka,
        "KAFKA__TOPICS": topic,
        "KAFKA__GROUP_ID": f"group-{topic}",
        "KAFKA__SESSION_TIMEOUT_MS": "2000",
        "KAFKA__HEARTBEAT_INTERVAL_MS": "300",
        "KAFKA__METADATA_MAX_AGE_MS": "500",
        **over,
    }
    environment = {**os.environ, **{f"MONITOR_{name}": value for name, value in settings.items()}}
    with (folder / "consumers.log").open("a") as said:
        consumer = Command(["consume"], environment=environment, folder=folder, out=said, err=said)
    consumer.stdin.close()
    return consumer


def read_span(settings: Settings, *, start: Any = None, end: Any = None, rescore: bool = False) -> Tally:
    """Reads a span to its end."""
    return Consumer(settings, span=Span(start=start, end=end), rescore=rescore).ended()
