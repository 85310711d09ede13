"""Keeps what arrives of traces on a real server: once each, within the limits, until it is purged or erased."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from monitor.core.errors import Overloaded
from monitor.core.trace import Collected
from monitor.store.collect.figures import collect_figures
from monitor.store.collect.keep import collect
from monitor.store.collect.parts import read_parts
from monitor.store.collect.purge import erase_traces
from monitor.store.interaction.writer import GROUP
from tests.factories.answers import clock
from tests.rig.ingest.spans import log, span
from tests.rig.store.traces import AT_ONCE, a_turn, collected, store_of
from tests.rig.waiting import until

A, B = "a" * 32, "b" * 32


@pytest.fixture
def open_store(database):
    stores = []

    def made(**limits):
        stores.append(store_of(database, **limits))
        return stores[-1]

    yield made
    for store in stores:
        store.close()


def test_what_arrives_again_changes_nothing(open_store, rows):
    store = open_store(idle=90.0)
    first = store.keep([collected(*a_turn(A))])
    before = rows("SELECT last_at, due_at, parts, bytes FROM trace")
    again = store.keep([collected(*a_turn(A)), collected(*a_turn(A)[:1])])
    assert (first.received, first.repeated) == (3, 0)
    assert (again.received, again.repeated) == (4, 4)
    assert rows("SELECT last_at, due_at, parts, bytes FROM trace") == before


def test_another_app_cannot_add_to_a_trace(open_store, rows):
    store = open_store()
    store.keep([collected(*a_turn(A), app="shop"), collected(span(9, trace_id=A), app="other")])
    assert rows("SELECT app, spans FROM trace ORDER BY app") == [("other", 1), ("shop", 3)]


@pytest.mark.parametrize(
    ("spans", "complete"),
    [
        pytest.param(slice(None), True, id="root and answer"),
        pytest.param(slice(0, 2), False, id="no root"),
        pytest.param(slice(1, 2), False, id="a lone span, which may be the double of another trace's"),
    ],
)
def test_a_trace_with_root_and_answer_is_due_soon_and_any_other_when_it_is_idle(open_store, rows, spans, complete):
    open_store(close_after=10.0, idle=90.0).keep([collected(*a_turn(A)[spans])])
    [(wait,)] = rows("SELECT due_at - last_at FROM trace")
    assert wait == timedelta(seconds=10 if complete else 90)


def test_spans_and_log_records_beyond_the_limits_of_their_trace_are_refused_for_good(open_store, rows):
    store = open_store(max_parts=3)
    kept = store.keep([collected(*a_turn(A), *(span(n, trace_id=A) for n in range(10, 15)))])
    assert kept.refused == 5
    again = store.keep([collected(*a_turn(A))])
    assert (again.refused, again.repeated) == (0, 3), "what is kept counts as kept, also at the limit"
    big = store.keep([collected(span(1, trace_id=B, text="x" * 100))])
    assert big.refused == 0
    assert open_store(max_trace_bytes=300).keep([collected(span(1, trace_id="c" * 32, text="x" * 300))]).refused == 1
    assert rows("SELECT count(*) FROM trace_part") == [(4,)]


def test_spans_that_were_wrong_in_a_message_count_as_refused(open_store, engine):
    kept = open_store().keep([replace(collected(*a_turn(A)), rejected=2)])
    assert (kept.received, kept.refused, kept.repeated) == (5, 2, 0)
    figures = collect_figures(engine, GROUP, clock())
    assert (figures.spans, figures.refused) == (5, 2)


def test_at_the_limit_of_open_traces_others_must_wait_but_open_ones_may_go_on(open_store, rows):
    store = open_store(max_open=1, idle=90.0)
    store.keep([collected(*a_turn(A)[:1])])
    with pytest.raises(Overloaded, match="1 traces are open; the limit is 1") as refused:
        store.keep([collected(span(1, trace_id=B))])
    assert refused.value.retry_after is not None
    store.keep([collected(*a_turn(A)[1:])])
    assert rows("SELECT trace_id, spans FROM trace") == [(A, 3)]


def test_at_the_limit_of_bytes_everybody_must_wait(open_store):
    store = open_store(max_bytes=2_000)
    store.keep([collected(*a_turn(A))])
    with pytest.raises(Overloaded, match="bytes of spans are kept"):
        store.keep([collected(*a_turn(B))])


def test_what_is_too_much_by_itself_is_let_in_once_half_is_free_since_it_would_wait_for_ever(open_store, rows):
    many = [collected(span(1, trace_id=f"{number:032x}")) for number in range(1, 6)]
    open_store(max_open=4, max_bytes=100, idle=90.0).keep(many)
    assert rows("SELECT sum(open), sum(bytes) > 100 FROM trace_count") == [(5, True)]


def test_the_older_a_closed_trace_is_the_longer_it_waits_for_more_before_its_turn_is_revised(
    open_store, rows, database
):
    open_store().keep([collected(*a_turn(A))])
    store = open_store(close_after=10.0)
    store.close_traces([(trace, b"{}") for trace in store.claim(10)])
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE trace SET first_at = first_at - interval '1000 s'")
    store.keep([collected(span(7, trace_id=A))])
    [(first, wait)] = rows("SELECT due_at, round(extract(epoch FROM due_at - last_at)) FROM trace")
    store.keep([collected(span(8, trace_id=A))])
    assert wait == 100
    assert rows("SELECT due_at FROM trace") == [(first,)], "what comes meanwhile does not put it off"


def test_a_closed_trace_keeps_its_spans_for_a_while_and_its_row_for_longer(open_store, rows, engine):
    store = open_store(keep_parts=0.0)
    store.keep([collected(*a_turn(A), app="shop")])
    claimed = store.claim(10)
    assert store.close_traces([(claimed[0], b"{}")]) == 1
    assert store.purge() == 1
    assert rows("SELECT count(*) FROM trace_part") == [(0,)]
    late = store.keep([collected(*a_turn(A), app="shop")])
    assert late.late == 3
    assert rows("SELECT count(*) FROM trace_part") == [(0,)], "no second turn is made of what comes even later"
    figures = collect_figures(engine, GROUP, clock())
    assert (figures.open, figures.bytes, figures.late, figures.waiting) == (0, 0, 3, {"otlp": 1})
    open_store(keep_parts=0.0, remember=1e-6).purge()
    assert rows("SELECT count(*) FROM trace") == [(0,)]


def test_spans_of_closed_traces_go_early_while_much_is_kept(open_store, rows):
    store = open_store()
    store.keep([collected(*a_turn(A))])
    store.close_traces([(trace, None) for trace in store.claim(10)])
    assert store.purge() == 0
    assert open_store(max_bytes=1).purge() == 1
    assert rows("SELECT sum(bytes), sum(open) FROM trace_count") == [(0, 0)]


def test_a_claim_is_void_when_more_arrives(open_store, rows):
    store = open_store()
    store.keep([collected(*a_turn(A)[:2])])
    claimed = store.claim(10)
    store.keep([collected(*a_turn(A)[2:])])
    assert store.close_traces([(trace, b"{}") for trace in claimed]) == 0
    assert rows("SELECT count(*) FROM inbox") == [(0,)]
    assert [trace.spans for trace in store.claim(10)] == [3]
    assert store.claim(10) == [], "a claimed trace is left to the process that claimed it"


def test_an_erasure_takes_the_spans_that_were_stored_while_it_waited(open_store, rows, database, engine):
    open_store().keep([collected(*a_turn(A)[:2])])

    def erase():
        with engine.begin() as connection:
            erase_traces(connection, "shop", [A])

    with psycopg.connect(database) as connection, ThreadPoolExecutor(1) as executor:
        collect(connection, [collected(a_turn(A)[2])], AT_ONCE, clock())
        erasing = executor.submit(erase)
        until("it waits", lambda: erasing.done() or rows("SELECT pid FROM pg_locks WHERE NOT granted"))
        connection.commit()
        erasing.result()
    assert rows("SELECT count(*) FROM trace_part") == [(0,)]
    assert rows("SELECT sum(open), sum(bytes) FROM trace_count") == [(0, 0)]


def test_log_records_are_parts_too(open_store):
    store = open_store()
    store.keep([collected(*a_turn(A))])
    record = log(3, "gen_ai.choice", {"message": "At nine."}, trace_id=A)
    parts = store.parts([("", A)])["", A]
    assert [is_log for is_log, _ in parts] == [False] * 3
    store.keep([Collected(received_at=clock(), logs=(record,))])
    spans, logs = read_parts(store.parts([("", A)])["", A])
    assert sorted(spans, key=lambda s: s.span_id) == sorted(a_turn(A), key=lambda s: s.span_id)
    assert logs == [record]


def test_an_open_trace_does_not_wait_for_a_clock_that_was_set_back(open_store, rows):
    store = open_store(idle=90.0, close_after=10.0)
    store.keep([collected(*a_turn(A)), collected(span(9, trace_id=B))])
    rows("UPDATE trace SET due_at = due_at + CASE WHEN trace_id = %s THEN interval '1 day' ELSE '8 min' END", A)
    assert store.claim(9) == []
    store.purge()
    assert [trace.trace_id for trace in store.claim(9)] == [A]
