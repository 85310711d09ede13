"""The protocols between the flow and its adapters; `app/wiring` alone chooses the adapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from monitor.core.batch import Batch, Tally
    from monitor.core.errors import Fenced
    from monitor.core.message import Message, Offset, Progress, StoredOffset


class Source(Protocol):
    """Where messages come from.

    One thread calls the methods, except `stored` and `fenced`, which the writing thread calls, and `progress`, which
    any thread may call.
    """

    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        """The next messages in order; empty if none came within `timeout` seconds, None at the end of the input.

        Raises:
            Retriable: the source is out of reach for now.
            Fatal: the source cannot be read at all.
        """

    def offsets(self) -> Sequence[Offset]:
        """How far the source was read since the last call, to be stored with the messages of the polls since then.

        Empty for a source that keeps no position.
        """

    def hold(self) -> None:
        """Called repeatedly instead of `poll` while polled messages cannot move on; returns soon.

        A shared source keeps its membership alive meanwhile.
        """

    def stored(self, offsets: Sequence[Offset]) -> None:
        """Called after the transaction with `offsets` has committed, never before."""

    def fenced(self, offsets: Sequence[Offset], error: Fenced) -> None:
        """Called instead of `stored` if the batch was not stored because another process reads the source.

        Gives up the partitions that the other process reads.

        Raises:
            Fenced: `error` itself, if the source cannot be shared.
        """

    def progress(self) -> Sequence[Progress]:
        """How far the source's own partitions were stored; empty for a source that ends by itself.

        Leaves out partitions whose progress is not known yet.
        """

    def close(self) -> None:
        """Releases all resources."""


class GroupOffsets(Protocol):
    """The stored offsets of a consumer group. Methods may raise `Retriable`."""

    def stored(self) -> Mapping[tuple[str, int], StoredOffset]:
        """Offsets by topic and partition, without partitions that were never read."""

    def pin(self, offsets: Sequence[Offset]) -> None:
        """Stores the first offset of partitions that have none yet; leaves the others as they are."""


class Store(Protocol):
    """Stores batches; one `write` is one transaction."""

    def write(self, batch: Batch) -> Tally:
        """Stores a batch and its rollup in one transaction; interactions whose (app, id) is known count as duplicates.

        Raises:
            Retriable: the database is out of reach for now; nothing of the batch was stored.
            Fenced: an offset is not the expected one, since another process reads the source; nothing was stored.
        """
