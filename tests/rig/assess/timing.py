"""Processor time, for tests of how work grows with the size of an event."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time


def seconds(work: Callable[[], object]) -> float:
    """The processor time of `work` without garbage collection, which walks through all objects of the test run."""
    gc.disable()
    try:
        begun = process_time()
        work()
        return process_time() - begun
    finally:
        gc.enable()
