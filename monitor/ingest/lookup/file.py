"""Finds texts in a file of JSON lines, by an index of 16 bytes a line; the file is read again when it changes."""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import BinaryIO

import numpy as np
from typing_extensions import override

from monitor.core.errors import Retriable
from monitor.core.model import Json
from monitor.ingest.dotted_path import at_path
from monitor.ingest.lookup.lookup import DocumentLookup, FoundTexts

_LOOKS_EVERY = 2.0  # seconds between looks at whether the file has changed
_SHARE = 10  # a file that changes all the time is being read for at most a tenth of it
_LONGEST_LINE = 8 * 2**20  # bytes; longer ones are left out


class FileLookup(DocumentLookup):
    """Reads `path`, a line for each document, with its id at `id_path` and its text at `text_path`.

    Of several lines with one id the last counts. Lines that are no such objects are left out.
    """

    def __init__(
        self, path: Path, *, text_path: str = "text", id_path: str = "id", clock: Callable[[], float] = monotonic
    ) -> None:
        self._path = path
        self._text_path, self._id_path = text_path, id_path
        self._clock = clock
        self._lock = Lock()
        self._look_at = float("-inf")
        self._version: tuple[int, int, int] | None = None
        self._file: BinaryIO | None = None
        self._hashes = np.zeros(0, dtype=np.uint64)  # sorted
        self._offsets = np.zeros(0, dtype=np.uint64)

    @override
    def texts(self, app: str, ids: Sequence[str]) -> Mapping[str, str]:
        found = FoundTexts(self.describe())
        with self._lock:
            try:
                self._refresh()
                for key in ids:
                    if (text := self._text(key)) is not None and not found.add(key, text):
                        break
            except OSError as error:
                self._look_at, self._version = float("-inf"), None
                raise Retriable(f"{self._path}: {error.strerror}") from None
        return found.by_id

    @override
    def describe(self) -> str:
        return f"file {self._path}"

    @override
    def close(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file, self._version, self._look_at = None, None, float("-inf")

    def _refresh(self) -> None:
        if self._clock() < self._look_at:
            return
        status = self._path.stat()
        version = (status.st_ino, status.st_size, status.st_mtime_ns)
        if version == self._version:
            self._look_at = self._clock() + _LOOKS_EVERY
            return
        begun = self._clock()
        if self._file is not None:
            self._file.close()
        self._file = self._path.open("rb")
        hashes, offsets = array("Q"), array("Q")
        for offset, key, _ in self._documents(self._file):
            hashes.append(_hash(key))
            offsets.append(offset)
        unsorted = np.frombuffer(hashes, dtype=np.uint64)
        order = np.argsort(unsorted, kind="stable")
        self._hashes, self._offsets = unsorted[order], np.frombuffer(offsets, dtype=np.uint64)[order]
        self._version = version
        self._look_at = self._clock() + max(_LOOKS_EVERY, _SHARE * (self._clock() - begun))

    def _text(self, key: str) -> str | None:
        if self._file is None:
            return None
        wanted = np.uint64(_hash(key))
        first = int(np.searchsorted(self._hashes, wanted, side="left"))
        last = int(np.searchsorted(self._hashes, wanted, side="right"))
        for place in range(last - 1, first - 1, -1):
            self._file.seek(int(self._offsets[place]), os.SEEK_SET)
            document = self._document(self._file.readline(_LONGEST_LINE))
            if document is not None and document[0] == key:
                return document[1]
        return None

    def _documents(self, file: BinaryIO) -> Iterator[tuple[int, str, str]]:
        offset = 0
        begins = True  # whether the next piece is the beginning of a line
        while line := file.readline(_LONGEST_LINE):
            if begins and (document := self._document(line)) is not None:
                yield offset, *document
            begins = line.endswith(b"\n")
            offset += len(line)

    def _document(self, line: bytes) -> tuple[str, str] | None:
        """The id and the text of a line."""
        try:
            event: Json = json.loads(line)
        except (ValueError, RecursionError):
            return None
        key, text = at_path(event, self._id_path), at_path(event, self._text_path)
        if isinstance(key, bool) or not isinstance(key, str | int) or not isinstance(text, str):
            return None
        return str(key), text


def _hash(key: str) -> int:
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
