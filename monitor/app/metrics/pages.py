"""The pages that a Prometheus scrapes: `/metrics` with everything, and one for each kind of metrics."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.exposition import choose_encoder

from monitor.app.metrics.health import Health
from monitor.app.metrics.installation import StoreCollector
from monitor.app.metrics.process import ProcessMetrics
from monitor.app.metrics.server import serving
from monitor.core.errors import WrongSettings

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)
ALL, PROCESS, INSTALLATION = "/metrics", "/metrics/process", "/metrics/installation"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsPages:
    """Both kinds of metrics, and which of them a path shows."""

    process: ProcessMetrics
    installation: StoreCollector

    def registries(self) -> Mapping[str, CollectorRegistry]:
        """What each path shows. Only the page of the process alone does not ask the store."""
        everything, installation = CollectorRegistry(), CollectorRegistry()
        everything.register(self.process.registry)
        for registry in (everything, installation):
            registry.register(self.installation)
        return {ALL: everything, PROCESS: self.process.registry, INSTALLATION: installation}

    def page(self, path: str, accept: str) -> tuple[bytes, str]:
        """The page in the format that the `accept` header asks for, and its content type."""
        encode, content_type = choose_encoder(accept)
        return encode(self.registries()[path]), content_type


@contextmanager
def served(pages: MetricsPages, host: str, port: int | None, health: Health | None = None) -> Iterator[int | None]:
    """Serves the pages, beside `health`, while the block runs; yields the port, None if none is set.

    Raises:
        WrongSettings: the address cannot be used.
    """
    if port is None:
        yield None
        return
    app = _by_path(pages.registries())
    list(pages.installation.collect())  # existing answers do not count as new at the first scrape
    with ExitStack() as stack:
        try:
            taken = stack.enter_context(serving(app if health is None else health.beside(app), host, port))
        except OSError as error:
            raise WrongSettings(f"MONITOR_METRICS__HOST, …__PORT: cannot serve at {host}:{port}: {error}") from None
        log.info("metrics: http://%s:%d/metrics", host, taken)
        yield taken


def _by_path(registries: Mapping[str, CollectorRegistry]) -> WSGIApplication:
    apps = {path: make_wsgi_app(registry) for path, registry in registries.items()}

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        page: WSGIApplication | None = apps.get(environ["PATH_INFO"])
        if page is None:
            start_response("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
            return [f"not here; there are {', '.join(apps)}\n".encode()]
        return page(environ, start_response)

    return app
