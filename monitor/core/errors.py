"""The three exceptions that decide what happens next: dead letter, retry, or stop.

The type decides the action, not the place that catches it: `InvalidMessage` sends one message to the dead
letters, `Retriable` pauses and tries again and never loses a message, `Fatal` stops the process.
"""

from __future__ import annotations

from typing import Final


class MonitorError(Exception):
    """An error that this program can name; its message is for people."""


WHOLE: Final = "$"  # the path of the message itself


def problem_at(path: str, problem: str) -> str:
    """A problem as people read it: "answer: is missing", "the message is not JSON"."""
    return f"the message {problem}" if path == WHOLE else f"{path}: {problem}"


class InvalidMessage(MonitorError):
    """A message that cannot be an interaction.

    `path` is the offending field, such as `retrieved_documents[2].text`, or `$` for the whole message.
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(problem_at(path, problem))
        self.path = path
        self.problem = problem


class Retriable(MonitorError):
    """A service is down or busy; the call may succeed later. `retry_after` is in seconds, if the service named it."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Overloaded(Retriable):
    """More is open than may be; the sender should try again after `retry_after` seconds."""

    def __init__(self, problem: str, retry_after: float) -> None:
        super().__init__(problem)
        self.retry_after: float = retry_after


class Fatal(MonitorError):
    """An error that waiting does not mend; the message says what to change."""


class WrongSettings(Fatal):
    """A setting, file or argument is wrong; the message names it and says how to correct it."""


class OutOfReach(Fatal):
    """A service that stayed down until patience ran out; the message names it and says how to bring it back."""


class Fenced(Fatal):
    """Another process reads the same source; the batch of this one must not be stored."""
