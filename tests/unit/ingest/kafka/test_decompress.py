"""Decompression never yields more than its limit, whatever the data declares."""

from __future__ import annotations

import gzip
import struct
import sys
import tracemalloc

import lz4.frame
import pytest
import snappy
from hypothesis import given
from hypothesis import strategies as st
from kafka import codec as clients

from monitor.ingest.kafka.decompress import (
    GZIP,
    LZ4,
    SNAPPY,
    ZSTD,
    NotDecompressedError,
    decompressed,
    with_right_checksum,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MIB = 2**20
MOST = 4 * MIB
XERIAL = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
WRITTEN = {
    GZIP: clients.gzip_encode,
    SNAPPY: clients.snappy_encode,
    LZ4: clients.lz4_encode,
    ZSTD: zstd.compress,
}


def zstd_without_a_size(data):
    writer = zstd.ZstdCompressor()
    return writer.compress(data) + writer.flush()


def xerial(*blocks):
    return XERIAL + b"".join(struct.pack(">i", len(block)) + block for block in blocks)


@given(st.sampled_from(sorted(WRITTEN)), st.binary(max_size=200), st.integers(1, 2_000))
def test_what_the_client_writes_is_read_up_to_the_limit(codec, part, times):
    data = part * times
    assert decompressed(codec, WRITTEN[codec](data), len(data)) == data
    if data:
        with pytest.raises(NotDecompressedError, match="has more than"):
            decompressed(codec, WRITTEN[codec](data), len(data) - 1)


ZEROS = bytes(64 * MIB)
BOMBS = {
    "gzip": (GZIP, gzip.compress(ZEROS)),
    "gzip in many members": (GZIP, gzip.compress(bytes(MIB)) * 64),
    "snappy": (SNAPPY, snappy.compress(ZEROS)),
    "snappy in many blocks": (SNAPPY, xerial(*[snappy.compress(bytes(32_768))] * 2_048)),
    "snappy with a declared length only": (SNAPPY, b"\xff\xff\xff\xff\x0f" + b"\x00" * 9),
    "snappy with a block that declares too much": (SNAPPY, xerial(snappy.compress(b"a"), b"\xff\xff\xff\x7f\x00a")),
    "lz4": (LZ4, lz4.frame.compress(ZEROS, store_size=False)),
    "lz4 with its size": (LZ4, lz4.frame.compress(ZEROS, store_size=True)),
    "lz4 in many frames": (LZ4, lz4.frame.compress(bytes(MIB)) * 64),
    "zstd": (ZSTD, zstd.compress(ZEROS, level=19)),
    "zstd without its size": (ZSTD, zstd_without_a_size(ZEROS)),
    "zstd in many frames": (ZSTD, zstd.compress(bytes(MIB)) * 64),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_its_memory_is_taken(name):
    codec, data = BOMBS[name]
    tracemalloc.start()
    try:
        with pytest.raises(NotDecompressedError, match="has more than 4,194,304 bytes"):
            decompressed(codec, data, MOST)
        _, highest = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert highest < 4 * MOST + len(data)


DAMAGED = [
    *[(codec, b"nonsense") for codec in WRITTEN],
    *[(codec, write(b"abc" * 99)[:-5]) for codec, write in WRITTEN.items()],
    *[(codec, b"") for codec in (5, 6, 7)],  # the attributes of a batch have three bits for it
    (SNAPPY, b""),
    (SNAPPY, XERIAL + struct.pack(">i", -4)),  # would be read again and again
    (SNAPPY, XERIAL + struct.pack(">i", 0) * 2),
    (SNAPPY, XERIAL + struct.pack(">i", 99) + b"short"),
    (SNAPPY, XERIAL + b"\x00"),
    (SNAPPY, b"\x05\x00a"),  # declares more than it holds
    (SNAPPY, b"\xff" * 9),
]


# numbered, since gzip writes the time into its bytes: names of tests have to be the same in every process
@pytest.mark.parametrize(("codec", "data"), DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_data_is_named(codec, data):
    with pytest.raises(NotDecompressedError, match="cannot be decompressed"):
        decompressed(codec, data, MOST)


@given(st.binary(max_size=30))
def test_what_is_no_frame_of_the_oldest_format_is_damaged_and_nothing_else(data):
    with pytest.raises(NotDecompressedError):
        decompressed(LZ4, with_right_checksum(b"\x00" + data), MOST)
