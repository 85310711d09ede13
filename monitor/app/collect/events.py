"""What the inbox holds of an event, and how that is read again.

Nothing may be stored before personal data is replaced. So with redaction an event is kept as what was read of it: its
own bytes still hold the data, perhaps in a field that nobody reads, or in Base64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from monitor.core.message import Message, Position
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
from monitor.core.trace import Collected, LogRecord
from monitor.ingest.decode import Decoded
from monitor.store.collect.inbox import APP, Event, of_app
from monitor.store.collect.parts import span_of

READ = "monitor-read"  # a header of our own: what the value is, which was read and redacted already
_INTERACTION, _COLLECTED = b"interaction", b"collected"
_OURS = frozenset({APP, READ})
Decode = Callable[[Sequence[Message]], Decoded]
_Read = TypeVar("_Read", Interaction, Collected)


def to_keep(message: Message, read: Interaction | Collected, app: str | None, *, redacted: bool) -> Event:
    """What is appended for a message that is readable; `app` comes before any name that it gives.

    `redacted`: what was `read` of it is kept, without its bytes.
    """
    if redacted:
        form = _INTERACTION if isinstance(read, Interaction) else _COLLECTED
        return Event(to_json(replace(read, position=None)), headers=((READ, form), *of_app(app)))
    headers = (*((n, v) for n, v in message.headers if n not in _OURS), *of_app(app))
    return Event(message.value, headers=headers)


def decoder(decode: Decode) -> Decode:
    """Reads messages of the inbox; `decode` reads those that are kept as they came."""

    def read(messages: Sequence[Message]) -> Decoded:
        forms = [dict(message.headers).get(READ) for message in messages]
        decoded = decode([message for message, form in zip(messages, forms, strict=True) if form is None])
        interactions = [_interaction(m) for m, form in zip(messages, forms, strict=True) if form == _INTERACTION]
        collected = [_collected(m) for m, form in zip(messages, forms, strict=True) if form == _COLLECTED]
        apps = {m.position: value.decode() for m in messages for name, value in m.headers if name == APP}
        return Decoded(
            [_of(apps, it) for it in (*decoded.interactions, *interactions)],
            decoded.dead_letters,
            [_of(apps, one) for one in (*decoded.collected, *collected)],
        )

    return read


def _of(apps: Mapping[Position, str], read: _Read) -> _Read:
    """What was read, in the app that its message was given."""
    app = None if read.position is None else apps.get(read.position)
    return read if app is None else replace(read, app=app)


def _collected(message: Message) -> Collected:
    fields: dict[str, Any] = from_json(message.value)
    return Collected(
        received_at=message.received_at,
        position=message.position,
        app=fields["app"],
        spans=tuple(map(span_of, fields["spans"])),
        logs=tuple(LogRecord(**record) for record in fields["logs"]),
        events=tuple(event.encode() for event in fields["events"]),
        feedback=tuple(map(_feedback, fields["feedback"])),
    )


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
