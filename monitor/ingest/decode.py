"""Decodes messages to interactions; a message that cannot be one becomes a dead letter with path and problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from monitor.core.errors import InvalidMessage, WrongSettings
from monitor.core.figures.prices import PriceTable
from monitor.core.message import DeadLetter, Message
from monitor.core.model import Interaction, Mark
from monitor.core.trace import Collected
from monitor.ingest.dialects import dialects, otlp
from monitor.ingest.dialects.dialect import Context, Dialect, Headers
from monitor.ingest.mapping import EventMap
from monitor.ingest.parse import JsonObject, parse_object
from monitor.ingest.records import TABLE
from monitor.privacy.redaction.redactor import Redactor
from monitor.privacy.redaction.traces import TraceRedactor

AUTO = "auto"
_REPLACED = frozenset({Mark.TEXT_REPLACED})
_AS_NAMED = EventMap({})


class Decoded(NamedTuple):
    """What messages hold, each in the order of its messages; every message is in one of the three."""

    interactions: list[Interaction]
    dead_letters: list[DeadLetter]
    collected: list[Collected]


class Decoder:
    """Reads messages of one dialect, or with `auto` of any dialect. Holds no state; threads may share it.

    With an `event_map`, which goes with `auto`, events are read by it, also those in an envelope.

    Raises:
        WrongSettings: there is no dialect of that name, or one is named beside a map.
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
        event_map: EventMap | None = None,
    ) -> None:
        if event_map is not None and dialect != AUTO:
            raise WrongSettings(f"a mapping reads events in place of a dialect: leave out {dialect!r} or the mapping")
        self._event_map = event_map
        self._dialects = dialects()
        self._dialect = None if dialect == AUTO else _named(dialect, self._dialects)
        self._envelopes = tuple(d for d in self._dialects if d.envelope)
        self._data_dialects = tuple(d for d in self._dialects if not d.envelope)
        self._app = app
        self._environment = environment
        self._max_message_bytes = max_message_bytes
        self._max_text_chars = max_text_chars
        self._max_documents = max_documents

    def decode(self, message: Message) -> Interaction | Collected:
        """The interaction that a message describes, or what it holds instead, in a dialect of several turns or spans.

        Raises:
            InvalidMessage: it is not of the dialect; the path names the first offending field.
        """
        if message.unreadable is not None:
            raise InvalidMessage("$", message.unreadable)
        size = max(message.size, len(message.value))
        if size > self._max_message_bytes:
            raise InvalidMessage("$", f"is {size:,} bytes long; the limit is {self._max_message_bytes:,}")
        if size > len(message.value):
            raise InvalidMessage("$", f"was cut: only {len(message.value):,} of its {size:,} bytes arrived")
        try:
            return self._read(message)
        except RecursionError:  # of JSON within a text, say, that holds lists of lists
            raise InvalidMessage("$", "is nested too deeply") from None

    def _read(self, message: Message) -> Interaction | Collected:
        context = self._context(message)
        if self._dialect is not None and self._dialect.read_bytes is not None:
            return self._dialect.read_bytes(message.value, context)
        if self._dialect is None and (spans := otlp.read_if_protobuf(message.value, context)) is not None:
            return spans
        event, replaced = parse_object(message.value)
        if replaced:
            context = replace(context, marks=_REPLACED)
        dialect = self._dialect or _announced(message.headers, self._dialects)
        if dialect is None and message.headers == TABLE:
            return (self._event_map or _AS_NAMED).read(event, context)
        if self._event_map is not None and dialect is None and not any(_has_signs(d, event) for d in self._envelopes):
            return self._event_map.read(event, context)
        return (dialect or _recognised(event, self._dialects)).read(event, context)

    def _context(self, message: Message) -> Context:
        return Context(
            app=self._app,
            environment=self._environment,
            received_at=message.received_at,
            max_text_chars=self._max_text_chars,
            max_documents=self._max_documents,
            read_data=self._read_data,
            headers=message.headers,
            position=message.position,
        )

    def decode_batch(self, messages: Iterable[Message]) -> Decoded:
        return _decoded(messages, self.decode)

    def _read_data(self, event: JsonObject, context: Context) -> Interaction | Collected:
        if self._event_map is not None:
            return self._event_map.read(event, context)
        return _recognised(event, self._data_dialects).read(event, context)


class TopicDecoder:
    """Reads each message with the decoder of its topic, or with the one for all other topics.

    `apps` are those of the spans of a topic, '' for all other topics. Interactions, spans and dead letters pass through
    `redactor`, if there is one; interactions get their cost by the `prices`.
    """

    def __init__(
        self,
        decoder: Decoder,
        by_topic: Mapping[str, Decoder],
        redactor: Redactor | None = None,
        *,
        apps: Mapping[str, str] = MappingProxyType({}),
        prices: PriceTable | None = None,
    ) -> None:
        self._decoder = decoder
        self._by_topic = by_topic
        self._redactor = redactor
        self._apps = apps
        self._prices = prices

    def decode_batch(self, messages: Iterable[Message]) -> Decoded:
        read = _decoded(messages, lambda m: self._by_topic.get(m.position.topic, self._decoder).decode(m))
        if self._apps:
            read = read._replace(collected=list(map(self._with_app, read.collected)))
        if self._prices is not None:
            read = read._replace(interactions=[priced(it, self._prices) for it in read.interactions])
        if self._redactor is None:
            return read
        return read._replace(
            interactions=list(map(self._redactor.interaction, read.interactions)),
            dead_letters=list(map(self._redactor.dead_letter, read.dead_letters)),
            collected=list(map(TraceRedactor(self._redactor).collected, read.collected)),
        )

    def _with_app(self, collected: Collected) -> Collected:
        topic = "" if collected.position is None else collected.position.topic
        return replace(collected, app=collected.app or self._apps.get(topic, self._apps.get("")))


def _decoded(messages: Iterable[Message], decode: Callable[[Message], Interaction | Collected]) -> Decoded:
    decoded = Decoded([], [], [])
    for message in messages:
        try:
            read = decode(message)
        except InvalidMessage as error:
            decoded.dead_letters.append(DeadLetter(message=message, path=error.path, problem=error.problem))
            continue
        if isinstance(read, Collected):
            decoded.collected.append(read)
        else:
            decoded.interactions.append(replace(read, revises=True) if message.revises else read)
    return decoded


def priced(it: Interaction, prices: PriceTable) -> Interaction:
    """The interaction with its cost, if that can be told."""
    if it.usage is None:
        return it
    cost = prices.cost(it.model, it.occurred_at.date(), it.usage.input, it.usage.output)
    return it if cost is None else replace(it, cost=cost)


def _named(name: str, dialects: Sequence[Dialect]) -> Dialect:
    for dialect in dialects:
        if dialect.name == name:
            return dialect
    known = ", ".join((AUTO, *(dialect.name for dialect in dialects)))
    raise WrongSettings(f"unknown dialect {name!r}; known are {known}")


def _announced(headers: Headers, dialects: Sequence[Dialect]) -> Dialect | None:
    if not headers:
        return None
    return next((dialect for dialect in dialects if dialect.announced(headers)), None)


def _recognised(event: JsonObject, dialects: Sequence[Dialect]) -> Dialect:
    """The first dialect whose signs are all present, or else the first with some: it can say what is missing."""
    for dialect in dialects:
        if _has_signs(dialect, event):
            return dialect
    for dialect in dialects:
        if not dialect.signs.isdisjoint(event):
            return dialect
    signs = "; ".join(f"{d.name}: {', '.join(sorted(d.signs))}" for d in dialects if d.signs)
    raise InvalidMessage("$", f"is an event of no known dialect ({signs})")


def _has_signs(dialect: Dialect, event: JsonObject) -> bool:
    return any(signs and signs <= event.keys() for signs in (dialect.signs, *dialect.also))
