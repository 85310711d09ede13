"""Spans of made-up traces, and recorded ones where they lie beside the project."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monitor.core.model import Json
from monitor.core.trace import LogRecord, Span, SpanEvent
from monitor.ingest.traces.otlp import read_request
from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turn import NoTurn, Turn
from monitor.ingest.traces.turns import turns

TRACE = "5b8aa5a2d2c872e8321cf37308d69df2"
SECOND = 1_000_000_000
START = 1_790_000_000 * SECOND


def span(
    number: int,
    *,
    parent: int | None = None,
    name: str = "step",
    at: float = 0.0,
    lasts: float = 1.0,
    trace_id: str = TRACE,
    failed: bool = False,
    events: Iterable[SpanEvent] = (),
    dropped: int = 0,
    resource: Mapping[str, Json] | None = None,
    **attributes: Json,
) -> Span:
    """A span; `__` in the name of an attribute stands for a dot. Numbers stand for ids, times are seconds."""
    return Span(
        trace_id=trace_id,
        span_id=f"{number:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        name=name,
        started=START + int(at * SECOND),
        ended=START + int((at + lasts) * SECOND),
        failed=failed,
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
        events=tuple(events),
        dropped_attributes=dropped,
        resource=resource or {},
    )


def log(number: int, name: str, body: Json = None, *, trace_id: str = TRACE, **attributes: Json) -> LogRecord:
    return LogRecord(
        trace_id=trace_id,
        span_id=f"{number:016x}",
        name=name,
        at=START,
        body=body,
        attributes={key.replace("__", "."): value for key, value in attributes.items()},
    )


def read(*spans: Span, logs: Iterable[LogRecord] = ()) -> Turn:
    """The turn of one trace, which must have one."""
    [found] = turns([Trace(spans, tuple(logs))])
    assert isinstance(found, Turn), found
    return found


def read_none(*spans: Span) -> str:
    """Why a trace has no turn."""
    [found] = turns([Trace(spans)])
    assert isinstance(found, NoTurn), found
    return found.because


@dataclass(frozen=True)
class Recorded:
    """A recorded case: what a package sent, and what a person reads from it."""

    name: str
    spans: tuple[Span, ...]
    logs: tuple[LogRecord, ...]
    expected: dict[str, Any]


def recorded(folder: Path) -> Iterator[Recorded]:
    for path in sorted(folder.glob("*.expected.json")):
        expected = json.loads(path.read_text())
        spans: list[Span] = []
        logs: list[LogRecord] = []
        for request in expected["requests"]:
            body = (folder / request["file"]).read_bytes()
            sent = read_request(
                body, logs=request["path"].endswith("logs"), json=request["content_type"].endswith("json")
            )
            assert not sent.rejected, sent.problem
            spans += sent.spans
            logs += sent.logs
        yield Recorded(expected["case"], tuple(spans), tuple(logs), expected)


def grouped(spans: Iterable[Span], logs: Iterable[LogRecord]) -> dict[str, Trace]:
    """Spans and logs as traces, in the order in which the traces began to arrive."""
    spans_of: dict[str, list[Span]] = defaultdict(list)
    logs_of: dict[str, list[LogRecord]] = defaultdict(list)
    for one in spans:
        spans_of[one.trace_id].append(one)
    for record in logs:
        logs_of[record.trace_id].append(record)
    return {i: Trace(spans_of[i], logs_of[i]) for i in dict.fromkeys([*spans_of, *logs_of])}
