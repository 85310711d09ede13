"""The interface of a dialect, its context, and shared functions for validation, texts and times."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from monitor.core.errors import InvalidMessage
from monitor.core.message import Position
from monitor.core.model import Interaction, Json, Mark
from monitor.core.text.content_id import content_id as content_id
from monitor.core.trace import Collected
from monitor.ingest.parse import JsonObject, kind, path_of, shown
from monitor.ingest.times import instant, out_of_range

Headers: TypeAlias = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Defaults and limits for reading an event.

    `id`, `occurred_at` and `trace_id` are an envelope's, and stand in for fields that the event lacks, as `app` and
    `environment` do. `read_data` reads an event that came in an envelope by whichever dialect it is in.
    """

    app: str
    environment: str
    received_at: datetime
    max_text_chars: int
    max_documents: int
    read_data: Callable[[JsonObject, Context], Interaction | Collected]
    headers: Headers = ()
    position: Position | None = None
    id: str | None = None
    occurred_at: datetime | None = None
    trace_id: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    marks: frozenset[Mark] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A form of events.

    An event that has every field of `signs`, or of one of `also`, is taken to be in it, and so is a message whose
    headers `announced` knows.
    `read` raises InvalidMessage with a path into the event, as does `read_bytes`, for messages that are
    not JSON. An `envelope` holds another dialect's event.
    """

    name: str
    signs: frozenset[str]
    read: Callable[[JsonObject, Context], Interaction | Collected]
    announced: Callable[[Headers], bool] = lambda _headers: False
    envelope: bool = False
    read_bytes: Callable[[bytes, Context], Interaction | Collected] | None = None
    also: tuple[frozenset[str], ...] = ()


class Event(BaseModel):
    """Base of a dialect's event: types are strict, and unknown fields are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore")


# Branches of a union are tagged with these, so that error paths can be told from field names.
_BRANCH = "<"


def _id_branch(value: object) -> str | None:
    return "<str>" if type(value) is str else "<int>" if type(value) is int else None


_ID = Discriminator(_id_branch, custom_error_type="id_type", custom_error_message="must be a string or a whole number")

# Names and ids are indexed. A btree entry of Postgres holds 2,704 bytes: an app and an id fit in one together, at four
# bytes a character.
MAX_ID_CHARS = 512
Name: TypeAlias = Annotated[str, Field(max_length=128)]
ModelName: TypeAlias = Annotated[str, Field(max_length=256)]
LongName: TypeAlias = Annotated[str, Field(max_length=2048)]
Id: TypeAlias = Annotated[
    Annotated[Annotated[str, Field(max_length=MAX_ID_CHARS)], Tag("<str>")] | Annotated[int, Tag("<int>")], _ID
]
DocumentId: TypeAlias = Annotated[Annotated[LongName, Tag("<str>")] | Annotated[int, Tag("<int>")], _ID]
Count: TypeAlias = Annotated[int, Field(ge=0, le=2**31 - 1)]  # Postgres integer

AnyEvent = TypeVar("AnyEvent", bound=Event)


def validated(model: type[AnyEvent], event: JsonObject) -> AnyEvent:
    """The event validated as `model`.

    Raises:
        InvalidMessage: it does not fit; the path is that of its first offending field.
    """
    try:
        return model.model_validate(event)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        parts = [p for p in first["loc"] if not (isinstance(p, str) and p.startswith(_BRANCH))]
        raise InvalidMessage(path_of(parts), _problem(first)) from None


def identifier(value: str | int, *path: str | int) -> str:
    """A producer's id as text.

    Raises:
        InvalidMessage: it is empty or, as a number, absurdly long.
    """
    if isinstance(value, int):
        return bounded(str(value), MAX_ID_CHARS, *path)
    if not value:
        raise InvalidMessage(path_of(path), "must not be empty")
    return value


def optional_identifier(value: str | int | None, *path: str | int) -> str | None:
    """As `identifier`, but None for null and an empty string."""
    return None if value is None or value == "" else identifier(value, *path)


def hashed_id(event: JsonObject, fields: Iterable[str]) -> str:
    """The id of an event that has none: `sha256:` and the hash of those of its `fields` that are not null."""
    identity = {name: event[name] for name in fields if event.get(name) is not None}
    return content_id(json.dumps(identity, ensure_ascii=False, sort_keys=True, separators=(",", ":")), digits=64)


def bounded(text: str, limit: int, *path: str | int) -> str:
    """The text itself.

    Raises:
        InvalidMessage: it is longer than `limit` characters.
    """
    if len(text) > limit:
        raise InvalidMessage(path_of(path), f"has {len(text):,} characters; the limit is {limit:,}")
    return text


def check_count(event: JsonObject, field: str, limit: int, path: str = "") -> None:
    """Checks the length of a list before its items are read; `path` is that of the event, as `runs[0].`.

    Raises:
        InvalidMessage: it has more than `limit` items.
    """
    items = event.get(field)
    if isinstance(items, list) and len(items) > limit:
        raise InvalidMessage(f"{path}{field}", f"has {len(items):,} items; the limit is {limit:,}")


def timed(value: Json, context: Context, path: str = "occurred_at") -> tuple[datetime, frozenset[Mark]]:
    """The time of the event (UTC), and the marks of `context` plus those for the time.

    Raises:
        InvalidMessage: `value` is given and no time.
    """
    if value is not None:
        time = instant(value, path)
    elif context.occurred_at is not None:
        time = context.occurred_at
    else:
        return context.received_at.astimezone(UTC), context.marks | {Mark.TIME_DEFAULTED}
    if out_of_range(time, context.received_at):
        return time, context.marks | {Mark.TIME_OUT_OF_RANGE}
    return time, context.marks


_WANTED = {
    "string_type": "a string",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
}


def _problem(error: Any) -> str:  # pydantic_core.ErrorDetails
    """Pydantic's finding in our words, which never repeat a long value."""
    value, limits = error["input"], error.get("ctx", {})
    match error["type"]:
        case "missing":
            problem = "is missing"
        case "float_type" if type(value) is int:  # too long for one
            problem = "is beyond what a double holds"
        case wrong if wrong in _WANTED:
            problem = f"must be {_WANTED[wrong]}, got {kind(value)}"
        case "string_too_long":
            problem = f"has {len(value):,} characters; the limit is {limits['max_length']:,}"
        case "greater_than_equal":
            problem = f"must be at least {limits['ge']:g}, got {shown(value)}"
        case "less_than_equal":
            problem = f"must be at most {limits['le']:,}, got {shown(value)}"
        case _:
            problem = f"{error['msg']}, got {kind(value)}"
    return problem
