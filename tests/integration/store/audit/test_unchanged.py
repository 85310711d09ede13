"""Rows compared column by column: whatever that finds unchanged, the comparison row by row finds unchanged too."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from psycopg.postgres import types
from psycopg.types.json import Jsonb

from monitor.audit.canonical import canonical
from monitor.audit.export import Stored
from monitor.audit.record import float4, portable, tagged
from monitor.store.audit.checks.accounts import read_accounts
from monitor.store.audit.checks.column_text import ODD, WRITE
from monitor.store.audit.checks.comparison import compare_rows
from monitor.store.audit.checks.unchanged import unchanged
from monitor.store.audit.leaf import Leaf
from monitor.store.audit_queue import STORED, Kind, driver
from tests.integration.store.audit.test_records import texts, values
from tests.rig.store.audit_trail import a_trail
from tests.rig.store.keys import QUEUE_KEY

_LEAVES = "SELECT index, kind, app, subject, part, sealed_at, body, hash FROM audit_leaf ORDER BY index"


@pytest.fixture
def raw(database):
    with psycopg.connect(database, options="-c timezone=UTC") as connection:
        yield connection


def test_each_row_that_is_as_sealed_is_found_at_once_and_no_other(engine, database):
    a_trail(engine, database, batches=3, size=12)
    with engine.connect() as connection:
        leaves = [Leaf(*row) for row in driver(connection).execute(_LEAVES)]
        accounts = read_accounts(connection, QUEUE_KEY)
        compared = list(compare_rows(driver(connection), leaves, lambda: accounts, QUEUE_KEY))
        for kind in STORED:
            of_kind = [leaf for leaf in leaves if leaf.kind == kind]
            same = {its.leaf.number for its in compared if its.leaf.kind == kind and its.state is Stored.SAME}
            assert unchanged(driver(connection), kind, of_kind) == same
            assert len(same) > 0
            assert kind == Kind.JUDGEMENT or len(same) < len(of_kind)  # some were erased, revised or removed


def written(raw: psycopg.Connection, type_: str, value: object) -> str:
    """The JSON that is made of the text of a value in a column of this type."""
    element = types[type_.removesuffix("[]")]
    oid = element.array_oid if type_.endswith("[]") else element.oid
    (text,) = raw.execute(f"SELECT (%s::{type_})::text", [value]).fetchone()
    assert WRITE[oid]([None, text])[0] == "null"
    return WRITE[oid]([text])[0]


quickly = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quickly
@given(values)
@example({"a": 10**22})
@example({"a": 10**30 + 1})
@example([1e30])
def test_json_is_written_as_it_is_committed_to_or_as_nothing_is(raw, value):
    (stored,) = raw.execute("SELECT %s::jsonb", [Jsonb(value)]).fetchone()
    made = written(raw, "jsonb", Jsonb(value))
    assert made == canonical(tagged(stored)).decode() or not is_canonical(made)


def is_canonical(text: str) -> bool:
    try:
        return canonical(json.loads(text)).decode() == text
    except ValueError:
        return False


@quickly
@given(st.datetimes(timezones=st.just(UTC)))
@example(datetime(2026, 11, 21, 12, 0, tzinfo=UTC))
@example(datetime(2026, 11, 21, 12, 0, 0, 100, tzinfo=UTC))
def test_times_are_written_as_in_a_record(raw, value):
    assert written(raw, "timestamptz", value) == f'"{portable(value)}"'


@pytest.mark.parametrize("text", ["infinity", "-infinity", "10000-01-01 00:00:00+00", "0044-03-15 00:00:00+00 BC"])
def test_a_time_that_no_record_holds_is_not_written(raw, text):
    assert written(raw, "timestamptz", text) == ODD


@quickly
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
@example(1e-5)
@example(1e6)
@example(0.1)
def test_reals_are_written_as_in_a_record(raw, value):
    assert written(raw, "float4", value) in {canonical(float4(value)).decode(), "-0"}


@quickly
@given(st.floats())
@example(1936.0)
def test_doubles_are_written_as_in_a_record_or_not_at_all(raw, value):
    assert written(raw, "float8", value) in {canonical(portable(value)).decode(), ODD, "-0"}


@quickly
@given(st.lists(st.one_of(st.sampled_from(["NULL", "null", "{", "a,b", '"', "\\", "", " "]), texts)))
@example([["a", "b"]])
@example([None, "a"])
def test_arrays_are_written_as_in_a_record_or_not_at_all(raw, value):
    assert written(raw, "text[]", value) in {canonical(value).decode(), ODD}


@quickly
@given(texts)
def test_texts_are_written_as_in_a_record(raw, value):
    assert written(raw, "text", value) == canonical(value).decode()
