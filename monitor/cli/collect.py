"""`monitor collect`: takes spans and events from chatbots."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from monitor.cli.opening import opened
from monitor.cli.terminal import stopping


def collect(
    *,
    receive_only: Annotated[
        bool, typer.Option("--receive-only", help="Keep what comes; leave the rest to other processes.")
    ] = False,
) -> None:
    """Take OpenTelemetry traces and events by HTTP and gRPC, assess each answer, and evaluate the alert rules.

    OTLP comes to port 4318 (HTTP) and 4317 (gRPC), other events to POST /v1/interactions. What is answered with success
    is stored. Stops cleanly on SIGTERM.
    """
    from monitor.app.logs import ledger_line, say
    from monitor.app.run import collect as run_until_stopped
    from monitor.core.extras import require
    from monitor.store.tokens import Access
    from monitor.web.collect.server import collect_server

    logging.getLogger("monitor").setLevel(logging.INFO)
    with stopping() as stop, opened(migrated=False) as application:
        if application.settings.collect.grpc_port is not None:
            require("grpc", "OTLP over gRPC", otherwise="leave it out: MONITOR_COLLECT__GRPC_PORT=off")

        def receive() -> None:
            collect_server(
                application.collecting.intake,
                Access(application.engine),
                application.settings.collect,
                now=application.now,
                stop=stop,
            )

        tally = run_until_stopped(application, receive, receive_only=receive_only, stop=stop)
    if not receive_only:
        say(ledger_line(tally))
