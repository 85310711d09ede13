"""Histograms without empty bins at their ends: every reader gets the figures of the whole ones, to the last bit."""

from __future__ import annotations

import runpy
from datetime import timedelta

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import Span
from monitor.app.background.trimming import trimming
from monitor.app.wiring.application import Application
from monitor.core.model import Metrics
from monitor.core.settings.load import load_settings
from monitor.store.alert.counts import SpanCounts
from monitor.store.interaction import trim
from monitor.store.interaction.trim import trim_piece
from monitor.store.interaction.usage import read_usage
from monitor.store.tables.interactions import METRICS, verdict_minute
from monitor.store.tables.signals import verdict_hour
from tests.factories.answers import NOON, an_assessment, at
from tests.rig.installation import ROOT
from tests.rig.store.writing import write
from tests.rig.waiting import until

MIGRATION = runpy.run_path(str(ROOT / "migrations" / "versions" / "0039_trimmed_bins.py"))
MEANS = [Signal(kind=SignalKind.MEAN, name=name) for name in METRICS]
PERCENTILES = [Signal(kind=SignalKind.LATENCY, name=name) for name in ("p50", "p99")]
SPANS = [Span(start=at(0), end=at(2)), Span(start=at(-30), end=at(90)), Span(start=at(0), end=at(60))]
AS_BEFORE = ", ".join(
    f"{name} = CASE WHEN {name} IS NOT NULL THEN"
    f" (SELECT array_agg(coalesce({name}[p], 0) ORDER BY p) FROM generate_series(1, {bins}) p) END"
    for name, bins in (*((f"{metric}_bins", 40) for metric in METRICS), ("latency_bins", 152))
)
WHOLE = "SELECT count(*) FROM verdict_minute WHERE cardinality(qa_bins) = 40"
similarities = st.none() | st.floats(-1, 1, width=32)
answers = st.lists(
    st.builds(
        an_assessment,
        occurred_at=st.integers(-20, 80).map(at),
        tags=st.sampled_from([{}, {"topic": "billing"}]),
        metrics=st.builds(Metrics, **dict.fromkeys(METRICS, similarities)),
        latency_ms=st.none() | st.floats(0, 1e7),
    ),
    min_size=1,
    max_size=12,
)
counts = st.lists(st.integers(0, 3), min_size=40, max_size=40)


def told(engine):
    """What alerts and reports read."""
    store = SpanCounts(engine)
    with engine.connect() as connection:
        used = [
            read_usage(connection, rollup, at(-60), at(120), by=("topic",), app=None)
            for rollup in (verdict_minute, verdict_hour)
        ]
    return [store.counts(signal, {}, ("topic",), SPANS) for signal in (*MEANS, *PERCENTILES)], used


def as_the_release_before_stored(rows, *, until=NOON + timedelta(days=1)):
    """Makes all histograms of the minutes whole, and has them trimmed up to a time."""
    rows(f"BEGIN; SET LOCAL monitor.hours = 'written'; UPDATE verdict_minute SET {AS_BEFORE}; COMMIT")
    rows("DELETE FROM rollup_trim")
    rows("INSERT INTO rollup_trim SELECT %s, min(minute) FROM verdict_minute", until)


def trim_all(engine, now=NOON + timedelta(days=2)):
    pieces = 0
    while trim_piece(engine, now):
        pieces += 1
    return pieces


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_=answers)
def test_trimming_changes_no_figure(writer, rows, engine, given_):
    rows("TRUNCATE interaction_key, interaction, assessment, audit_secret, verdict_minute, verdict_hour")
    write(writer, *(an_assessment(**_numbered(a, n)) for n, a in enumerate(given_)))
    as_written, stored = told(engine), rows("SELECT * FROM verdict_minute ORDER BY 1, 2, 3, 4, 5")
    as_the_release_before_stored(rows)
    assert told(engine) == as_written
    trim_all(engine)
    assert told(engine) == as_written
    assert rows("SELECT * FROM verdict_minute ORDER BY 1, 2, 3, 4, 5") == stored
    assert rows("SELECT * FROM rollup_trim") == []


def _numbered(assessment, number):
    it = assessment.interaction
    return {
        "id": f"q-{number}",
        "occurred_at": it.occurred_at,
        "tags": it.tags,
        "latency_ms": it.latency_ms,
        "metrics": assessment.metrics,
    }


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=counts, second=counts, sums=st.integers(-5_000, 5_000).map(lambda hundredths: hundredths / 100))
def test_the_functions_compute_what_they_did_before(database, first, second, sums):
    old_squares = MIGRATION["squares"]("bins[{}]").replace("FUNCTION bin_squares", "FUNCTION pg_temp.squares")
    old_add = MIGRATION["ADD_WHOLE"].replace("FUNCTION add_bins", "FUNCTION pg_temp.add_whole")
    with psycopg.connect(database) as connection:
        for statement in (old_squares, old_add):
            connection.execute(statement)
        before, added = connection.execute(
            "SELECT pg_temp.squares(%(a)s, %(n)s, %(s)s), pg_temp.add_whole(%(a)s, %(b)s)",
            {"a": first, "b": second, "n": sum(first), "s": sums},
        ).fetchone()
        now, squares, summed = connection.execute(
            """
            SELECT add_bins(a, b), bin_squares(a, %(n)s, %(s)s), bins_from_first(add_bins(a, b))
            FROM (SELECT add_bins(%(a)s, NULL) AS a, add_bins(NULL, %(b)s) AS b) trimmed
            """,
            {"a": first, "b": second, "n": sum(first), "s": sums},
        ).fetchone()
    assert squares == before
    filled = [place for place, number in enumerate(added) if number]
    assert now == (added[filled[0] : filled[-1] + 1] if filled else [])
    assert summed == (added[: filled[-1] + 1] if filled else [])


@pytest.mark.parametrize(
    ("a", "b", "sum_"),
    [
        ("NULL", "NULL", None),
        ("'{}'", "NULL", "{}"),
        ("'{0,0}'", "'{}'", "{}"),
        ("'[3:4]={1,2}'", "'[4:5]={-2,7}'", "[3:5]={1,0,7}"),
        ("'[3:4]={1,2}'", "'[3:3]={-1}'", "[4:4]={2}"),
        ("'[3:3]={1}'", "'[3:3]={-1}'", "{}"),
        ("'[9:9]={1}'", "'{0,5}'", "[2:9]={5,0,0,0,0,0,0,1}"),
    ],
)
def test_bins_are_added_at_their_places(rows, a, b, sum_):
    assert rows(f"SELECT add_bins({a}::bigint[], {b}::bigint[])::text") == [(sum_,)]


def test_what_was_interrupted_goes_on_where_it_was(writer, rows, engine, monkeypatch):
    monkeypatch.setattr(trim, "PIECE", 2)
    write(writer, *(an_assessment(id=f"q-{n}", occurred_at=at(n)) for n in range(5)))
    as_the_release_before_stored(rows)
    rows(f"ALTER TABLE verdict_minute ADD CONSTRAINT stop CHECK (minute < '{at(3)}' OR cardinality(qa_bins) = 40)")
    assert trim_piece(engine, at(60))
    with pytest.raises(Exception, match="stop"):
        trim_all(engine)
    assert rows(WHOLE) == [(3,)]
    assert rows("SELECT through FROM rollup_trim") == [(at(2),)]
    rows("ALTER TABLE verdict_minute DROP CONSTRAINT stop")
    assert trim_all(engine, at(60)) == 2
    assert rows(WHOLE) == [(0,)]
    assert rows("SELECT count(*) FROM rollup_trim") == [(1,)]  # until it is later than what that release may write
    assert not trim_piece(engine, NOON + timedelta(days=2))
    assert rows("SELECT count(*) FROM rollup_trim") == [(0,)]
    assert not trim_piece(engine, NOON + timedelta(days=2))


def test_a_row_that_is_being_written_is_left_to_its_writer(writer, rows, engine, database):
    write(writer, *(an_assessment(id=f"q-{n}", occurred_at=at(n)) for n in range(2)))
    as_the_release_before_stored(rows)
    with psycopg.connect(database) as another:
        another.execute("SELECT FROM verdict_minute WHERE minute = %s FOR UPDATE", (at(0),))
        trim_all(engine)
    assert rows(f"{WHOLE} AND minute = '{at(0)}'") == rows(WHOLE) == [(1,)]
    write(writer, an_assessment(id="q-9", occurred_at=at(0)))
    assert rows(WHOLE) == [(0,)]


def test_only_one_process_trims_at_a_time(writer, rows, engine, database):
    write(writer, an_assessment())
    as_the_release_before_stored(rows)
    with psycopg.connect(database) as another:
        another.execute("SELECT FROM rollup_trim FOR UPDATE")
        assert not trim_piece(engine, NOON + timedelta(days=2))
    assert rows(WHOLE) == [(1,)]


def test_a_piece_reads_no_more_rows_than_it_says(writer, rows, engine, monkeypatch):
    """The work of a piece follows its length, not that of the table."""
    monkeypatch.setattr(trim, "PIECE", 3)
    write(writer, *(an_assessment(id=f"q-{n}", occurred_at=at(n), tags={"topic": "t"}) for n in range(40)))
    rows("ANALYZE verdict_minute")
    with engine.connect() as connection:
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        (plan,) = connection.execute(
            text("EXPLAIN (ANALYZE, FORMAT JSON) " + trim._LAST.text),
            {"through": at(10), "before": at(60), "most": trim.PIECE},
        ).scalars()
    scanned = plan[0]["Plan"]
    while "Plans" in scanned:
        (scanned,) = scanned["Plans"]
    assert scanned["Node Type"] == "Index Only Scan"
    assert scanned["Actual Rows"] == trim.PIECE


def test_a_running_program_trims_what_there_is(writer, rows, database):
    write(writer, *(an_assessment(id=f"q-{n}", occurred_at=at(n)) for n in range(3)))
    as_the_release_before_stored(rows)
    settings = load_settings(database_url=database)
    with Application(settings, now=lambda: NOON + timedelta(days=2)) as application, trimming(application):
        until("all is trimmed", lambda: rows("SELECT count(*) FROM rollup_trim") == [(0,)])
    assert rows(WHOLE) == [(0,)]
