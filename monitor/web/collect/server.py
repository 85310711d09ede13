"""The door as a server of its own, for `monitor collect`; `monitor serve` has it beside the dashboard."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime
from threading import Event, Thread

import uvicorn

from monitor.app.collect.intake import Intake
from monitor.core.errors import WrongSettings
from monitor.core.settings.collect import CollectSettings
from monitor.store.tokens import Access
from monitor.web.base.guard import LOOPBACK
from monitor.web.collect.door import Door
from monitor.web.collect.http import THREADS, CollectApp
from monitor.web.collect.senders import Senders
from monitor.web.connections import LimitedConnection, authority, listening

log = logging.getLogger(__name__)
_KEEP_ALIVE = 60  # seconds; exporters send every five seconds, and a connection that closes just then costs them a try
_GRACE = 10  # seconds that requests under way have when the server stops


class _LastingConnection(LimitedConnection):
    head_seconds = float(_KEEP_ALIVE)


def collect_server(
    intake: Intake,
    access: Access,
    settings: CollectSettings,
    *,
    now: Callable[[], datetime],
    stop: Event,
    ready: Callable[[int, int | None], None] = lambda _port, _grpc_port: None,
) -> None:
    """Serves until `stop` is set; then answers requests under way, and tells others to come again.

    `ready` is called with the ports of HTTP and gRPC as soon as both answer.

    Raises:
        WrongSettings: an address or certificate cannot be used, or other machines are let in while there is no token.
        Retriable: the database is out of reach.
    """
    only_tokens = settings.host not in LOOPBACK
    if only_tokens and not access.closed():
        raise WrongSettings(
            f"MONITOR_COLLECT__HOST={settings.host} lets other machines in, but there is no access token: make one "
            "(`monitor tokens create NAME --role collect --app APP`)"
        )
    door = Door(intake, Senders(access, now, only_tokens=only_tokens), settings, now)
    with (
        closing(listening(settings.host, settings.port, "MONITOR_COLLECT__HOST, …__PORT")) as listens,
        closing(CollectApp(door)) as app,
        ThreadPoolExecutor(THREADS, thread_name_prefix="collect-grpc") as executor,
    ):
        server = uvicorn.Server(_config(app, settings))
        by_grpc, grpc_port = None, None
        if settings.grpc_port is not None:
            from monitor.web.collect.grpc import grpc_server  # noqa: PLC0415  its package comes with an extra

            by_grpc, grpc_port = grpc_server(door, settings, executor)
            by_grpc.start()
        thread = Thread(target=server.run, kwargs={"sockets": [listens]}, name="collect")
        thread.start()  # the main thread handles signals
        port = listens.getsockname()[1]
        log.info("OTLP and interactions: http%s://%s", "s" * bool(settings.tls_key), authority(settings.host, port))
        if grpc_port is not None:
            log.info("OTLP/gRPC: %s", authority(settings.host, grpc_port))
        ready(port, grpc_port)
        try:
            while thread.is_alive() and not stop.wait(0.2):
                pass
        finally:
            door.admission.close()
            server.should_exit = True
            if by_grpc is not None:
                by_grpc.stop(_GRACE).wait()
            thread.join()


def _config(app: CollectApp, settings: CollectSettings) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        http=_LastingConnection,
        timeout_keep_alive=_KEEP_ALIVE,
        ws="none",
        log_level="warning",
        access_log=False,
        log_config=None,  # its lines are ours, see monitor/app/logs.py
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        timeout_graceful_shutdown=_GRACE,
    )
    try:
        config.load()
    except OSError as error:  # also when key and certificate do not belong together
        raise WrongSettings(f"MONITOR_COLLECT__TLS_…: cannot be used: {error}") from None
    return config
