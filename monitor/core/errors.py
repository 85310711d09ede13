"""The three exceptions that decide what happens next: dead letter, retry, or stop.

The type decides the action, not the place that catches it: `InvalidMessage` sends one message to the dead
letters, `Retriable` pauses and tries again and never loses a message, `Fatal` stops the process.
"""

from __future__ import annotations


class MonitorError(Exception):
    """Something that this program knows how to name."""


class InvalidMessage(MonitorError):
    """A message that cannot be an interaction.

    `path` is the offending field as `retrieved_documents[2].text`, or `$` for the message as a whole.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


class Retriable(MonitorError):
    """A service that is down or busy; the same call may succeed later. `retry_after` is in seconds, if it said."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Fatal(MonitorError):
    """Nothing that waiting would mend; the message says what to change."""


class WrongSettings(Fatal):
    """A setting, file or argument is wrong; the message names it and says how to mend it."""


class OutOfReach(Fatal):
    """A service that was given up on; the message names it and says how to bring it back."""


class Fenced(Fatal):
    """Another process has read on in the same source; what this one holds of it must not be stored."""
