"""Decompresses the records of a batch up to a limit, since a few kilobytes may stand for gigabytes."""

from __future__ import annotations

import gzip
import io
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import cramjam
import lz4.frame

from monitor.core.errors import MonitorError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
_PIECE = 2**20  # bytes that are decompressed at a time
_XERIAL = b"\x82SNAPPY\x00"  # begins the blocks that Java writes; two numbers follow it
_XERIAL_HEADER = 16
_LZ4_BLOCKS = range(4, 8)  # the sizes of blocks that there are
_LZ4_FLAGS, _LZ4_SIZES = 4, 5  # bytes of a frame, after the four that begin each
_DAMAGED = (
    *(EOFError, OSError, ValueError, IndexError, struct.error),
    *(zlib.error, zstd.ZstdError, cramjam.DecompressionError, RuntimeError),  # RuntimeError: lz4
)
_READERS: dict[int, Callable[[io.BytesIO], Any]] = {
    GZIP: lambda source: gzip.GzipFile(fileobj=source),
    LZ4: lambda source: lz4.frame.LZ4FrameFile(source, "rb"),
    ZSTD: lambda source: zstd.ZstdFile(source, "rb"),
}


_CODECS = frozenset({SNAPPY, *_READERS})


class NotDecompressedError(MonitorError):
    """The data is damaged, or longer than the limit when decompressed."""


def decompressed(codec: int, data: bytes, most: int) -> bytearray:
    """At most `most` bytes from `data`, in the format that Kafka gives to `codec`.

    Never more than `most` bytes and a piece are in memory, whatever lengths the data declares.

    Raises:
        NotDecompressedError: there are more bytes, the data is damaged, or Kafka has no such format.
    """
    out = bytearray()
    if codec not in _CODECS:
        raise NotDecompressedError(f"cannot be decompressed: {codec} is no compression that Kafka has")
    try:
        if codec == SNAPPY:
            for block in _snappy_blocks(data):
                # The length that a block declares is allocated before anything is decompressed.
                _check(len(out) + cramjam.snappy.decompress_raw_len(block), most)
                out += cramjam.snappy.decompress_raw(block)
            return out
        with _READERS[codec](io.BytesIO(data)) as reader:
            while piece := reader.read(_PIECE):
                _check(len(out) + len(piece), most)
                out += piece
    except _DAMAGED as error:
        raise NotDecompressedError(f"cannot be decompressed: {error}") from None
    return out


def with_right_checksum(frame: bytes) -> bytes:
    """An LZ4 frame of message format v0 with the checksum of its header corrected: by a bug, clients wrote a wrong one.

    Data that is no frame stays as it is.
    """
    if len(frame) <= _LZ4_SIZES or frame[_LZ4_SIZES] >> 4 not in _LZ4_BLOCKS:
        return frame
    flags = frame[_LZ4_FLAGS]
    header: bytes = lz4.frame.LZ4FrameCompressor(
        block_size=frame[_LZ4_SIZES] >> 4,
        block_linked=not flags & 0x20,
        block_checksum=bool(flags & 0x10),
        content_checksum=bool(flags & 0x04),
    ).begin()
    rest = len(header) + (8 if flags & 0x08 else 0)  # the size of the content, which may be left out
    return frame[:_LZ4_FLAGS] + header[_LZ4_FLAGS:] + frame[rest:]


def _check(length: int, most: int) -> None:
    if length > most:
        raise NotDecompressedError(f"has more than {most:,} bytes when decompressed")


def _snappy_blocks(data: bytes) -> Iterator[bytes]:
    if not data.startswith(_XERIAL):
        yield data
        return
    at = _XERIAL_HEADER
    while at < len(data):
        (length,) = struct.unpack_from(">i", data, at)
        at += 4
        if not 0 < length <= len(data) - at:
            raise ValueError(f"a block of {length} bytes with {len(data) - at} left")
        yield data[at : at + length]
        at += length
