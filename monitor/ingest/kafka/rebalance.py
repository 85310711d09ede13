"""How the client tells of partitions that come and go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kafka import ConsumerRebalanceListener

from monitor.core.message import Partition


class Told(Protocol):
    """Who is told."""

    def assigned(self, partitions: Iterable[Partition]) -> None:
        """These are ours now."""

    def revoked(self, partitions: set[Partition], *, lost: bool) -> None:
        """These are not ours any more; where they are `lost`, others may have them already."""


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # the client has no types
    """Tells a source."""

    def __init__(self, source: Told) -> None:
        self._source = source

    def on_partitions_assigned(self, assigned: Iterable[Partition]) -> None:
        """The client calls these three."""
        self._source.assigned(assigned)

    def on_partitions_revoked(self, revoked: Iterable[Partition]) -> None:
        """Given up in order."""
        self._source.revoked(set(revoked), lost=False)

    def on_partitions_lost(self, lost: Iterable[Partition]) -> None:
        """Taken away."""
        self._source.revoked(set(lost), lost=True)
