"""Threads for calls that may hang: unlike for the standard library's pool, the end of the program waits for none."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")
_Task = tuple[Future[Any], Callable[[], Any]]


class Pool:
    """Up to `size` daemon threads, started as they are needed."""

    def __init__(self, size: int, name: str) -> None:
        self._size = size
        self._name = name
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._lock = Lock()
        self._threads = self._idle = 0
        self._closed = False

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """The future of the call, which runs in the caller's context; cancelled at once if the pool is closed."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                future.cancel()
                return future
            self._tasks.put((future, partial(copy_context().run, call)))
            if self._idle >= self._tasks.qsize() or self._threads == self._size:
                return future
            self._threads += 1
        Thread(target=self._run, name=self._name, daemon=True).start()
        return future

    def close(self) -> None:
        """Cancels the calls that have not begun; those that have begun go on, and nothing waits for them."""
        with self._lock:
            self._closed = True
            while not self._tasks.empty():
                task = self._tasks.get()
                if task is not None:
                    task[0].cancel()
            for _ in range(self._threads):
                self._tasks.put(None)

    def _run(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            task = self._tasks.get()
            with self._lock:
                self._idle -= 1
            if task is None:
                return
            future, call = task
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001  raised again where the result is read
                future.set_exception(error)
            del task, future, call
