"""`monitor run`: the one long-running process of a small installation: a source, the flow, and the alert rules."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event

from monitor.app import Application
from monitor.errors import WrongSettings
from monitor.ingest.files import STDIN, FileSource
from monitor.ingest.follow import FollowSource
from monitor.model import Batch, Tally
from monitor.ports import Source
from monitor.schedule import AlertLoop, scheduled
from monitor.terminal import ledger_line, readable
from monitor.wire import rejection

log = logging.getLogger(__name__)
REJECTIONS = 5  # named of one batch
BETWEEN_LEDGERS = timedelta(minutes=1)


class Told:
    """Says in the log what a run has read: each message that was rejected, and now and then the ledger."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._total = Tally()
        self._next = now() + BETWEEN_LEDGERS

    def written(self, batch: Batch, tally: Tally) -> None:
        """Told of every stored batch."""
        self._total += tally
        for letter in batch.dead_letters[:REJECTIONS]:
            log.warning("rejected %s", readable(rejection(letter)))
        if len(batch.dead_letters) > REJECTIONS:
            log.warning("rejected %d more; `monitor deadletters list` has them", len(batch.dead_letters) - REJECTIONS)
        if self._now() >= self._next:
            self._next = self._now() + BETWEEN_LEDGERS
            log.info("so far %s", ledger_line(self._total))


def serve(
    application: Application, files: Sequence[Path], *, app: str | None, dialect: str | None, stop: Event
) -> Tally:
    """Runs until `stop` is set, or standard input ends, and returns the ledger of the run.

    Once it has started, a database or provider that goes away is waited for as long as it takes, and nothing is
    acknowledged meanwhile.

    Raises:
        OutOfReach: there is no database at the start.
        WrongSettings: a file, a setting or the rules are wrong; nothing was read then.
        Fatal: something refused for good.
    """
    settings = application.settings
    application.prepare()
    source = _source(application, files, stop)
    written = Told(application.now).written
    stages = application.stages(source, app=app, dialect=dialect, stop=stop, written=written)
    loop = AlertLoop(
        rules=application.rules,
        store=application.alert_store,
        receivers=application.receivers,
        examples=application.queries.examples,
        link=application.link,
    )
    kind = "embedded database" if settings.database_url is None else "MONITOR_DATABASE_URL"
    log.info("storing in the %s, profile %s, embedder %s", kind, application.profile.name, application.embedder.model)
    log.info("rules: %s; told: %s", ", ".join(r.name for r in loop.rules), ", ".join(loop.receivers))
    for file in files:
        log.info("following %s%s", file, "" if file == STDIN or file.exists() else ", which does not exist yet")
    try:
        with scheduled(loop, interval=settings.evaluation_interval, now=application.now):
            return stages.run()
    finally:
        source.close()


def _source(application: Application, files: Sequence[Path], stop: Event) -> Source:
    limit = application.settings.ingest.max_message_bytes
    if list(files) == [STDIN]:
        return FileSource(files, max_message_bytes=limit, now=application.now)
    if STDIN in files:
        raise WrongSettings("-: standard input cannot be followed together with files")
    return FollowSource(
        files, known=application.queries.offsets(), now=application.now, max_message_bytes=limit, stop=stop
    )
