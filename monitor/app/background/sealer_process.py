"""Seals the audit trail in a process of its own, so that sealing never takes the interpreter from the events."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress
from multiprocessing.connection import Connection

from pydantic import SecretStr

from monitor.app.background.process import child_process
from monitor.app.background.timers import Timers, survive
from monitor.app.wiring.application import Application
from monitor.core.settings.load import Settings
from monitor.core.stage import stage

_GRACE = 30.0  # seconds for the batch in hand
_NAME = "sealing the audit trail"
_STAMPING = "time-stamping checkpoints"
_STAMP_ROUND = 60.0  # seconds until an authority that failed is asked again


def sealer_process(application: Application) -> AbstractContextManager[None]:
    """Seals every `audit.every` seconds while the block runs, and once more at its end, if sealing is enabled.

    Raises:
        WrongSettings: there is no key, or the settings of a witness are incomplete.
    """
    if not application.settings.audit.enabled:
        return nullcontext()
    application.auditing.sealer()  # these raise here, before anything is read, where the settings are wrong
    application.auditing.stamper()
    url = SecretStr(application.database_url)
    settings = application.settings.model_copy(update={"database_url": url})
    return child_process(_seal, settings, name="sealing", grace=_GRACE, ended=application.process_metrics.ended)


def _seal(settings: Settings, parent: Connection) -> None:
    with Application(settings) as application:
        sealer = application.auditing.sealer()

        def seal() -> None:
            with stage("seal") as sealing:
                sealing.add(leaves=sealer.seal_and_sign(application.now()))

        with Timers() as stamping:  # of its own, so that the last sealing does not wait for an authority
            if (stamper := application.auditing.stamper()) is not None:
                stamping.every(_STAMP_ROUND, lambda: stamper.run(application.now()), name=_STAMPING)
            with Timers() as timers, suppress(EOFError, OSError):
                timers.every(settings.audit.every, seal, name=_NAME, at_once=False)
                parent.recv()  # the parent sends nothing; this returns when it closes its end, or dies
            survive(seal, _NAME)
