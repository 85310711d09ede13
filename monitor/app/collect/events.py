"""What the inbox holds of an event, and how that is read again.

Nothing may be stored before personal data is replaced. So an event in which something was replaced is kept as the
interaction that was read of it: its own bytes still hold the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pydantic import TypeAdapter

from monitor.core.message import Message
from monitor.core.model import Interaction, Mark
from monitor.core.trace import Collected
from monitor.ingest.decode import Decoded
from monitor.store.collect.inbox import APP, Event, of_app

READ = "monitor-read"  # a header of our own: the value is an interaction, read and redacted already
_OURS = frozenset({APP, READ})
_INTERACTION = TypeAdapter(Interaction)
Decode = Callable[[Sequence[Message]], Decoded]


def to_keep(message: Message, read: Interaction | Collected, app: str | None) -> Event:
    """What is appended for a message that is readable; `app` comes before any name that it gives."""
    headers = (*((n, v) for n, v in message.headers if n not in _OURS), *of_app(app))
    if isinstance(read, Interaction) and Mark.REDACTED in read.marks:
        return Event(_INTERACTION.dump_json(replace(read, position=None)), headers=((READ, b"1"), *headers))
    return Event(message.value, headers=headers)


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
    return replace(_INTERACTION.validate_json(message.value), position=message.position, revises=message.revises)
