"""Protocols at the seams. The core depends on these; `app.py` alone decides which adapter stands behind each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from monitor.core.errors import Fenced
    from monitor.core.message import Message, Offset, Progress, StoredOffset
    from monitor.core.model import Batch, Tally


class Source(Protocol):
    """Where messages come from.

    One thread calls it, but for `stored` and `fenced`, which the writing one calls, and `progress`, which any may.
    """

    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        """The next messages in order, empty when none came within `timeout` seconds, None at the end of the input.

        Raises:
            Retriable: the source is out of reach for now.
            Fatal: it cannot be read at all.
        """

    def offsets(self) -> Sequence[Offset]:
        """How far it was read since the last call, to be stored with what the polls since then gave.

        Empty for a source that keeps no place.
        """

    def hold(self) -> None:
        """Called again and again, instead of `poll`, while what was polled cannot go on; gives nothing, waits little.

        A source that others share keeps up its place among them meanwhile.
        """

    def stored(self, offsets: Sequence[Offset]) -> None:
        """Told after the transaction that holds `offsets` has committed; never before."""

    def fenced(self, offsets: Sequence[Offset], error: Fenced) -> None:
        """Told instead that nothing of a batch was stored, since others have read on; what is theirs is given up.

        Raises:
            Fenced: `error` itself, from a source that cannot be shared.
        """

    def progress(self) -> Sequence[Progress]:
        """How far the partitions that are its own were stored; empty for a source that ends by itself.

        One of which nothing is known yet is left out.
        """

    def close(self) -> None:
        """Gives back what it holds."""


class GroupOffsets(Protocol):
    """How far a consumer group has read, for the source that goes on from there. Methods may raise `Retriable`."""

    def stored(self) -> Mapping[tuple[str, int], StoredOffset]:
        """By topic and partition; what was never read is not there."""

    def pin(self, offsets: Sequence[Offset]) -> None:
        """Stores where partitions begin that have no offset yet; the others stay as they are."""


class Store(Protocol):
    """Keeps everything; one `write` is one transaction."""

    def write(self, batch: Batch) -> Tally:
        """Stores a batch and its rollup in one transaction. Interactions whose (app, id) is known count as duplicate.

        Raises:
            Retriable: the database is out of reach for now; nothing of the batch was stored.
            Fenced: an offset is not the expected one any more: somebody else reads the same source; nothing was stored.
        """
