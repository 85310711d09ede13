"""What the inbox holds of an event, and how that is read again.

Nothing may be stored before personal data is replaced. So an event in which something was replaced is kept as the
interaction that was read of it: its own bytes still hold the data. One that holds several turns, or feedback alone, is
redacted as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic_core import from_json, to_json

from monitor.core.message import Message
from monitor.core.model import (
    Document,
    Feedback,
    Interaction,
    Mark,
    Match,
    SupportingDocument,
    TokenUsage,
    Unscored,
)
from monitor.core.trace import Collected
from monitor.ingest.decode import Decoded
from monitor.privacy.redaction.traces import TraceRedactor
from monitor.store.collect.inbox import APP, Event, of_app

READ = "monitor-read"  # a header of our own: the value is an interaction, read and redacted already
_OURS = frozenset({APP, READ})
Decode = Callable[[Sequence[Message]], Decoded]


def to_keep(message: Message, read: Interaction | Collected, app: str | None, redactor: TraceRedactor | None) -> Event:
    """What is appended for a message that is readable; `app` comes before any name that it gives."""
    headers = (*((n, v) for n, v in message.headers if n not in _OURS), *of_app(app))
    if isinstance(read, Interaction) and Mark.REDACTED in read.marks:
        return Event(to_json(replace(read, position=None)), headers=((READ, b"1"), *headers))
    value = message.value if redactor is None else redactor.event(message.value)
    return Event(value, headers=headers)


def decoder(decode: Decode) -> Decode:
    """Reads messages of the inbox; `decode` reads those that are kept as they came."""

    def read(messages: Sequence[Message]) -> Decoded:
        ready: list[Message] = []
        raw: list[Message] = []
        for message in messages:
            (ready if any(name == READ for name, _ in message.headers) else raw).append(message)
        decoded = decode(raw)
        apps = {m.position: value.decode() for m in messages for name, value in m.headers if name == APP}
        interactions = [*decoded.interactions, *map(_interaction, ready)]
        return Decoded(
            [replace(it, app=apps[it.position]) if it.position in apps else it for it in interactions],
            decoded.dead_letters,
            [replace(one, app=apps[one.position]) if one.position in apps else one for one in decoded.collected],
        )

    return read


def _interaction(message: Message) -> Interaction:
    fields: dict[str, Any] = from_json(message.value)
    support, usage, unscored = (fields[name] for name in ("supporting_documents", "usage", "unscored"))
    return Interaction(
        **{
            **fields,
            "occurred_at": datetime.fromisoformat(fields["occurred_at"]),
            "retrieved_documents": tuple(Document(**document) for document in fields["retrieved_documents"]),
            "supporting_documents": None if support is None else tuple(map(_supporting, support)),
            "usage": None if usage is None else TokenUsage(**usage),
            "unscored": None if unscored is None else Unscored(unscored),
            "marks": frozenset(map(Mark, fields["marks"])),
            "tag_digests": frozenset(fields["tag_digests"]),
            "feedback": tuple(map(_feedback, fields["feedback"])),
            "position": message.position,
            "revises": message.revises,
        }
    )


def _feedback(fields: dict[str, Any]) -> Feedback:
    given_at = fields["given_at"]
    return Feedback(**{**fields, "given_at": None if given_at is None else datetime.fromisoformat(given_at)})


def _supporting(fields: dict[str, Any]) -> SupportingDocument:
    match = fields["match"]
    return SupportingDocument(**{**fields, "match": None if match is None else Match(match)})
