"""Chooses where traces of the program's own stages go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata

from monitor.core.installed.extras import require
from monitor.core.settings.tracing import TracingSettings
from monitor.core.stage import observed_by


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

    require("otel", "MONITOR_TRACING__ENDPOINT")
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
