"""Counts the items of a request in protobuf before it is parsed, since parsed ones take a hundred times their bytes.

Source: protobuf.dev "Encoding". In `trace_service.proto` and `logs_service.proto` a group by resource is field 1 of the
request, a group by scope is field 2 of that, and a span or log record is field 2 of that.
"""

from __future__ import annotations

from collections.abc import Iterator

from monitor.ingest.traces.otlp_values import Items

_BY_RESOURCE, _BY_SCOPE, _ITEM = 1, 2, 2
_MORE = 128  # the bit of a byte that says that the number goes on


def check_count(body: bytes) -> None:
    """Counts fields down to single spans; what is no protobuf is left to the parser.

    Raises:
        InvalidMessage: the request has too many.
    """
    items = Items()
    for start, end in _fields(body, 0, len(body), _BY_RESOURCE, items):
        for inner_start, inner_end in _fields(body, start, end, _BY_SCOPE, items):
            for _ in _fields(body, inner_start, inner_end, _ITEM, items):
                pass


def _fields(body: bytes, at: int, end: int, wanted: int, items: Items) -> Iterator[tuple[int, int]]:
    """Where the messages of field `wanted` begin and end, within a message from `at` to `end`; counts all fields."""
    while at < end:
        items.take(1)
        tag, at = _varint(body, at, end)
        match tag & 7:
            case 0:  # the wire types: a number, eight bytes, a length with as many bytes, four bytes
                _, at = _varint(body, at, end)
            case 1:
                at += 8
            case 2:
                length, at = _varint(body, at, end)
                if tag >> 3 == wanted:
                    yield at, min(at + length, end)
                at += length
            case 5:
                at += 4
            case _:
                return


def _varint(body: bytes, at: int, end: int) -> tuple[int, int]:
    """A number of up to ten bytes, and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            break
        byte = body[at]
        at += 1
        value |= (byte % _MORE) << shift
        if byte < _MORE:
            break
    return value, at
