"""Spans and events on their way to interactions: kept, assembled, stored and counted, on a real server."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from threading import Event

from monitor.app.background.collecting import collecting, finish
from monitor.core.message import Message, Position
from monitor.probe.mark import conversation_name
from monitor.store.ledger.ledger import Ledger
from monitor.store.probe.runs import ProbeRuns
from tests.factories.answers import clock
from tests.factories.probe.runs import run
from tests.rig.store.traces import a_turn, collected, stored

A, B = "a" * 32, "b" * 32
STORED = "SELECT app, id, question, answer, environment FROM interaction ORDER BY app, id"


def message(value, place=0, *headers):
    return Message(
        value=value,
        position=Position(topic="http", partition=0, offset=place),
        received_at=clock(),
        headers=headers,
        size=len(value),
    )


def test_a_trace_becomes_an_interaction_and_later_spans_revise_it(application, rows):
    intake = application.collecting.intake
    root, *others = reversed(a_turn(A, question="Write to jane@example.com?"))
    assert intake.spans(collected(*others, app="shop")) == 0
    assert intake.spans(collected(*others, app="shop")) == 0
    assert stored(application, ("shop", A)).received == 1
    intake.spans(collected(root, app="shop"))
    tally = stored(application, ("shop", A))
    assert (tally.received, tally.duplicate) == (1, 1)
    assert rows(STORED) == [("shop", A, "Write to [e-mail]?", "At nine.", "production")]
    assert rows("SELECT count(*) FROM inbox") == [(0,)], "what is stored is deleted"
    intake.spans(collected(root, *others, app="shop"))
    assert stored(application, ("shop", A)).received == 0, "the same turn again is no event"
    ledger, recounted = Ledger(application.engine).read(recount=True)
    assert all(row.balanced for row in (*ledger, *recounted))
    assert b"jane" not in b"".join(value for (value,) in rows("SELECT value FROM trace_part"))


def test_events_belong_to_the_app_of_the_token_and_wait_without_personal_data(application, rows):
    events = [
        b'{"id": "1", "app": "other", "question": "q", "retrieved_documents": ["d"], "answer": "a"}',
        b'{"id": "2", "question": "jane@example.com?", "retrieved_documents": ["d"], "answer": "a"}',
        b'{"id": "3"}',
    ]
    dead = application.collecting.intake.events(
        [message(event, place, ("monitor-app", b"forged")) for place, event in enumerate(events)], app="shop"
    )
    assert [(letter.message.position.offset, letter.path) for letter in dead] == [(2, "$")]
    assert not any(b"jane" in value for (value,) in rows("SELECT value FROM inbox"))
    assert stored(application).received == 2
    assert rows("SELECT app, id, question FROM interaction ORDER BY id") == [
        ("shop", "1", "q"),
        ("shop", "2", "[e-mail]?"),
    ]


def test_events_of_turns_that_a_probe_asked_are_stored_unscored_by_id_or_tag(application, engine, rows):
    ours, forged = (conversation_name(mark * 32, 0) for mark in "cd")
    ProbeRuns(engine).begin(run(began_at=clock()), mark="c" * 32)
    told = [
        {"conversation_id": ours},
        {"tags": {"probe": ours}},
        {"conversation_id": forged, "tags": {"probe": forged}},
    ]
    known = {"question": "q", "retrieved_documents": ["d"], "answer": "a"}
    events = [message(json.dumps({"id": str(n), **known, **more}).encode(), n) for n, more in enumerate(told)]
    assert application.collecting.intake.events(events, app="shop") == []
    assert stored(application).received == 3
    assert rows("SELECT id, unscored FROM interaction ORDER BY id") == [("0", "probe"), ("1", "probe"), ("2", None)]
    assert rows("SELECT id FROM assessment") == [("2",)]


def test_a_trace_that_turns_out_to_be_a_probes_loses_its_scores(application, engine, rows):
    ProbeRuns(engine).begin(run(began_at=clock()), mark="c" * 32)
    *spans, root = a_turn(A, session__id=conversation_name("c" * 32, 0))
    application.collecting.intake.spans(collected(*a_turn(A)[:-1], app="shop"))
    stored(application, ("shop", A))
    assert rows("SELECT unscored FROM interaction") == [(None,)]
    rows("UPDATE probe_run SET began_at = (SELECT occurred_at FROM interaction)")
    application.collecting.intake.spans(collected(*spans, root, app="shop"))
    stored(application, ("shop", A))
    assert rows("SELECT unscored FROM interaction") == [("probe",)]
    assert rows("SELECT count(*) FROM assessment") == [(0,)]
    assert rows("SELECT coalesce(sum(total), 0) FROM verdict_minute") == [(0,)]
    assert rows("SELECT * FROM unscored_minute") == []
    ledger, recounted = Ledger(application.engine).read(recount=True)
    assert all(row.balanced for row in (*ledger, *recounted))


def test_no_byte_of_an_event_waits_where_redaction_is_on(application, rows):
    inner = b'{"id": "1", "feedback": "down", "comment": "Write to jane@example.com"}'
    encoded = b64encode(inner).decode()
    event = f'{{"specversion": "1.0", "id": "e", "source": "/s", "type": "t", "data_base64": "{encoded}"}}'
    turn = b'{"id": "1", "question": "q", "retrieved_documents": ["d"], "answer": "a", "extra": "MTIz"}'
    assert application.collecting.intake.events([message(turn), message(event.encode(), 1)], app="shop") == []
    kept = b"".join(value for (value,) in rows("SELECT value FROM inbox"))
    assert encoded.encode() not in kept
    assert b"jane" not in kept
    assert b"extra" not in kept
    assert stored(application).received == 1
    assert rows("SELECT app, thumb, comment FROM feedback") == [("shop", "down", "Write to [e-mail]")]


def test_the_app_is_that_of_the_service_where_no_token_says(application, rows):
    application.collecting.intake.spans(collected(*a_turn(A, resource={"service.name": "kettles"}), *a_turn(B)))
    stored(application, ("", A), ("", B))
    assert rows("SELECT app, id FROM interaction ORDER BY id") == [("kettles", A), ("default", B)]


def test_the_dialect_of_other_sources_says_nothing_of_the_inbox(application, rows):
    ingest = application.settings.ingest.model_copy(update={"dialect": "otlp_proto"})
    application.settings = application.settings.model_copy(update={"ingest": ingest})
    application.collecting.intake.spans(collected(*a_turn(A), app="shop"))
    event = b'{"id": "1", "question": "q", "retrieved_documents": ["d"], "answer": "a"}'
    assert application.collecting.intake.events([message(event)], app="shop") == []
    stored(application, ("shop", A))
    assert rows("SELECT id FROM interaction ORDER BY id") == [("1",), (A,)]


def test_a_turn_keeps_its_app_when_a_root_of_another_service_comes_later(application, rows):
    root, *others = reversed(a_turn(A, resource={"service.name": "gateway"}))
    kettles = {"service.name": "kettles"}
    application.collecting.intake.spans(collected(*(replace(span, resource=kettles) for span in others)))
    stored(application, ("", A))
    application.collecting.intake.spans(collected(root))
    stored(application, ("", A))
    assert rows("SELECT app, id FROM interaction") == [("kettles", A)]


def test_one_process_reads_the_inbox_and_another_takes_over(application, rows):
    application.collecting.intake.spans(collected(*a_turn(A)))
    stop = Event()
    with collecting(application, stop, lambda _batch, _tally: None) as first:
        finish(application, [("", A)], stop)
        with collecting(application, stop, lambda _batch, _tally: None) as second:
            application.collecting.intake.spans(collected(*a_turn(B)))
            finish(application, [("", B)], stop)
    assert (first.tally.received, second.tally.received) == (2, 0)
    application.collecting.intake.spans(collected(*a_turn("c" * 32)))
    assert stored(application, ("", "c" * 32)).received == 1
    assert rows("SELECT next_offset, received FROM consumer_offset") == [(3, 3)]
