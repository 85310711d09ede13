"""Appends events to a file of JSON lines, which `monitor replay` reads and `monitor run FILE` follows."""

from __future__ import annotations

import os
from collections.abc import Sequence

try:
    import fcntl
except ImportError:  # Windows: processes must not share the file there
    fcntl = None  # type: ignore[assignment]

from monitor.client.sender import Encoded, Unavailable


class FileSender:
    """Appends whole batches to `path`; processes may share the file. After a full disk no half line stays behind."""

    def __init__(self, path: str) -> None:
        self._path = path

    def send(self, events: Sequence[Encoded]) -> Sequence[str]:
        lines = b"".join(event.body + b"\n" for event in events)
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
            try:
                _append(descriptor, lines)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise Unavailable(f"{self._path} cannot be written: {error.strerror or error}") from error
        return ()

    def close(self) -> None:
        """Nothing stays open between two batches."""


def _append(descriptor: int, lines: bytes) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # released when the descriptor is closed
    before = os.fstat(descriptor).st_size
    rest = memoryview(lines)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        os.ftruncate(descriptor, before)
        raise
