"""Connects without keeping anybody waiting who wants to stop."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Event, Thread
from typing import TypeVar

from monitor.core.retry import Interrupted

T = TypeVar("T")
_LOOK = 0.1  # seconds between two looks at `stop`


def unless_stopped(stop: Event, connect: Callable[[], T]) -> T:
    """What `connect` returns or raises; it runs on a thread of its own, which nothing waits for once `stop` is set.

    For clients that look for a server for many seconds and cannot be interrupted. Nothing is in flight meanwhile.

    Raises:
        Interrupted: `stop` was set first.
    """
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(connect())
        except BaseException as error:  # noqa: BLE001  raised again on the caller's thread
            future.set_exception(error)

    Thread(target=work, name="connect", daemon=True).start()
    while not wait([future], _LOOK).done:
        if stop.is_set():
            raise Interrupted("stopped while connecting; nothing was read")
    return future.result()
