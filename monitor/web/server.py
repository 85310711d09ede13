"""`monitor serve`: runs the dashboard in uvicorn until it is asked to stop."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from threading import Event, Thread
from urllib.parse import urlsplit

import uvicorn

from monitor.app.background.sealer_process import sealer_process
from monitor.app.metrics.stage_times import StageTimes
from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.stage import observed_by
from monitor.store.tokens import Access
from monitor.web.app import create_app
from monitor.web.base.access import Permission, Role
from monitor.web.base.guard import LOOPBACK, Guard
from monitor.web.collect.door import Door
from monitor.web.collect.http import Beside, CollectApp
from monitor.web.collect.senders import Senders
from monitor.web.connections import LimitedConnection, authority, listening
from monitor.web.signin.signin_link import sign_in_link

log = logging.getLogger(__name__)


def _log_link(link: str) -> None:
    log.info("sign in by this link, which works once: %s", link)


def serve(application: Application, stop: Event, *, tell_link: Callable[[str], None] = _log_link) -> None:
    """Serves until `stop` is set, and answers requests under way before it returns.

    `tell_link` gets the link that signs in the user of this machine, while there is one.

    Raises:
        WrongSettings: the address cannot be used, or is open to other machines while nobody could sign in.
        OutOfReach: the database is out of reach.
    """
    settings = application.settings.web
    application.migrate()
    access = Access(application.engine)
    public = application.settings.public_url or ""
    only_tokens = (
        settings.oidc.issuer is not None or not {settings.host, urlsplit(public).hostname or settings.host} <= LOOPBACK
    )
    if (
        settings.host not in LOOPBACK
        and settings.oidc.issuer is None
        and not _anyone_may_sign_in(access, application.now())
    ):
        raise WrongSettings(
            f"MONITOR_WEB__HOST={settings.host} lets other machines in, but nobody could sign in: make an access token "
            "(`monitor tokens create NAME --role admin`), or set MONITOR_WEB__OIDC__…"
        )
    guard = Guard(access=access, now=application.now, public=public, only_tokens=only_tokens)
    app, listens = create_app(application, guard), listening(settings.host, settings.port, "MONITOR_WEB__HOST, …__PORT")
    sending = CollectApp(_door(application, access, only_tokens=only_tokens))
    server = uvicorn.Server(
        uvicorn.Config(
            Beside(sending, app),
            http=LimitedConnection,
            ws="none",
            log_level=settings.log_level,
            access_log=settings.log_level == "info",
            log_config=None,  # its lines are ours, see monitor/app/logs.py
            server_header=False,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=list(settings.trusted_proxies),
            lifespan="off",
            timeout_graceful_shutdown=5,
        )
    )
    host, port = listens.getsockname()[:2]
    address = f"http://{authority(host, port)}"
    log.info("dashboard: %s/", address)
    if not guard.is_closed():
        tell_link(sign_in_link(address, guard))
    thread = Thread(target=server.run, kwargs={"sockets": [listens]}, name="web")  # the main thread handles signals
    thread.start()
    # with the embedded database, no other process may be running that seals new rows and acts
    sealing = sealer_process(application) if application.settings.database_url is None else nullcontext()
    try:
        with observed_by(StageTimes(application.process_metrics.ended)), sealing:
            while thread.is_alive() and not stop.wait(0.2):
                pass
    finally:
        server.should_exit = True
        thread.join()
        sending.close()
        listens.close()
        app.state.jobs.stop()


def _door(application: Application, access: Access, *, only_tokens: bool) -> Door:
    senders = Senders(access, application.now, only_tokens=only_tokens)
    return Door(application.collecting.intake, senders, application.settings.collect, application.now)


def _anyone_may_sign_in(access: Access, now: datetime) -> bool:
    return any(token.holds(now) and Role(token.role).may(Permission.VIEW) for token in access.tokens())
