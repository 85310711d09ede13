"""The port between what receives requests and what stores them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from monitor.core.message import DeadLetter, Message
from monitor.core.trace import Collected


class Intake(Protocol):
    """Keeps what was received, durably: what a method returned from is on disk. Safe to use from several threads.

    Every method may raise `Overloaded`, or `Retriable` while the database is out of reach; nothing was kept then.
    """

    def spans(self, collected: Collected) -> int:
        """Keeps the spans and log records of a request; what was kept before counts as kept.

        Returns how many of the spans were refused for good, because their trace has reached its limits.
        """

    def events(self, messages: Sequence[Message], *, app: str | None = None) -> Sequence[DeadLetter]:
        """Keeps those of the events that are readable, in their order, and returns the others with their problems.

        The position of a message is its place in the request. `app` comes before any name that the events give.
        """
