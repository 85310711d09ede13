"""Spans in messages, files and dead letters: skipped in their own ledger, and counted where their turns are read."""

from __future__ import annotations

import json
from threading import Event

from typing_extensions import override

from monitor.app.deadletters import retry
from monitor.app.replay import replay
from monitor.core.message import Message, Offset, Position
from monitor.core.ports import Source
from monitor.store.deadletters.dead_letters import LetterFilter
from monitor.store.ledger.ledger import Ledger
from monitor.store.privacy.erasure import Erasure, ErasureTarget
from tests.factories.answers import clock
from tests.rig.store.traces import a_turn, collected, stored

A, B = "a" * 32, "b" * 32


class Topic(Source):
    """One partition that ends behind these messages."""

    def __init__(self, *values):
        self._left = [
            Message(
                value=value,
                position=Position(topic="spans", partition=0, offset=offset),
                received_at=clock(),
                size=len(value),
            )
            for offset, value in enumerate(values)
        ]
        self._offsets = ()

    @override
    def poll(self, *, max_messages, max_bytes, timeout):
        found, self._left = self._left, []
        self._offsets = (
            Offset(topic="spans", partition=0, expected=None, next=len(found), begin=0, received=len(found)),
        )
        return found or None

    @override
    def offsets(self):
        return self._offsets

    def hold(self):
        pass

    def stored(self, offsets):
        pass


def request(trace_id):
    """A request with the spans of a turn, in JSON."""
    spans = [
        {
            "traceId": span.trace_id,
            "spanId": span.span_id,
            "parentSpanId": span.parent_id or "",
            "name": span.name,
            "startTimeUnixNano": str(span.started),
            "endTimeUnixNano": str(span.ended),
            "attributes": [{"key": name, "value": {"stringValue": value}} for name, value in span.attributes.items()],
        }
        for span in a_turn(trace_id)
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def read(application, *values, dialect):
    source = Topic(*values)
    return application.flow(source, app=None, dialect=dialect, stop=Event(), written=lambda _batch, _tally: None).run()


def ledgers(application):
    rows, recounted = Ledger(application.engine).read(recount=True)
    assert all(row.balanced for row in (*rows, *recounted))
    names = ("spanned", "received", "dead", "collected", "assessed")
    return {row.topic: tuple(row.counts[name] for name in names) for row in rows}


def test_messages_of_spans_are_skipped_and_their_turns_are_counted_in_the_inbox(application):
    tally = read(application, request(A), b"{}", request(A), dialect="otlp")
    assert (tally.received, tally.dead) == (1, 1)
    assert stored(application, ("", A)).assessed == 1
    assert ledgers(application) == {"spans": (3, 1, 1, 2, 0), "otlp": (1, 1, 0, 0, 1)}


def test_a_dead_letter_that_turns_out_to_hold_spans_is_settled(application, rows):
    read(application, request(A), b"{}", dialect="native")
    done = retry(application, LetterFilter(), app="shop", dialect="otlp", stop=Event())
    assert (done.asked, done.collected, done.dead, done.elsewhere) == (2, 1, 1, 0)
    assert rows("SELECT outcome FROM dead_letter ORDER BY position") == [("collected",), (None,)]
    assert stored(application, ("shop", A)).assessed == 1
    assert ledgers(application) == {"spans": (2, 1, 1, 1, 0), "otlp": (1, 1, 0, 0, 1)}


def test_a_replay_closes_the_traces_of_its_file_and_stores_their_turns(application, tmp_path, rows):
    file, output = tmp_path / "spans.jsonl", tmp_path / "assessments.jsonl"
    file.write_bytes(b"\n".join([request(A), request(B), b""]))
    summary = replay(
        application,
        [file],
        output=output,
        app="shop",
        dialect=None,
        progress=lambda _source, _tally: None,
        stop=Event(),
    )
    assert (summary.collected, summary.traces, dict(summary.turns)) == (
        2,
        {("shop", A), ("shop", B)},
        {"assessed": 2, "unscored": 0},
    )
    assert {json.loads(line)["id"] for line in output.read_text().splitlines()} == {A, B}
    assert rows("SELECT app, id FROM interaction ORDER BY id") == [("shop", A), ("shop", B)]


def test_spans_of_an_erased_turn_go_and_later_ones_are_dropped(application, rows):
    intake = application.collecting.intake
    intake.spans(collected(*a_turn(A)[1:], app="shop"))
    stored(application, ("shop", A))
    erasure = Erasure(application.engine)
    found = erasure.find(ErasureTarget(app="shop", ids=(A,)))
    erasure.erase("shop", found, by="tester", reason_given=False, now=clock())
    assert rows("SELECT count(*) FROM trace_part") == [(0,)]
    intake.spans(collected(*a_turn(A), app="shop"))
    assert stored(application, ("shop", A)).received == 0
    assert rows("SELECT question, answer FROM interaction") == [("", "")]
    assert rows("SELECT sum(open), sum(bytes), sum(late) FROM trace_count") == [(0, 0, 3)]
