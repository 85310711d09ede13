"""The look-up by SQL on PostgreSQL."""

from __future__ import annotations

from contextlib import closing

import pytest
from sqlalchemy import create_engine, text

from monitor.core.errors import Retriable
from monitor.ingest.lookup.sql import SqlLookup


@pytest.fixture
def url(empty_database):
    engine = create_engine(empty_database.replace("postgresql://", "postgresql+psycopg://", 1))
    with engine.begin() as connection:
        connection.execute(
            text("CREATE TABLE chunks AS SELECT n AS id, 'text ' || n AS body FROM generate_series(1, 1200) n")
        )
    engine.dispose()
    return empty_database


def found(url, query, ids=("7", "8", "x'; --"), timeout=5):
    with closing(SqlLookup(url, query, timeout=timeout)) as lookup:
        return lookup.texts("shop", ids)


@pytest.mark.parametrize("condition", ["CAST(id AS text) IN :ids", "CAST(id AS text) = ANY(:ids)"])
def test_texts_are_found_by_ids_from_outside(url, condition):
    query = f"SELECT id, body FROM chunks WHERE {condition}"
    assert found(url, query) == {"7": "text 7", "8": "text 8"}
    assert len(found(url, query, ids=[str(n) for n in range(1_300)])) == 1_200


def test_an_id_that_the_query_does_not_take_passes_for_no_outage(url):
    query = "SELECT id, body FROM chunks WHERE id = ANY(CAST(:ids AS int[]))"
    assert found(url, query) == {}
    assert found(url, query, ids=("7",)) == {"7": "text 7"}


def test_the_session_only_reads(url):
    with pytest.raises(Retriable, match="read-only transaction"):
        found(url, "SELECT id, lo_create(0)::text FROM chunks WHERE CAST(id AS text) IN :ids")


def test_a_statement_ends_after_the_timeout(url):
    # the timeout ends the sleep
    with pytest.raises(Retriable, match="statement timeout"):
        found(url, "SELECT '7', pg_sleep(600)::text FROM chunks WHERE CAST(id AS text) IN :ids", timeout=0.2)


def test_a_database_that_is_down_may_come_back():
    with pytest.raises(Retriable, match=r"SQL on 127\.0\.0\.1"):
        found("postgresql://127.0.0.1:1/kb", "SELECT id, body FROM chunks WHERE id IN :ids")
