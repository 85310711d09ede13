"""Traces as they arrive, and a store for them whose times are short."""

from __future__ import annotations

from threading import Event

from monitor.app.background.collecting import collecting, finish
from monitor.core.settings.collect import TraceLimits
from monitor.core.trace import Collected
from monitor.store.collect.store import CollectStore
from tests.factories.answers import clock
from tests.rig.ingest.spans import span

_NO_WAIT = {"close_after": 0.0, "idle": 0.0}
AT_ONCE = TraceLimits(**_NO_WAIT)


def store_of(url, **limits):
    return CollectStore(url, TraceLimits(**{**_NO_WAIT, **limits}), clock)


def a_turn(trace_id, *, question="When do you open?", answer="At nine.", **more):
    """The spans of one turn, the root last."""
    kind = "openinference__span__kind"
    found = {kind: "RETRIEVER", "retrieval__documents__0__document__content": "We open at nine."}
    said = {
        kind: "LLM",
        "llm__input_messages__0__message__role": "user",
        "llm__input_messages__0__message__content": question,
        "llm__output_messages__0__message__role": "assistant",
        "llm__output_messages__0__message__content": answer,
    }
    root = {kind: "CHAIN", "input__value": question, "output__value": answer, **more}
    return (
        span(2, parent=1, trace_id=trace_id, at=0.1, lasts=0.2, **found),
        span(3, parent=1, trace_id=trace_id, at=0.4, lasts=0.5, **said),
        span(1, trace_id=trace_id, **root),
    )


def collected(*spans, app=None, events=()):
    return Collected(received_at=clock(), app=app, spans=spans, events=events)


def stored(application, *traces):
    """Stores what waits; returns the ledger of that."""
    stop = Event()
    with collecting(application, stop, lambda _batch, _tally: None) as flow:
        finish(application, traces, stop)
    return flow.tally
