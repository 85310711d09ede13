"""Keeps what requests bring, each request in one transaction that has committed when the method returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from monitor.app.collect.events import Decode, to_keep
from monitor.app.collect.intake import Intake
from monitor.core.message import DeadLetter, Message
from monitor.core.model import Interaction
from monitor.core.trace import Collected
from monitor.privacy.redaction.traces import TraceRedactor
from monitor.store.collect.store import CollectStore


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredIntake(Intake):
    """The `Intake` port. `decode` says which events are readable; `redactor` comes before anything is stored."""

    store: CollectStore
    decode: Decode
    redactor: TraceRedactor | None = None

    @override
    def spans(self, collected: Collected) -> int:
        kept = collected if self.redactor is None else self.redactor.collected(collected)
        return self.store.keep([kept]).refused

    @override
    def events(self, messages: Sequence[Message], *, app: str | None = None) -> Sequence[DeadLetter]:
        decoded = self.decode(messages)
        found: list[Interaction | Collected] = [*decoded.interactions, *decoded.collected]
        read = {one.position: one for one in found}
        redacted = self.redactor is not None
        kept = [to_keep(m, read[m.position], app, redacted=redacted) for m in messages if m.position in read]
        self.store.append(kept)
        return decoded.dead_letters
