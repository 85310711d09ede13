"""Messages and events for the ingest tests."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from monitor.core.errors import InvalidMessage
from monitor.core.message import Message, Position
from monitor.ingest.decode import Decoder

RECEIVED = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


def a_message(value=b"", *, headers=(), size=None, received_at=RECEIVED):
    return Message(
        value=value,
        position=Position(topic="answers", partition=0, offset=7),
        received_at=received_at,
        headers=headers,
        size=len(value) if size is None else size,
    )


def raw(event):
    return json.dumps(event).encode()


def native(**fields):
    """The smallest native event, with `fields` changed; a field set to `...` is left out."""
    event = {"id": "i-1", "question": "When?", "retrieved_documents": ["It opens at nine."], "answer": "At nine."}
    return {name: value for name, value in (event | fields).items() if value is not ...}


def decode(event, *, headers=(), **settings):
    value = event if isinstance(event, bytes) else raw(event)
    return Decoder(**settings).decode(a_message(value, headers=headers))


def refusal(event, *, headers=(), **settings):
    """(path, problem) of the InvalidMessage that an event earns."""
    with pytest.raises(InvalidMessage) as caught:
        decode(event, headers=headers, **settings)
    return caught.value.path, caught.value.problem
