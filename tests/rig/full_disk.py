"""A disk that is full, as far as this process can tell."""

from __future__ import annotations

import resource
from contextlib import contextmanager


@contextmanager
def room_for(length):
    """No file of this process gets longer, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (length, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
