"""The spans and log records of one trace, each span once, in a forest without cycles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic_core import to_json

from monitor.core.trace import LogRecord, Span


@dataclass(frozen=True)
class Trace:
    """What has arrived of a trace, in any order, with repeats. Every view of it is the same for every order.

    Of spans that share an id, the one that says most counts: the last to end, then the one with most attributes.
    """

    spans: Sequence[Span]
    logs: Sequence[LogRecord] = ()
