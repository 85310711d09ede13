"""The sealer in a process of its own beside the events."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager, nullcontext
from multiprocessing.connection import Connection

from pydantic import SecretStr

from monitor.app.background.process import beside
from monitor.app.wiring.application import Application
from monitor.core.errors import MonitorError
from monitor.core.settings.load import Settings

log = logging.getLogger(__name__)
_GRACE = 30.0  # seconds for the batch at hand


def sealed_beside(application: Application) -> AbstractContextManager[None]:
    """Seals every `audit.every` seconds while the block runs, and once more at its end; where that is enabled.

    Raises:
        WrongSettings: there is no key, or a witness is set up by half.
    """
    if not application.settings.audit.enabled:
        return nullcontext()
    application.auditing.sealer  # noqa: B018  so that wrong settings are told at the start
    url = SecretStr(application.database_url)
    settings = application.settings.model_copy(update={"database_url": url})
    return beside(_seal, settings, name="sealing", grace=_GRACE)


def _seal(settings: Settings, parent: Connection) -> None:
    with Application(settings) as application:
        sealer, over = application.auditing.sealer, False
        while not over:
            try:
                over = parent.poll(settings.audit.every)  # the other end says nothing, so it is closed
                sealer.turn(application.now())
            except MonitorError as error:
                log.warning("%s; sealing is tried again in %g s", error, settings.audit.every)
            except Exception:
                log.exception("a defect in sealing; tried again in %g s", settings.audit.every)
