"""A Kafka consumer whose memory is bounded, whatever producers send.

By itself the client decompresses a record batch as a whole, and a poll returns as many records as were asked for,
whatever their size. Its parsing of records is replaced here; none of it has a public name.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Any

from kafka import KafkaConsumer, errors
from kafka.consumer.fetcher import Fetcher
from kafka.record.default_records import DefaultRecordBatch
from kafka.record.legacy_records import LegacyRecordBatch
from kafka.record.util import decode_varint
from typing_extensions import override

from monitor.ingest.kafka.decompress import LZ4, NotDecompressedError, decompressed, with_right_checksum

_MOST_HEADERS = 10_000  # of a record
_HEADER = 128  # bytes of memory that a header takes beside its text
_LEGACY_MESSAGE = 512  # bytes of memory that a message of the old format takes beside its bytes
_LEGACY_SHORTEST = 14  # bytes of such a message after its length


class UnreadableBatchError(errors.CorruptRecordError):  # type: ignore[misc]  # kafka-python ships no types
    """A record batch that cannot be read, and will not be by another try: its checksum is right."""

    def __init__(self, why: str, batch: memoryview, *, first: int, last: int) -> None:
        super().__init__(why)
        self.why = why
        self.first = first  # offset; of an old batch 0, since it does not say
        self.last = last
        self.size = len(batch)
        self.sha256 = sha256(batch).hexdigest()


class BoundedConsumer(KafkaConsumer):  # type: ignore[misc]
    """A consumer that raises `UnreadableBatchError` for a batch with more than `max_record_batch_bytes`, decompressed.

    `room` is set before polls, and shrinks with each record by about the memory that it takes. A poll ends with the
    record that fills the room.
    """

    def __init__(self, *, max_record_batch_bytes: int, **configs: Any) -> None:
        super().__init__(**configs)
        self._fetcher = _BoundedFetcher(
            self._client,
            self._subscription,
            metrics=self._metrics,
            max_record_batch_bytes=max_record_batch_bytes,
            **self.config,
        )

    @property
    def room(self) -> int:
        room: int = self._fetcher.room
        return room

    @room.setter
    def room(self, size: int) -> None:
        self._fetcher.room = size


class _BoundedFetcher(Fetcher):  # type: ignore[misc]
    def __init__(self, client: Any, subscriptions: Any, *, max_record_batch_bytes: int, **configs: Any) -> None:
        super().__init__(client, subscriptions, **configs)
        self.room = 0
        self.PartitionRecords = partial(_PartitionRecords, self, max_record_batch_bytes)

    @override
    def _append(self, drained: Any, part: Any, max_records: int, update_offsets: bool) -> int:
        taken: int = super()._append(drained, part, max_records, update_offsets)
        return taken if self.room > 0 else max_records


class _PartitionRecords(Fetcher.PartitionRecords):  # type: ignore[misc]
    """The records of a partition in one response."""

    def __init__(
        self, fetcher: _BoundedFetcher, most: int, fetch_offset: int, partition: Any, records: Any, **rest: Any
    ) -> None:
        super().__init__(fetch_offset, partition, _Batches(records, most), **rest)
        self._fetcher = fetcher
        self._broken: Exception | None = None

    @override
    def take(self, n: int | None = None) -> Sequence[Any]:
        """The next records, at least one, within the room. Once broken, it stays so."""
        if self._broken is not None:
            raise self._broken
        records = []
        try:
            for record in itertools.islice(self.record_iterator, n):
                records.append(record)
                self._fetcher.room -= _memory(record)
                if self._fetcher.room <= 0:
                    break
        except Exception as error:
            self._broken = error
            if not records:
                raise
        return records


def _memory(record: Any) -> int:
    sizes = record.serialized_key_size, record.serialized_value_size, record.serialized_header_size  # -1: none
    size: int = sum(max(size, 0) for size in sizes)
    return size + _HEADER * len(record.headers)


class _Batches:
    """The batches of a response, each read within the limit."""

    def __init__(self, records: Any, most: int) -> None:
        self._records = records
        self._most = most

    def next_batch(self) -> Any:
        batch = self._records.next_batch()
        if batch is None:
            return None
        kind = _LegacyBatch if batch.magic < 2 else _Batch  # noqa: PLR2004
        return kind(batch, self._most)


class _Batch(DefaultRecordBatch):  # type: ignore[misc]
    _buffer: bytearray
    _pos: int
    _decompressed: bool

    def __init__(self, batch: DefaultRecordBatch, most: int) -> None:
        super().__init__(batch._buffer)  # noqa: SLF001
        self._most = most

    @override
    def _maybe_uncompress(self) -> None:
        if not self._decompressed and self.compression_type:
            batch = memoryview(self._buffer)
            try:
                self._buffer = decompressed(self.compression_type, bytes(batch[self._pos :]), self._most)
            except NotDecompressedError as error:
                raise UnreadableBatchError(str(error), batch, first=self.base_offset, last=self.last_offset) from None
            self._pos = 0
        self._decompressed = True

    @override
    def _read_msg(self) -> Any:
        headers = self._headers()  # before the client keeps them in memory
        if headers > _MOST_HEADERS:
            raise errors.CorruptRecordError(f"it has {headers:,} headers, more than {_MOST_HEADERS:,}")
        return super()._read_msg()

    def _headers(self) -> int:
        """How many headers the next record has."""
        at = self._pos
        for _ in ("length", "attributes", "timestamp", "offset"):
            _, at = decode_varint(self._buffer, at)
        for _ in ("key", "value"):
            length, at = decode_varint(self._buffer, at)
            at += max(length, 0)
        number: int = decode_varint(self._buffer, at)[0]
        return number


class _LegacyBatch(LegacyRecordBatch):  # type: ignore[misc]
    """A message of Kafka before 0.11, which holds others if it is compressed."""

    def __init__(self, batch: LegacyRecordBatch, most: int) -> None:
        super().__init__(batch._buffer, batch.magic)  # noqa: SLF001
        self._most = most

    @override
    def _decompress(self, key_offset: int) -> bytearray:
        _, value = self._read_key_value(key_offset)
        try:
            data = bytes(value or b"")
            if self.compression_type == LZ4 and self.magic == 0:
                data = with_right_checksum(data)
            messages = decompressed(self.compression_type, data, self._most)
            _check_messages(messages, self._most)
        except NotDecompressedError as error:
            raise UnreadableBatchError(str(error), self._buffer, first=0, last=self.base_offset) from None
        return messages


def _check_messages(messages: bytearray, most: int) -> None:
    """Checks the lengths of the messages, which the client trusts, and their number, which it keeps in memory."""
    at = taken = 0
    while at < len(messages):
        if len(messages) - at < struct.calcsize(">qi"):
            raise NotDecompressedError("ends within a message")
        (length,) = struct.unpack_from(">i", messages, at + 8)
        at += 12 + length
        taken += 12 + length + _LEGACY_MESSAGE
        if length < _LEGACY_SHORTEST or at > len(messages):
            raise NotDecompressedError("has a message of a wrong length")
        if taken > most:
            raise NotDecompressedError(f"takes more than {most:,} bytes when decompressed")
