"""Splits a stream of bytes into lines, whatever their length, within bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

CHUNK_BYTES = 256 * 1024


class Chunks(Protocol):
    def read1(self, size: int, /) -> bytes:
        """Some bytes, at most `size`, empty only at the end; waits only when there are none."""


def lines(chunks: Chunks, limit: int) -> Iterator[tuple[bytes, int] | None]:
    """Lines without their ends, at most `limit` + 1 bytes of each, with their full lengths; None before every read."""
    begun = bytearray()  # of the line that has not ended: its first bytes, its length, its last byte
    length, last = 0, b""
    while True:
        yield None
        chunk = chunks.read1(CHUNK_BYTES)
        if not chunk:
            break
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if length:
                begun += piece[: limit + 1 - len(begun)]
                yield _line(bytes(begun), length + len(piece), piece[-1:] or last)
                begun, length, last = bytearray(), 0, b""
            else:
                yield _line(piece[: limit + 1], len(piece), piece[-1:])
        begun += rest[: limit + 1 - len(begun)]
        length, last = length + len(rest), rest[-1:] or last
    if length:
        yield _line(bytes(begun), length, last)


def _line(value: bytes, length: int, last: bytes) -> tuple[bytes, int]:
    return (value[: length - 1], length - 1) if last == b"\r" else (value, length)
