"""Chooses where traces of the program's own stages go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from importlib.util import find_spec

from monitor.core.errors import WrongSettings
from monitor.core.settings.tracing import TracingSettings
from monitor.core.stage import observed_by

_NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


@contextmanager
def traced(settings: TracingSettings) -> Iterator[None]:
    """Sends traces of the stages while the block runs, if there is an endpoint.

    Raises:
        WrongSettings: the packages that this needs are not installed, or the headers have another form.
    """
    if settings.endpoint is None:
        yield
        return
    from monitor.app.export.destination import address, header_pairs

    if not all(map(_installed, _NEEDED)):
        raise WrongSettings("MONITOR_TRACING__ENDPOINT needs OpenTelemetry's SDK: pip install 'rag-monitor[otel]'")
    from monitor.app.tracing.export import exporting
    from monitor.app.tracing.spans import SpanObserver

    given = None if settings.headers is None else settings.headers.get_secret_value()
    with (
        exporting(
            endpoint=address(settings.endpoint, "/v1/traces"),
            headers=header_pairs(given, "MONITOR_TRACING__HEADERS"),
            service=settings.service,
            version=metadata.version("rag-monitor"),
            ratio=settings.sample,
        ) as tracer,
        observed_by(SpanObserver(tracer)),
    ):
        yield


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of a package above it
        return False
