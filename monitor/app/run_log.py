"""What a long run logs of its batches."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable
from datetime import datetime, timedelta

from monitor.app.logs import ledger_line
from monitor.core.assessment_json import rejection
from monitor.core.batch import Batch, Tally
from monitor.core.model import Interaction
from monitor.core.text.plain import readable

log = logging.getLogger(__name__)
REJECTIONS = 5  # rejected messages named for one batch
_APPS = 100  # of which the first answer is named
BETWEEN_LEDGERS = timedelta(minutes=1)


class RunLog:
    """Logs the first answer of each app, the rejected messages of each batch, and the ledger once a minute."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._total = Tally()
        self._next = now() + BETWEEN_LEDGERS
        self._apps: set[str] = set()

    def written(self, batch: Batch, tally: Tally) -> None:
        self._total += tally
        if tally.assessed:  # a batch of duplicates stores nothing
            for assessment in batch.assessments:
                self._note(assessment.interaction)
        for letter in batch.dead_letters[:REJECTIONS]:
            at = letter.message.position
            place = {"topic": at.topic, "partition": at.partition, "offset": at.offset}
            log.warning("rejected %s", readable(rejection(letter)), extra=place)
        if len(batch.dead_letters) > REJECTIONS:
            log.warning("rejected %d more; `monitor deadletters list` has them", len(batch.dead_letters) - REJECTIONS)
        if self._now() >= self._next:
            self._next = self._now() + BETWEEN_LEDGERS
            log.info("so far %s", ledger_line(self._total))

    def _note(self, it: Interaction) -> None:
        if it.app not in self._apps and len(self._apps) < _APPS:
            self._apps.add(it.app)
            log.info(
                "the first answer of %s: monitor explain %s",
                readable(it.app),
                readable(shlex.quote(f"{it.app}/{it.id}")),
                extra={"app": it.app, "interaction_id": it.id},
            )
