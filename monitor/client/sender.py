"""What a destination of events does, and the two ways in which it can fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Unavailable(Exception):
    """The destination takes nothing for now; the events are kept and sent again."""

    def __init__(self, problem: str, *, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.retry_after = retry_after  # seconds, as the destination asks


class Refused(Exception):
    """The destination will never take this batch as it is: at least one event of it is wrong or too large."""


class Encoded(NamedTuple):
    """An event as JSON in one line, and its id."""

    id: str
    body: bytes


class Sender(Protocol):
    """Sends batches from one thread."""

    def send(self, events: Sequence[Encoded]) -> Sequence[str]:
        """Delivers the events, and returns what was wrong with each that the destination has refused alone.

        Raises:
            Unavailable: it is not known to have any of them.
            Refused: it has none of them.
        """

    def close(self) -> None:
        """Gives up what is open; returns within a second or two."""
