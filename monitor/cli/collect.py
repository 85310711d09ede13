"""`monitor collect`: takes spans and events from chatbots."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.opening import opened
from monitor.cli.terminal import stopping

if TYPE_CHECKING:
    from monitor.core.settings.collect import CollectSettings

log = logging.getLogger(__name__)


def collect(
    *,
    receive_only: Annotated[
        bool, typer.Option("--receive-only", help="Keep what comes; leave the rest to other processes.")
    ] = False,
) -> None:
    """Take OpenTelemetry traces and events by HTTP and gRPC, assess each answer, and evaluate the alert rules.

    OTLP comes to port 4318 (HTTP) and, with the extra `grpc` of the package, to 4317 (gRPC); other events to POST
    /v1/interactions. What is answered with success is stored. Stops cleanly on SIGTERM.
    """
    from monitor.app.logs import ledger_line, say
    from monitor.app.run import collect as run_until_stopped
    from monitor.store.tokens import Access
    from monitor.web.collect.server import collect_server

    logging.getLogger("monitor").setLevel(logging.INFO)
    with stopping() as stop, opened(migrated=False) as application:
        listens = _with_grpc_or_without(application.settings.collect)

        def receive() -> None:
            collect_server(
                application.collecting.intake,
                Access(application.engine),
                listens,
                now=application.now,
                stop=stop,
            )

        tally = run_until_stopped(application, receive, receive_only=receive_only, stop=stop)
    if not receive_only:
        say(ledger_line(tally))


def _with_grpc_or_without(settings: CollectSettings) -> CollectSettings:
    """The settings; without the package of gRPC only HTTP is served, unless a port for gRPC is asked for.

    Raises:
        WrongSettings: one is asked for.
    """
    from monitor.app.wiring.collect import grpc_can_be_served

    if settings.grpc_port is None or grpc_can_be_served(settings):
        return settings
    log.warning("OTLP is taken over HTTP only; for gRPC too: pip install 'rag-monitor[grpc]'")
    return settings.model_copy(update={"grpc_port": None})
