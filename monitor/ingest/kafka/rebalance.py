"""Passes the client's rebalance events on to the source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from kafka import ConsumerRebalanceListener
from typing_extensions import override

from monitor.core.message import Partition


class PartitionOwner(Protocol):
    """Receives the partitions of a consumer as they come and go."""

    def assigned(self, partitions: Iterable[Partition]) -> None:
        """The partitions are ours now."""

    def revoked(self, partitions: set[Partition], *, lost: bool) -> None:
        """The partitions are not ours any more; if `lost`, others may read them already."""


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # kafka-python ships no types
    def __init__(self, source: PartitionOwner) -> None:
        self._source = source

    @override
    def on_partitions_assigned(self, assigned: Iterable[Partition]) -> None:
        self._source.assigned(assigned)

    @override
    def on_partitions_revoked(self, revoked: Iterable[Partition]) -> None:
        self._source.revoked(set(revoked), lost=False)

    @override
    def on_partitions_lost(self, lost: Iterable[Partition]) -> None:
        self._source.revoked(set(lost), lost=True)
