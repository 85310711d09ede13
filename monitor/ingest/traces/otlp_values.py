"""What both encodings of OTLP share: the check of ids, and the limits of a span."""

from __future__ import annotations

import re
from collections.abc import Mapping

from monitor.core.errors import InvalidMessage
from monitor.core.model import Json

MAX_ATTRIBUTES = 10_000  # of a span; SDKs stop at 128 unless they are told otherwise
MAX_EVENTS = 10_000  # of a span
MAX_ITEMS = 100_000  # spans, log records and what groups them, in a request; exporters send 512 spans at a time
MAX_SHARED_CHARS = 256  # of what each span of a group is kept with: of 10,000 spans, a megabyte would be ten gigabytes
MAX_DEPTH = 32  # levels of lists and objects in an attribute
LATEST = 2**64 - 1  # nanoseconds since 1970, in the year 2554
_TRACE_ID = re.compile("[0-9a-f]{32}")
_SPAN_ID = re.compile("[0-9a-f]{16}")
_OF_RESOURCE = (
    "service.name",
    "openinference.project.name",
    "deployment.environment.name",
    "deployment.environment",
)


class Unusable(InvalidMessage):
    """A span or log record that is wrong, in a request that is right."""

    def __init__(self, problem: str) -> None:
        super().__init__("$", problem)

    def __str__(self) -> str:
        return self.problem


class Items:
    """Counts the items of a request before they are read: an empty span has two bytes, and takes many more here."""

    def __init__(self) -> None:
        self._left = MAX_ITEMS

    def take(self, count: int) -> None:
        """Counts `count` more.

        Raises:
            InvalidMessage: the request has too many.
        """
        self._left -= count
        if self._left < 0:
            raise InvalidMessage("$", f"has more than {MAX_ITEMS:,} spans or log records; send less at once")


def checked_ids(trace_id: str, span_id: str, parent_id: str) -> tuple[str, str, str | None]:
    """The three ids as lower-case hexadecimal; an invalid parent is none.

    Raises:
        Unusable: the id of the trace or span has another length, or is zero.
    """
    trace_id, span_id, parent_id = trace_id.lower(), span_id.lower(), parent_id.lower()
    if _TRACE_ID.fullmatch(trace_id) is None or not trace_id.strip("0"):
        raise Unusable("its trace id is not 16 bytes, or zero")
    if _SPAN_ID.fullmatch(span_id) is None or not span_id.strip("0"):
        raise Unusable("its span id is not 8 bytes, or zero")
    parent = parent_id if _SPAN_ID.fullmatch(parent_id) and parent_id.strip("0") else None
    return trace_id, span_id, parent


def kept_of_resource(attributes: Mapping[str, Json]) -> dict[str, Json]:
    """What is read of a resource later."""
    texts = {name: attributes.get(name) for name in _OF_RESOURCE}
    return {name: text[:MAX_SHARED_CHARS] for name, text in texts.items() if isinstance(text, str)}
