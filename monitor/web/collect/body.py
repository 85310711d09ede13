"""Decompresses the body of a request, never beyond the limit: a few kilobytes of gzip can hold gigabytes."""

from __future__ import annotations

import sys
import zlib
from http import HTTPStatus
from typing import Protocol

from monitor.web.collect.refusal import Refused

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ENCODINGS = ("identity", "gzip", "zstd", "deflate")
_MAX_FRAMES = 64  # of one body; senders write one, and each further one costs a copy of the rest
_WINDOW_LOG = 23  # 8 MiB, the most that RFC 9659 allows for the content coding zstd
_ZLIB = {"gzip": 31, "deflate": 15}  # wbits of zlib: which header it expects


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def check_encoding(encoding: str) -> str:
    """The `Content-Encoding` in lower case, `identity` if there is none.

    Raises:
        Refused: it is not known (415).
    """
    name = encoding.strip().lower() or "identity"
    if name not in ENCODINGS:
        known = ", ".join(ENCODINGS[1:])
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Content-Encoding must be one of {known}, or left out")
    return name


def decompressed(body: bytes, encoding: str, limit: int) -> bytes:
    """`body` without its encoding, one of `ENCODINGS`.

    Raises:
        Refused: it is not in this encoding or is cut (400), or has more than `limit` bytes (413).
    """
    if encoding == "identity" or not body:
        return body
    parts, size = [], 0
    for _ in range(_MAX_FRAMES):
        frame = _decompressor(encoding)
        try:
            part = frame.decompress(body, limit - size + 1)
        except (zlib.error, zstd.ZstdError):
            raise Refused(HTTPStatus.BAD_REQUEST, f"the body is not {encoding}") from None
        parts.append(part)
        size += len(part)
        if size > limit:
            raise too_long(limit)
        if not frame.eof:
            raise Refused(HTTPStatus.BAD_REQUEST, f"the body is cut: its {encoding} has no end")
        body = frame.unused_data
        if not body:
            return b"".join(parts)
    raise Refused(HTTPStatus.BAD_REQUEST, f"the body consists of more than {_MAX_FRAMES} pieces of {encoding}")


def too_long(limit: int) -> Refused:
    return Refused(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {limit:,} bytes, decompressed; send less at once"
    )


def _decompressor(encoding: str) -> _Decompressor:
    if encoding in _ZLIB:
        return zlib.decompressobj(_ZLIB[encoding])
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW_LOG})
