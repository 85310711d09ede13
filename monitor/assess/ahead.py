"""Does the next piece of work on another thread while the caller uses the result of the last one."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import TypeVar

from monitor.core.pool import Pool

T = TypeVar("T")
R = TypeVar("R")


def one_ahead(work: Callable[[T], R], items: Sequence[T]) -> Generator[R]:
    """Yields `work(item)` for each item, in order; the next call runs while the caller uses the result before it.

    The first call runs on the caller's thread. No two calls overlap, and at most one result waits. What a call raises
    is raised in its place, and ends it. When the caller stops early, the call under way is waited for.
    """
    if not items:
        return
    pool = Pool(1, "ahead")
    try:
        result = work(items[0])
        for item in items[1:]:
            coming = pool.submit(partial(work, item))
            try:
                yield result
            finally:
                coming.exception()  # waits: the caller may begin anew at once, and `work` may not run twice at a time
            result = coming.result()
        yield result
    finally:
        pool.close()
