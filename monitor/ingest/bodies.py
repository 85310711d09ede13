"""Whole files as messages: a request body as sent, what the Collector's file exporter writes, JSON or a table (CSV).

Plain or compressed by gzip or zstd; the bytes tell, not the name. The exporter writes a request a line as JSON, or
each after its length in four bytes, big-endian, as protobuf.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import IO

from monitor.core.errors import Fatal, WrongSettings
from monitor.core.message import Message, Position
from monitor.ingest.compression import DAMAGED, HEAD_BYTES, decompressed
from monitor.ingest.records import TABLE, Form, form_of, is_protobuf_like_json, records

MOST_BYTES = 512 * 2**20  # of a file, decompressed
_LENGTH_BYTES = 4
_JSON_STARTS = (b"{", b"[", b'"')
_STDIN = Path("-")


def messages_of_file(path: Path, *, now: Callable[[], datetime]) -> Iterator[Message]:
    """The messages of a file in order; a position is (path, 0, place from 1).

    Raises:
        WrongSettings: the file cannot be read, or holds more than MOST_BYTES.
        Fatal: a table cannot be read.
    """
    form = form_of(path)
    headers = TABLE if form is Form.TABLE else ()
    content = _content(path)
    try:
        for number, value in _pieces(content, form):
            position = Position(topic=str(path), partition=0, offset=number)
            yield Message(value=value, position=position, received_at=now(), size=len(value), headers=headers)
    except Fatal as error:
        raise Fatal(f"{path}: {error}") from None


def _pieces(content: bytes, form: Form) -> Iterator[tuple[int, bytes]]:
    """The bytes of each message with its number: that of the line in JSON Lines, of the row in a table."""
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        return
    if form is Form.JSON:
        bodies = _prefixed(content)
        if bodies is None and (start not in _JSON_STARTS or is_protobuf_like_json(content)):
            bodies = [slice(None)]
        if bodies is not None:
            yield from enumerate((content[body] for body in bodies), start=1)
            return
    pieces = (piece for piece in records(BytesIO(content), form, MOST_BYTES) if piece is not None)
    for number, (value, _) in enumerate(pieces, start=1):
        if value.strip():
            yield number, value


def _prefixed(content: bytes) -> list[slice] | None:
    """Where the bodies stand that follow their lengths; None if the lengths do not lead exactly to the end."""
    bodies: list[slice] = []
    end = 0
    while end < len(content):
        begin = end + _LENGTH_BYTES
        end = begin + int.from_bytes(content[end:begin], "big")
        if end == begin:
            return None
        bodies.append(slice(begin, end))
    return bodies if end == len(content) else None


def _content(path: Path) -> bytes:
    try:
        if path == _STDIN:
            return _plain(sys.stdin.buffer, path)
        with path.open("rb") as file:
            return _plain(file, path)
    except EOFError:
        raise WrongSettings(f"{path}: the compressed file is truncated") from None
    except (ValueError, *DAMAGED) as error:  # ValueError: a name with U+0000
        raise WrongSettings(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _plain(file: IO[bytes], path: Path) -> bytes:
    content = _limited(file, path)
    # opened again over the bytes: standard input cannot be read twice
    plain = decompressed(BytesIO(content), content[:HEAD_BYTES], path.suffix)
    if plain is None:
        return content
    with plain:
        return _limited(plain, path)


def _limited(file: IO[bytes] | BufferedIOBase, path: Path) -> bytes:
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise WrongSettings(f"{path}: holds more than {MOST_BYTES // 2**20} MiB; split it, or use `monitor replay`")
    return content
