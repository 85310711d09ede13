"""Keeps what requests bring, each request in one transaction that has committed when the method returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from typing_extensions import override

from monitor.app.collect.intake import Intake
from monitor.core.message import DeadLetter, Message
from monitor.core.trace import Collected
from monitor.ingest.decode import Decoded
from monitor.store.collect.requests import RequestStore


class Redact(Protocol):
    """Replaces personal data in spans and log records."""

    def __call__(self, collected: Collected, /) -> Collected: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver(Intake):
    """The `Intake` port. `decode` says which events are readable; `redact` comes before anything is stored."""

    store: RequestStore
    decode: Callable[[Sequence[Message]], Decoded]
    redact: Redact

    @override
    def spans(self, collected: Collected) -> int:
        return self.store.keep([self.redact(collected)]).refused

    @override
    def events(self, messages: Sequence[Message]) -> Sequence[DeadLetter]:
        decoded = self.decode(messages)
        dead = {letter.message.position for letter in decoded.dead_letters}
        self.store.append([message for message in messages if message.position not in dead])
        return decoded.dead_letters
