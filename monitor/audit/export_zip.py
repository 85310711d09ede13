"""Writes the files of an export's ZIP with the hash of each, to a file or for a stream."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO, UnsupportedOperation
from typing import IO

from typing_extensions import override

from monitor.core.model import Json

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a ZIP can hold
_UNIX, _MODE = 3, 0o100644 << 16


class Unsent(BytesIO):
    """What was written since the last `take`. Without `tell`, a ZIP is never changed where it was sent already."""

    @property
    def size(self) -> int:
        return self.getbuffer().nbytes

    @override
    def tell(self) -> int:
        raise UnsupportedOperation("what was sent is not here any more")

    def take(self) -> bytes:
        taken = self.getvalue()
        self.seek(0)
        self.truncate()
        return taken


class HashedFile:
    """Writes to a file, and counts and hashes what it writes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = sha256()
        self._length = 0

    def write(self, content: bytes) -> None:
        self._file.write(content)
        self._digest.update(content)
        self._length += len(content)

    def manifest_entry(self) -> dict[str, Json]:
        return {"bytes": self._length, "sha256": self._digest.hexdigest()}


class ZipWriter:
    """Writes the files of a ZIP without time and platform, so that the same content gives the same bytes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.written: dict[str, Json] = {}

    @contextmanager
    def file(self, name: str) -> Iterator[HashedFile]:
        info = zipfile.ZipInfo(name, _EPOCH)
        info.create_system, info.external_attr, info.compress_type = _UNIX, _MODE, zipfile.ZIP_DEFLATED
        with self._archive.open(info, "w", force_zip64=True) as file:
            hashed = HashedFile(file)
            yield hashed
        self.written[name] = hashed.manifest_entry()
