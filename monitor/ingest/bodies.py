"""Whole files as messages: a request body as it was sent, what the Collector's file exporter writes, or JSON Lines.

Plain or compressed by gzip or zstd; the bytes tell, not the name. The exporter writes a request a line as JSON, or
each after its length in four bytes, big-endian, as protobuf.
"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import IO

from monitor.core.errors import WrongSettings
from monitor.core.message import Message, Position

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MOST_BYTES = 512 * 2**20  # of a file, decompressed
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_LENGTH_BYTES = 4
_JSON_STARTS = (b"{", b"[", b'"')
_STDIN = Path("-")


def messages_of_file(path: Path, *, now: Callable[[], datetime]) -> Iterator[Message]:
    """The messages of a file in order; a position is (path, 0, place from 1).

    Raises:
        WrongSettings: the file cannot be read, or holds more than MOST_BYTES.
    """
    for number, value in _pieces(_content(path)):
        position = Position(topic=str(path), partition=0, offset=number)
        yield Message(value=value, position=position, received_at=now(), size=len(value))


def _pieces(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The bytes of each message with its number: that of the line in JSON Lines."""
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        return
    if start not in _JSON_STARTS or _is_prefixed(content):
        yield from enumerate(_prefixed(content) if _is_prefixed(content) else [content], start=1)
        return
    lines = content.split(b"\n")
    if len(lines) > 1 and _is_one_value(content, lines):
        yield 1, content
        return
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, line.rstrip(b"\r")


def _is_one_value(content: bytes, lines: list[bytes]) -> bool:
    """Whether the lines are one JSON value, written over several of them: the first of them is none."""
    first = next(line for line in lines if line.strip())
    if _is_json(first):
        return False
    return _is_json(content)


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return True


def _is_prefixed(content: bytes) -> bool:
    """Whether lengths lead from the start exactly to the end."""
    place = 0
    while place < len(content):
        length = int.from_bytes(content[place : place + _LENGTH_BYTES], "big")
        place += _LENGTH_BYTES + length
        if not length:
            return False
    return place == len(content)


def _prefixed(content: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(content):
        begin = place + _LENGTH_BYTES
        place = begin + int.from_bytes(content[place:begin], "big")
        yield content[begin:place]


def _content(path: Path) -> bytes:
    try:
        if path == _STDIN:
            return _decompressed(sys.stdin.buffer, path)
        with path.open("rb") as file:
            return _decompressed(file, path)
    except EOFError:
        raise WrongSettings(f"{path}: the compressed file is truncated") from None
    except (OSError, ValueError, zlib.error, zstd.ZstdError) as error:
        raise WrongSettings(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _decompressed(file: IO[bytes], path: Path) -> bytes:
    content = _limited(file, path)
    # opened again over the bytes: standard input cannot be read twice
    if content.startswith(_GZIP_MAGIC):
        with gzip.GzipFile(fileobj=BytesIO(content)) as plain:
            return _limited(plain, path)
    if content.startswith(_ZSTD_MAGIC):
        with zstd.ZstdFile(BytesIO(content), "rb") as plain:
            return _limited(plain, path)
    return content


def _limited(file: IO[bytes] | gzip.GzipFile | zstd.ZstdFile, path: Path) -> bytes:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise WrongSettings(f"{path}: holds more than {MOST_BYTES // 2**20} MiB; split it, or use `monitor replay`")
    return content
