"""Where the tests' databases lie."""

from __future__ import annotations

import shutil
from pathlib import Path

_MEMORY = Path("/dev/shm")  # noqa: S108  a folder of random name is made in it
_ROOM = 4 * 2**30  # bytes; a server needs some hundred megabytes


def database_place() -> str | None:
    """A folder in memory where there is much room in it, else None: the usual folder for temporary files.

    Tests make and remove tables all the time, each of which is several files: on a disk half of the server's work.
    """
    try:
        free = shutil.disk_usage(_MEMORY).free
    except OSError:
        return None
    return str(_MEMORY) if free >= _ROOM else None
