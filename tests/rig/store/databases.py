"""Databases for tests: each test gets one of its own, and gives it back emptied, since to make one takes far longer."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count

import psycopg
from psycopg import sql
from sqlalchemy.engine import make_url

_GROWN = 4 * 2**20  # bytes that a used database may be larger than a fresh one and still be given out again
_SESSIONS = """
    SELECT pg_terminate_backend(pid, 10_000) FROM pg_stat_activity WHERE datname = current_database()
    AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
_TABLES = """
    SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY oid
"""
_PARTITIONS = "SELECT oid, oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relispartition"
_SEQUENCES = "SELECT schemaname || '.' || sequencename, start_value, last_value FROM pg_sequences ORDER BY 1"
_SET = "SELECT setval(%s::regclass, %s, %s)"
_CATALOGUES = (
    "pg_class",
    "pg_attribute",
    "pg_attrdef",
    "pg_constraint",
    "pg_index",
    "pg_proc",
    "pg_rewrite",
    "pg_trigger",
    "pg_type",
)
_SCHEMA = (
    " UNION ALL ".join(
        f"SELECT '{name}', count(*), bit_xor(hashtextextended(ctid::text || xmin::text, 0)) FROM {name}"
        for name in _CATALOGUES
    )
    + " UNION ALL SELECT 'settings', count(*), bit_xor(hashtextextended(s::text, 0)) FROM pg_db_role_setting s"
)


class Databases:
    """Makes the databases of one test process on the server at `url`, and drops them all at its end."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._numbers = count(1)
        self._admin = psycopg.connect(url, autocommit=True)
        self._names: set[str] = set()
        self._free: dict[str, list[str]] = defaultdict(list)  # emptied databases by template
        self._fresh: dict[str, _Fresh] = {}

    def make(self, template: str = "template0") -> str:
        """The URL of a new database, which stays until the end of the process."""
        name = self._name()
        self._admin.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
        )
        self._names.add(name)
        return self._at(name)

    @contextmanager
    def lent(self, template: str) -> Iterator[str]:
        """The URL of a database that is a copy of the template, until the end of the block."""
        url = self._used(template) or self.make(template)
        name = _name(url)
        if template not in self._fresh:
            with psycopg.connect(url, autocommit=True) as connection:
                self._fresh[template] = _Fresh(connection)
        yield url
        if self._fresh[template].restored(url):
            self._free[template].append(name)
        else:
            self.drop(name)

    def drop(self, name: str) -> None:
        self._admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        self._names.discard(name)

    def close(self) -> None:
        for name in list(self._names):
            self.drop(name)
        self._admin.close()

    def _used(self, template: str) -> str | None:
        """A used database under a new name, since what still runs of the test before must not reach it."""
        while self._free[template]:
            old, new = self._free[template].pop(), self._name()
            rename = sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(old), sql.Identifier(new))
            try:
                self._admin.execute(rename)
            except psycopg.errors.ObjectInUse:  # something of that test has come back to it
                self.drop(old)
                continue
            self._names.remove(old)
            self._names.add(new)
            return self._at(new)
        return None

    def _name(self) -> str:
        return f"monitor_test_{os.getpid()}_{next(self._numbers)}"

    def _at(self, name: str) -> str:
        return make_url(self._url).set(database=name).render_as_string(hide_password=False)


class _Fresh:
    """What an unused copy of a template looks like, and the way back to it."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._schema = connection.execute(_SCHEMA).fetchall()
        self._size = _size(connection)
        self._partitions = {oid for oid, _ in connection.execute(_PARTITIONS)}
        self._last = {name: last for name, _, last in connection.execute(_SEQUENCES)}
        self._tables = [name for (name,) in connection.execute(_TABLES)]
        self._rows = {name: _copied(connection, name) for name in _filled(connection, self._tables)}

    def restored(self, url: str) -> bool:
        """Empties the database; false where it cannot become what it was, because its schema was changed."""
        with suppress(psycopg.Error), psycopg.connect(url) as connection:
            connection.execute(_SESSIONS)
            if _size(connection) > self._size + _GROWN:
                return False
            # no trigger or foreign key stands in the way
            connection.execute("SET LOCAL session_replication_role = replica")
            made = [name for oid, name in connection.execute(_PARTITIONS).fetchall() if oid not in self._partitions]
            if made:
                connection.execute(f"DROP TABLE {', '.join(made)}")
            for name in _filled(connection, self._tables):
                connection.execute(f"DELETE FROM {name}")
            for name, rows in self._rows.items():
                with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                    copy.write(rows)
            for name, start, last in connection.execute(_SEQUENCES).fetchall():
                before = self._last[name]
                if last == before:
                    continue
                connection.execute(_SET, (name, start if before is None else before, before is not None))
            return connection.execute(_SCHEMA).fetchall() == self._schema
        return False


def _filled(connection: psycopg.Connection, tables: Sequence[str]) -> list[str]:
    """The tables that hold rows; most have never held any, so that their files are empty, which is quick to see."""
    sizes = f"SELECT {', '.join(f'pg_relation_size({name!r})' for name in tables)}"
    row = connection.execute(sizes).fetchone()
    tables = [name for name, size in zip(tables, row, strict=True) if size]
    if not tables:
        return []
    row = connection.execute(f"SELECT {', '.join(f'EXISTS (SELECT FROM {name})' for name in tables)}").fetchone()
    return [name for name, is_filled in zip(tables, row, strict=True) if is_filled]


def _copied(connection: psycopg.Connection, table: str) -> bytes:
    with connection.cursor().copy(f"COPY {table} TO STDOUT") as copy:
        return b"".join(copy)


def _size(connection: psycopg.Connection) -> int:
    return connection.execute("SELECT pg_database_size(current_database())").fetchone()[0]


def _name(url: str) -> str:
    return str(make_url(url).database)
