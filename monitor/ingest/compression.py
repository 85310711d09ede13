"""Tells the compression of a file, gzip or zstd, and undoes it. The first bytes tell it, not the name."""

from __future__ import annotations

import gzip
import sys
import zlib
from io import BufferedIOBase
from typing import IO

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HEAD_BYTES = 4  # of a file, which tell its compression
DAMAGED = (OSError, zlib.error, zstd.ZstdError)  # what reading raises; gzip.BadGzipFile is an OSError

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE_MAGIC = b"\x2a\x4d\x18"  # after a byte 0x50 to 0x5f; pzstd starts its files with such a frame
_SUFFIXES = frozenset({".gz", ".zst"})


def is_compressed(head: bytes) -> bool:
    """Whether a file that begins with `head`, `HEAD_BYTES` or more, is compressed."""
    return head.startswith(_GZIP_MAGIC) or _is_zstd(head)


def decompressed(stream: IO[bytes], head: bytes, suffix: str) -> BufferedIOBase | None:
    """The stream decompressed, or None if it is plain; `head` are its first `HEAD_BYTES`, fewer only if it is shorter.

    Reading raises EOFError if the stream is truncated, and one of `DAMAGED` if it is damaged.

    Raises:
        EOFError: by its `suffix` the file is compressed, but it lost nearly all its bytes.
    """
    if head.startswith(_GZIP_MAGIC):
        return gzip.GzipFile(fileobj=stream)
    if _is_zstd(head):
        return zstd.ZstdFile(stream, "rb")
    # The rest of a compressed file that lost nearly all its bytes must not pass for an empty plain file.
    if len(head) < HEAD_BYTES and suffix in _SUFFIXES:
        raise EOFError
    return None


def _is_zstd(head: bytes) -> bool:
    return head.startswith(_ZSTD_MAGIC) or head[1:HEAD_BYTES] == _ZSTD_SKIPPABLE_MAGIC
