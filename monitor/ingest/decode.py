"""Decodes messages to interactions; a message that cannot be one becomes a dead letter with path and problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from monitor.core.errors import InvalidMessage, WrongSettings
from monitor.core.message import DeadLetter, Message
from monitor.core.model import Interaction, Mark
from monitor.ingest.dialects import DIALECTS
from monitor.ingest.dialects.dialect import Context, Dialect, Headers
from monitor.ingest.parse import JsonObject, parse_object
from monitor.privacy.redaction.redactor import Redactor

AUTO = "auto"
_REPLACED = frozenset({Mark.TEXT_REPLACED})
_NO_MARKS: frozenset[Mark] = frozenset()


class Decoder:
    """Reads messages of one dialect, or with `auto` of any dialect. Holds no state; threads may share it.

    Raises:
        WrongSettings: there is no dialect of that name.
    """

    def __init__(
        self,
        *,
        dialect: str = AUTO,
        app: str = "default",
        environment: str = "production",
        max_message_bytes: int = 8 * 2**20,
        max_text_chars: int = 1_000_000,
        max_documents: int = 1_000,
    ) -> None:
        self._dialect = None if dialect == AUTO else _named(dialect)
        self._data_dialects = tuple(d for d in DIALECTS if not d.envelope)
        self._app = app
        self._environment = environment
        self._max_message_bytes = max_message_bytes
        self._max_text_chars = max_text_chars
        self._max_documents = max_documents

    def decode(self, message: Message) -> Interaction:
        """The interaction that a message describes.

        Raises:
            InvalidMessage: it does not describe one; the path names the first offending field.
        """
        if message.unreadable is not None:
            raise InvalidMessage("$", message.unreadable)
        size = max(message.size, len(message.value))
        if size > self._max_message_bytes:
            raise InvalidMessage("$", f"is {size:,} bytes long; the limit is {self._max_message_bytes:,}")
        if size > len(message.value):
            raise InvalidMessage("$", f"was cut: only {len(message.value):,} of its {size:,} bytes arrived")
        event, replaced = parse_object(message.value)
        context = Context(
            app=self._app,
            environment=self._environment,
            received_at=message.received_at,
            max_text_chars=self._max_text_chars,
            max_documents=self._max_documents,
            read_data=self._read_data,
            headers=message.headers,
            position=message.position,
            marks=_REPLACED if replaced else _NO_MARKS,
        )
        dialect = self._dialect or _announced(message.headers) or _recognised(event, DIALECTS)
        return dialect.read(event, context)

    def decode_batch(self, messages: Iterable[Message]) -> tuple[list[Interaction], list[DeadLetter]]:
        """Interactions and dead letters, each in the order of their messages; every message is in one of the two."""
        return _decoded(messages, self.decode)

    def _read_data(self, event: JsonObject, context: Context) -> Interaction:
        return _recognised(event, self._data_dialects).read(event, context)


class TopicDecoder:
    """Reads each message with the decoder of its topic, or with the one for all other topics.

    Interactions and dead letters pass through `redactor`, if there is one.
    """

    def __init__(self, decoder: Decoder, by_topic: Mapping[str, Decoder], redactor: Redactor | None = None) -> None:
        self._decoder = decoder
        self._by_topic = by_topic
        self._redactor = redactor

    def decode_batch(self, messages: Iterable[Message]) -> tuple[list[Interaction], list[DeadLetter]]:
        """As `Decoder.decode_batch`."""
        read = _decoded(messages, lambda m: self._by_topic.get(m.position.topic, self._decoder).decode(m))
        if self._redactor is None:
            return read
        interactions, dead_letters = read
        return list(map(self._redactor.interaction, interactions)), list(map(self._redactor.dead_letter, dead_letters))


def _decoded(
    messages: Iterable[Message], decode: Callable[[Message], Interaction]
) -> tuple[list[Interaction], list[DeadLetter]]:
    interactions: list[Interaction] = []
    dead_letters: list[DeadLetter] = []
    for message in messages:
        try:
            interactions.append(decode(message))
        except InvalidMessage as error:
            dead_letters.append(DeadLetter(message=message, path=error.path, problem=error.problem))
    return interactions, dead_letters


def _named(name: str) -> Dialect:
    for dialect in DIALECTS:
        if dialect.name == name:
            return dialect
    known = ", ".join((AUTO, *(dialect.name for dialect in DIALECTS)))
    raise WrongSettings(f"unknown dialect {name!r}; known are {known}")


def _announced(headers: Headers) -> Dialect | None:
    if not headers:
        return None
    return next((dialect for dialect in DIALECTS if dialect.announced(headers)), None)


def _recognised(event: JsonObject, dialects: Sequence[Dialect]) -> Dialect:
    """The first dialect whose signs are all present, or else the first with some: it can say what is missing."""
    for dialect in dialects:
        if dialect.signs <= event.keys():
            return dialect
    for dialect in dialects:
        if not dialect.signs.isdisjoint(event):
            return dialect
    signs = "; ".join(f"{d.name} has {' and '.join(sorted(d.signs))}" for d in dialects)
    raise InvalidMessage("$", f"is an event of no known dialect ({signs})")
