"""The port to a chatbot under test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias

from monitor.core.errors import MonitorError

Failure: TypeAlias = Literal["timeout", "out_of_reach", "refused", "malformed", "too_long"]

LARGEST: Final = 4 * 2**20  # bytes of an answer with its documents
MOST_DOCUMENTS: Final = 100  # of an answer; further ones are left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question to the chatbot and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatbotAnswer:
    """What the chatbot said, and what it tells beside it: the documents it retrieved, its version."""

    text: str
    documents: tuple[str, ...] = ()
    version: str | None = None


class ChatbotFailed(MonitorError):
    """The chatbot gave no answer. `reason` is a `Failure`; the message says what came instead, without secrets."""

    def __init__(self, reason: Failure, message: str) -> None:
        super().__init__(message)
        self.reason: Failure = reason


class Target(Protocol):
    """A chatbot. Any number of threads may ask."""

    @property
    def place(self) -> str:
        """Where it is, for people: `http https://bot.example/chat`. Holds no secret."""

    def ask(self, question: str, *, history: Sequence[Exchange], conversation: str) -> ChatbotAnswer:
        """Its answer to `question` after `history`; `conversation` marks the conversation as a probe's.

        Raises:
            ChatbotFailed: it gives no answer within its time limit, or one that cannot be read.
            Fatal: it refuses permanently (key, address); the message says what to change.
        """

    def close(self) -> None:
        """Releases all resources; calls in flight end soon."""
