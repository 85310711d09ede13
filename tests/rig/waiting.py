"""Waiting for others."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

TRIES, PAUSE = 1200, 0.05  # a minute on a machine that is busy; when all is well it takes a second or two
PATIENCE = TRIES * PAUSE


def until(what: str, holds: Callable[[], Any], *, tries: int = TRIES) -> Any:
    """The first true answer of `holds`. Another process cannot be waited for but by looking again and again."""
    for _ in range(tries):
        if answer := holds():
            return answer
        time.sleep(PAUSE)
    raise AssertionError(f"it never came to pass that {what}")
