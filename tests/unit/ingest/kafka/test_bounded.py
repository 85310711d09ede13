"""The records of a response, as the client reads them through our classes."""

from __future__ import annotations

import struct
from functools import partial
from hashlib import sha256
from types import SimpleNamespace

import lz4.frame
import pytest
from kafka import TopicPartition, errors
from kafka.record import MemoryRecords, MemoryRecordsBuilder

from monitor.ingest.kafka.bounded import UnreadableBatchError, _PartitionRecords

MIB = 2**20
RAG = TopicPartition("rag", 0)
NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)


def batch(*values, codec=NONE, magic=2, first=0, headers=()):
    builder = MemoryRecordsBuilder(magic, codec, 2**30)
    for value in values:
        builder.append(1, None, value, list(headers))
    builder.close()
    data = bytearray(builder.buffer())
    struct.pack_into(">q", data, 0, first + (len(values) - 1 if magic == 1 and codec else 0))  # as the broker does
    return bytes(data)


def part(*batches, most=4 * MIB, room=64 * MIB, fetch_offset=0):
    fetcher = SimpleNamespace(room=room)
    return fetcher, _PartitionRecords(fetcher, most, fetch_offset, RAG, MemoryRecords(b"".join(batches)))


def values(taken):
    return [(record.offset, record.value) for record in taken]


@pytest.mark.parametrize("codec", [NONE, GZIP, SNAPPY, LZ4, ZSTD])
def test_batches_within_the_limit_are_read_as_ever(codec):
    _, records = part(batch(b"a", b"b", codec=codec), batch(b"c", codec=codec, first=2))
    assert values(records.take(10)) == [(0, b"a"), (1, b"b"), (2, b"c")]


def test_zstd_is_read_without_the_package_that_the_client_writes_it_with(monkeypatch):
    written = batch(b"a", b"b", codec=ZSTD)
    monkeypatch.setattr("kafka.codec.zstd", None)
    _, records = part(written)
    assert values(records.take(10)) == [(0, b"a"), (1, b"b")]


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4])
def test_messages_of_the_old_format_are_read_as_ever(codec):
    _, records = part(batch(b"a", b"b", codec=codec, magic=1))
    assert values(records.take(10)) == [(0, b"a"), (1, b"b")]


def old_checksum(data):
    """The frame with a wrong checksum of its header, as clients of message format v0 write it."""
    at = 14 if data[4] & 0x08 else 6
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


@pytest.mark.parametrize("size", [False, True])
@pytest.mark.parametrize("linked", [False, True])
def test_lz4_of_the_oldest_format_is_read_although_its_header_has_a_wrong_checksum(monkeypatch, size, linked):
    def written(data):
        return old_checksum(
            lz4.frame.compress(data, store_size=size, block_linked=linked, content_checksum=True, block_size=4)
        )

    monkeypatch.setattr("kafka.record.legacy_records.lz4_encode_old_kafka", written)
    _, records = part(batch(b"a" * 500, codec=LZ4, magic=0))
    assert values(records.take(10)) == [(0, b"a" * 500)]


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_a_batch_over_the_limit_is_named_with_its_place_and_digest(codec):
    bomb = batch(bytes(3 * MIB), bytes(3 * MIB), codec=codec, first=7)
    _, records = part(batch(b"a", first=6), bomb, fetch_offset=6)
    assert values(records.take(10)) == [(6, b"a")]
    for _ in range(2):  # and it stays so
        with pytest.raises(UnreadableBatchError) as caught:
            records.take(10)
    found = caught.value
    assert (found.first, found.last, found.size, found.sha256) == (7, 8, len(bomb), sha256(bomb).hexdigest())


def test_an_old_message_that_holds_too_much_is_named():
    _, records = part(batch(bytes(3 * MIB), bytes(3 * MIB), codec=GZIP, magic=1))
    with pytest.raises(UnreadableBatchError) as caught:
        records.take(10)
    assert (caught.value.first, caught.value.last) == (0, 1)


def test_many_empty_messages_of_the_old_format_are_refused_before_the_client_lists_them():
    _, records = part(batch(*[b""] * 20_000, codec=GZIP, magic=1))  # 680 kB, and 10 MiB as Python objects
    with pytest.raises(UnreadableBatchError, match="takes more than"):
        records.take(10)


@pytest.mark.parametrize("length", [-12, 0, 2**30])
def test_an_old_message_that_lies_about_its_length_is_refused(monkeypatch, length):
    """With -12 the client would stand still and fill the memory."""
    inner = bytearray(batch(b"abc", magic=1))
    struct.pack_into(">i", inner, 8, length)
    monkeypatch.setattr("monitor.ingest.kafka.bounded.decompressed", lambda *_: inner)
    _, records = part(batch(b"abc", codec=GZIP, magic=1))
    with pytest.raises(UnreadableBatchError, match="wrong length"):
        records.take(10)


def test_a_batch_of_countless_empty_records_is_read_piece_by_piece():
    _, records = part(batch(*[b""] * 50_000, codec=ZSTD))
    taken = iter(partial(records.take, 512), [])
    assert sum(len(next(taken)) for _ in range(3)) == 3 * 512


def test_a_poll_ends_where_its_room_does():
    """Small batches, each within its limit, would fill the memory together."""
    fetcher, records = part(*[batch(bytes(MIB), codec=ZSTD, first=n) for n in range(9)], room=3 * MIB)
    assert [record.offset for record in records.take(512)] == [0, 1, 2]
    assert [record.offset for record in records.take(512)] == [3]  # at least one
    fetcher.room = 2 * MIB
    assert [record.offset for record in records.take(512)] == [4, 5]


def test_keys_and_headers_take_room_too():
    builder = MemoryRecordsBuilder(2, ZSTD, 2**30)
    for _ in range(4):
        builder.append(1, bytes(MIB), b"", [("h", bytes(MIB))])
    builder.close()
    _, records = part(builder.buffer(), room=2 * MIB, most=16 * MIB)
    assert len(records.take(512)) == 1


def test_a_record_with_countless_headers_is_not_read():
    _, records = part(batch(b"a", codec=ZSTD, headers=[("", b"")] * 10_001))
    with pytest.raises(errors.CorruptRecordError, match="10,001 headers"):
        records.take(1)
