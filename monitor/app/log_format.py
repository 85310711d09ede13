"""How a log record is written: as a line for people, or as one JSON object.

Nothing that comes from outside can begin a line of its own. The text of a foreign exception is left out, since it may
quote what a chatbot said; its type and its place in the code say what went wrong.
"""

from __future__ import annotations

import json
import logging
import os
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from typing_extensions import override

from monitor.core.errors import MonitorError
from monitor.core.stage import current
from monitor.core.text.plain import readable

LogFormat: TypeAlias = Literal["text", "json"]

# What a line may say beside its message: `extra=` at the call, or the attributes of the stage that it is logged in.
FIELDS = (
    "app",
    "interaction_id",
    "topic",
    "partition",
    "offset",
    "rule",
    "receiver",
    "probe",
    "run",
    "trace_id",
    "span_id",
)
_INDENT = "\n    "
_FRAMES = 50  # of a traceback, the innermost
_LONGEST_FIELD = 200  # characters


class TextFormatter(logging.Formatter):
    """Time, level, logger and message; further lines of a message or a traceback are indented."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    @override
    def format(self, record: logging.LogRecord) -> str:
        line = f"{self.formatTime(record)} {record.levelname} {record.name}: {_message(record)}"
        if (error := _error(record)) is not None:
            line += f"\n{_traceback(error)}"
        return readable(line).replace("\n", _INDENT)


class JsonFormatter(logging.Formatter):
    """One JSON object a line, in ASCII; `command` is what this process does."""

    def __init__(self, command: str | None) -> None:
        super().__init__()
        self._command = command

    @override
    def format(self, record: logging.LogRecord) -> str:
        known: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            "command": self._command,
            "pid": os.getpid(),
            **_fields(record),
        }
        if (error := _error(record)) is not None:
            known["exception"] = f"{type(error).__module__}.{type(error).__qualname__}"
            known["traceback"] = _traceback(error)
        return json.dumps(known)


def _time(record: logging.LogRecord) -> str:
    """RFC 3339, in UTC."""
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):  # a library's message does not suit its arguments
        return str(record.msg)


def _fields(record: logging.LogRecord) -> Mapping[str, object]:
    """What the record says of itself, before what its stage says, and that before what the outer stages say."""
    found: dict[str, object] = {}
    stage = current()
    if stage is not None:
        found.update(stage.log_fields())
    while stage is not None:
        found = {**{name: value for name, value in stage.attributes.items() if name in FIELDS}, **found}
        stage = stage.parent
    found.update({name: value for name in FIELDS if (value := record.__dict__.get(name)) is not None})
    return {name: found[name] if isinstance(found[name], int) else str(found[name])[:_LONGEST_FIELD] for name in found}


def _error(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


def _traceback(error: BaseException) -> str:
    """The places and types of `error` and of what led to it, the first cause first."""
    parts: list[str] = []
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        name = f"{type(cause).__module__}.{type(cause).__qualname__}"
        ours = f"{name}: {cause}" if isinstance(cause, MonitorError) else name
        places = "".join(traceback.format_tb(cause.__traceback__, -_FRAMES))
        parts.append(f"Traceback (most recent call last):\n{places}{ours}")
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "\nwhich led to:\n".join(reversed(parts))
