"""Takes the body of `POST /v1/interactions` apart into events; whether one is readable is for the intake to say.

Source of the forms of CloudEvents: cloudevents/spec `cloudevents/bindings/http-protocol-binding.md` §3.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from http import HTTPStatus
from typing import TypeAlias
from urllib.parse import unquote_to_bytes

from monitor.core.message import Message, Position
from monitor.store.collect.inbox import HTTP, PARTITION
from monitor.web.collect.refusal import Refused

Headers: TypeAlias = Iterable[tuple[bytes, bytes]]  # as in ASGI: names in lower case

_JSON, _EVENT, _BATCH = "application/json", "application/cloudevents+json", "application/cloudevents-batch+json"
_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl")
MEDIA_TYPES = (_JSON, *_LINES, _EVENT, _BATCH)
_STRUCTURED = (("content-type", _EVENT.encode()),)
# numbers stay as they are: the text of an item is handed on, not its value
_ITEMS = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=len)
_BLANK = " \t\r\n"


def check_media_type(media_type: str) -> None:
    """Whether events come in this form.

    Raises:
        Refused: they do not (415). Having none is refused too: a form of a foreign web page could send it.
    """
    if media_type not in MEDIA_TYPES:
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Content-Type must be one of {', '.join(MEDIA_TYPES)}")


def messages(body: bytes, media_type: str, headers: Headers, received_at: datetime, limit: int) -> list[Message]:
    """The events of a request, each with its place in it as offset.

    Raises:
        Refused: the body is not of the form that `media_type`, one of `MEDIA_TYPES`, announces (400), or has more than
            `limit` events (413).
    """
    attributes = () if media_type != _JSON else _attributes(headers)
    if media_type == _EVENT:
        events, attributes = iter([body]), _STRUCTURED
    elif media_type == _BATCH:
        events, attributes = _items(body), _STRUCTURED
    elif media_type in _LINES:
        events = (line for line in body.split(b"\n") if line.strip())
    elif not attributes and body.lstrip()[:1] == b"[":
        events = _items(body)
    else:
        events = iter([body])
    found: list[Message] = []
    for index, event in enumerate(events):
        if index == limit:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the request has more than {limit:,} events")
        position = Position(topic=HTTP, partition=PARTITION, offset=index)  # the inbox decodes it again, by this topic
        found.append(
            Message(value=event, position=position, received_at=received_at, headers=attributes, size=len(event))
        )
    return found


def _attributes(headers: Headers) -> tuple[tuple[str, bytes], ...]:
    """The attributes of a CloudEvent in binary mode, percent-decoded; none unless there is a `ce-specversion`."""
    found = tuple([(name.decode("latin-1"), unquote_to_bytes(value)) for name, value in headers if name[:3] == b"ce-"])
    return found if any(name == "ce-specversion" for name, _ in found) else ()


def _items(body: bytes) -> Iterator[bytes]:
    """The items of a JSON array as they stand in it.

    Raises:
        Refused: it is none.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise _not_an_array(f"bad byte of UTF-8 at offset {error.start}") from None
    at = _skip_blank(text, 0)
    if text[at : at + 1] != "[":
        raise _not_an_array("it does not begin with [")
    at = _skip_blank(text, at + 1)
    closed = text[at : at + 1] == "]"
    while not closed:
        try:
            _, end = _ITEMS.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise _not_an_array(f"{error.msg.removesuffix(' at')} at character {error.pos}") from None
        except RecursionError:
            raise _not_an_array("it is nested too deeply") from None
        yield text[at:end].encode()
        at = _skip_blank(text, end)
        closed = text[at : at + 1] == "]"
        if not closed:
            if text[at : at + 1] != ",":
                raise _not_an_array(f"no comma between items at character {at}")
            at = _skip_blank(text, at + 1)
    if _skip_blank(text, at + 1) != len(text):
        raise _not_an_array(f"more follows at character {at + 1}")


def _skip_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _not_an_array(why: str) -> Refused:
    return Refused(HTTPStatus.BAD_REQUEST, f"the body is no JSON array: {why}")
