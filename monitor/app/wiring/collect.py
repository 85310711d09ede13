"""The part of the composition root that wires what takes spans and events."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING

from monitor.app.collect.assembler import Assembler
from monitor.app.collect.events import decoder
from monitor.app.collect.stored_intake import StoredIntake
from monitor.app.wiring.decoding import redactor_of
from monitor.app.wiring.lookup import document_lookup
from monitor.core.installed.extras import installed, require
from monitor.ingest.decode import AUTO, TopicDecoder
from monitor.ingest.lookup.resolve import resolve
from monitor.privacy.redaction.traces import TraceRedactor
from monitor.store.collect.source import InboxSource
from monitor.store.collect.store import CollectStore
from monitor.store.interaction.writer import GROUP

if TYPE_CHECKING:
    from monitor.app.collect.intake import Intake
    from monitor.app.flow import Flow
    from monitor.app.wiring.application import Application
    from monitor.core.batch import Batch, Tally
    from monitor.core.settings.collect import CollectSettings

LOOK_EVERY = 1.0  # seconds between two looks at an empty inbox


def grpc_can_be_served(settings: CollectSettings) -> bool:
    """Whether the package of gRPC is installed.

    Raises:
        WrongSettings: it is not, and a port for gRPC is asked for.
    """
    if "grpc_port" in settings.model_fields_set and settings.grpc_port is not None:
        require("grpc", "OTLP over gRPC", otherwise="leave it out: MONITOR_COLLECT__GRPC_PORT=off")
    return installed("grpc")


class Collecting:
    """The parts, each built when it is first asked for."""

    def __init__(self, application: Application, closing: ExitStack) -> None:
        self._application = application
        self._closing = closing

    @cached_property
    def store(self) -> CollectStore:
        """Where traces and events wait."""
        application = self._application
        store = CollectStore(application.database_url, application.settings.collect, application.now)
        self._closing.callback(store.close)
        return store

    @cached_property
    def intake(self) -> Intake:
        """Keeps what requests bring."""
        redactor = redactor_of(self._application.settings.redaction, self._application.auditing.tag_key)
        return StoredIntake(
            store=self.store,
            decode=self._decoder.decode_batch,
            redactor=None if redactor is None else TraceRedactor(redactor),
        )

    @cached_property
    def assembler(self) -> Assembler:
        """Makes turns of traces that are due; looks up the texts of documents that a trace knows by id only."""
        settings = self._application.settings
        lookup = document_lookup(settings.lookup)
        if lookup is not None:
            self._closing.callback(lookup.close)
        return Assembler(store=self.store, app=settings.ingest.app, resolve=lambda named: resolve(named, lookup))

    def flow(self, stop: Event, written: Callable[[Batch, Tally], None]) -> Flow:
        """The flow from the inbox into the store; the caller closes its source."""
        application = self._application
        flow = application.flow(
            InboxSource(application.database_url, group=GROUP, stop=stop),
            app=None,
            dialect=None,
            stop=stop,
            written=written,
            store=application.writer(),
            set_aside=True,
        )
        return replace(flow, decode=decoder(self._decoder.decode_batch), poll_seconds=LOOK_EVERY)

    @property
    def _decoder(self) -> TopicDecoder:
        """Tells each event's dialect by itself: the configured one is that of other sources."""
        return self._application.decoder(dialect=AUTO)
