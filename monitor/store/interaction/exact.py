"""One customer's answers: those of a conversation, of a trace, or with a tag, by the exact value."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ARRAY, ColumnElement, Text, and_, false, literal, or_
from sqlalchemy.dialects.postgresql import JSONB

from monitor.store.tables.interactions import interaction

_i = interaction.c


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactValues:
    """Answers with each of these values. An erased answer has none of them any more.

    `tag` is a name and a value. `tag_digests` are its keyed digests, as `monitor.privacy.tag_digest` makes them, which
    also find answers whose tag was redacted before it was stored.
    """

    conversation: str | None = None
    trace: str | None = None
    tag: tuple[str, str] | None = None
    tag_digests: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(value is not None for value in (self.conversation, self.trace, self.tag))

    @property
    def values(self) -> tuple[str, ...]:
        """The values that are sought."""
        found = (self.conversation, self.trace, self.tag and self.tag[1])
        return tuple(value for value in found if value is not None)

    @property
    def fields(self) -> tuple[str, ...]:
        """What is sought by, without the values: `conversation`, `trace`, `tag NAME`."""
        names = ("conversation" * (self.conversation is not None), "trace" * (self.trace is not None))
        return tuple(name for name in (*names, f"tag {self.tag[0]}" if self.tag else "") if name)

    def conditions(self) -> list[ColumnElement[bool]]:
        """The conditions on interactions in SQL, each of which an index answers."""
        found: list[ColumnElement[bool]] = []
        if self.conversation is not None:
            found.append(_i.conversation_id == self.conversation)
        if self.trace is not None:
            found.append(_i.trace_id == self.trace)
        if self.tag is not None:
            name, value = self.tag
            plain = _i.tags.op("@>", is_comparison=True)(literal({name: value}, JSONB))
            digests = literal(list(self.tag_digests), ARRAY(Text))
            by_digest = and_(_i.tag_digests.is_not(None), _i.tag_digests.op("&&", is_comparison=True)(digests))
            found.append(or_(plain, by_digest if self.tag_digests else false()))
        return found


def parsed_tag(text: str) -> tuple[str, str]:
    """The name and the value of NAME=VALUE.

    Raises:
        ValueError: it has another form.
    """
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ValueError(f"{text} must be NAME=VALUE")
    return name, value
