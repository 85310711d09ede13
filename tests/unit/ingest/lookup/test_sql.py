from __future__ import annotations

import sqlite3
from contextlib import ExitStack

import pytest

from monitor.core.errors import Retriable, WrongSettings
from monitor.ingest.lookup.sql import SqlLookup


@pytest.fixture
def url(tmp_path):
    path = tmp_path / "kb.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE chunks (id TEXT, body TEXT)")
        connection.executemany("INSERT INTO chunks VALUES (?, ?)", [("a", "A"), ("b'; DROP TABLE chunks; --", "B")])
        connection.executemany("INSERT INTO chunks VALUES (?, ?)", [(f"n{i}", str(i)) for i in range(1_200)])
    connection.close()
    return f"sqlite:///{path}"


@pytest.fixture
def lookup():
    with ExitStack() as closing:

        def made(url, query="SELECT id, body FROM chunks WHERE id IN :ids"):
            lookup = SqlLookup(url, query, timeout=5)
            closing.callback(lookup.close)
            return lookup

        yield made


def test_texts_are_found_by_ids_however_odd_and_many(url, lookup):
    odd = "b'; DROP TABLE chunks; --"
    assert lookup(url).texts("shop", ["a", odd, "x"]) == {"a": "A", odd: "B"}
    assert len(lookup(url).texts("shop", [f"n{i}" for i in range(1_200)])) == 1_200


def test_the_database_is_only_read(url, lookup):
    with pytest.raises(Retriable, match="readonly"):
        lookup(url, "DELETE FROM chunks WHERE id IN :ids RETURNING id, body").texts("shop", ["a"])
    assert lookup(url).texts("shop", ["a"]) == {"a": "A"}


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("SELECT body FROM chunks WHERE id IN :ids", "the query must give two columns, id and text"),
        ("SELECT id, body FROM chapters WHERE id IN :ids", "no such table: chapters"),
    ],
)
def test_a_query_that_fails_says_why(url, lookup, query, problem):
    with pytest.raises(Retriable, match=problem):
        lookup(url, query).texts("shop", ["a"])


def test_texts_beyond_the_limit_are_not_kept(url, lookup, monkeypatch):
    monkeypatch.setattr("monitor.ingest.lookup.lookup.MAX_TEXTS_BYTES", 100)
    found = lookup(url).texts("shop", [f"n{i}" for i in range(1_200)])
    assert 0 < sum(map(len, found.values())) <= 100


@pytest.mark.parametrize(
    ("url", "problem"),
    [("mysql://kb/db", "not mysql"), ("://", "malformed"), ("postgresql://u:p@kb:x/db", "malformed")],
)
def test_another_database_is_refused(url, lookup, problem):
    with pytest.raises(WrongSettings, match=problem) as caught:
        lookup(url)
    assert "u:p" not in str(caught.value)
