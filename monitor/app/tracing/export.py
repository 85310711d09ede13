"""Sends spans over OTLP/HTTP from a thread of its own, so that a receiver that fails or hangs never holds up events.

Spans wait in a bounded queue; what does not fit is dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Tracer
from requests import PreparedRequest, RequestException, Response, Session
from typing_extensions import override

from monitor.core.text.plain import shortened

log = logging.getLogger(__name__)

QUEUE = 4_096  # spans
_BATCH = 512  # spans in a request
_EVERY = 2_000  # milliseconds between two requests
_TIMEOUT = 4.0  # seconds for a request with its repetitions
FLUSH_WITHIN = 5.0  # seconds at the end, for what still waits; more than one request takes, so that its failure is told
_LONGEST_REASON = 200  # characters
# What speaks of failures, again and again: while spans are sent, and for each span that does not fit into the queue.
_LOGGERS = ("opentelemetry.exporter.otlp.proto.http.trace_exporter", "opentelemetry.sdk._shared_internal")


class _Session(Session):
    """Keeps why the last request failed, which the library tells only now and then; takes no redirect for success."""

    failure = ""

    @override
    def send(self, request: PreparedRequest, **options: Any) -> Response:
        try:
            response = super().send(request, **options)
        except RequestException as error:
            self.failure = str(getattr(next(iter(error.args), None), "reason", error))
            raise
        self.failure = "" if response.ok else f"{response.status_code} {response.reason}"
        if response.is_redirect:
            self.failure = f"{response.status_code}, it is at {response.headers['location']}"
            raise RequestException(self.failure)
        return response


def _nothing(record: logging.LogRecord) -> bool:  # noqa: ARG001
    """A filter that passes nothing on."""
    return False


class ToldOnce(SpanExporter):
    """Logs when the receiver stops taking spans, and when it takes them again, but not each failure between."""

    def __init__(self, inner: SpanExporter, place: str, failure: Callable[[], str]) -> None:
        self._inner = inner
        self._place = place
        self._failure = failure
        self._failing = False

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._inner.export(spans)
        failed = result is not SpanExportResult.SUCCESS
        if failed and not self._failing:
            reason = shortened(self._failure() or "no answer in time", _LONGEST_REASON)
            log.warning("traces are dropped until %s takes them; events go on (%s)", self._place, reason)
        elif self._failing and not failed:
            log.warning("traces are taken again by %s", self._place)
        self._failing = failed
        return result

    @override
    def shutdown(self) -> None:
        self._inner.shutdown()

    @override
    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._inner.force_flush(timeout_millis)


@contextmanager
def exporting(
    *, endpoint: str, headers: Mapping[str, str], service: str, version: str, ratio: float
) -> Iterator[Tracer]:
    """Yields a tracer whose spans go to `endpoint`, the whole URL. Leaving the block takes `FLUSH_WITHIN` at most.

    `ratio` of the traces are kept, each of them whole. `OTEL_RESOURCE_ATTRIBUTES` adds attributes of the resource.
    """
    session = _Session()
    exporter = OTLPSpanExporter(
        endpoint=endpoint, headers=dict(headers), timeout=_TIMEOUT, compression=Compression.Gzip, session=session
    )
    told = ToldOnce(exporter, urlsplit(endpoint).netloc, lambda: session.failure)
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(ratio)),
        resource=Resource.create({"service.name": service, "service.version": version}),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(
        BatchSpanProcessor(told, max_queue_size=QUEUE, max_export_batch_size=_BATCH, schedule_delay_millis=_EVERY)
    )
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_nothing)
    try:
        yield provider.get_tracer("monitor", version)
    finally:
        last = Thread(target=provider.shutdown, name="last traces", daemon=True)
        last.start()
        last.join(FLUSH_WITHIN)
        session.close()
