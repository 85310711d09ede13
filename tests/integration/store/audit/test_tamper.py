"""`verify` finds and names every change, removal, insertion, move or new signature in the stored trail."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from monitor.audit.key import Signer
from monitor.audit.merkle import leaf_hash, root_of
from monitor.audit.note import Checkpoint, signed
from monitor.audit.record import ASSESSMENT_LEFT_OUT, INTERACTION_LEFT_OUT
from monitor.store.audit.verify import verify_within
from tests.factories.answers import NOON
from tests.rig.store.audit_trail import a_trail
from tests.rig.store.keys import KEY, SIGNER

SEEDS = range(4)
TIMES = 250  # for each seed
ROWS = ("interaction", "assessment", "judgement")
TABLES = (*ROWS, "audit_leaf", "audit_tile", "audit_secret", "audit_checkpoint")
FORGER = Signer("monitor", bytes(reversed(range(32))))


class Tampering:
    """One random change of the stored trail; each method returns words, one of which a finding must contain."""

    def __init__(self, connection: Connection, random: Random) -> None:
        self._sql = connection
        self._random = random

    def ask(self, query: str, **values: object) -> list[Any]:
        result = self._sql.execute(text(query), values)
        return list(result.mappings()) if result.returns_rows else []

    def set(self, row: dict[str, Any], column: str, value: object) -> None:
        """Updates the row in its own partition."""
        kind = self.kind(row, column)
        value = json.dumps(value) if kind == "jsonb" else value
        self.ask(
            f"UPDATE {row['tab']} SET {column} = CAST(:v AS {kind}) WHERE ctid = CAST(:p AS tid)",
            v=value,
            p=row["place"],
        )

    def kind(self, row: dict[str, Any], column: str) -> str:
        asked = """SELECT format_type(atttypid, atttypmod) AS kind FROM pg_attribute
                   WHERE attrelid = CAST(:t AS regclass) AND attname = :c"""
        return str(self.ask(asked, t=row["tab"], c=column)[0]["kind"])

    def row(self, table: str, *, whole: bool = False) -> dict[str, Any]:
        """A random row with its place; `whole`: of an interaction that was not erased."""
        condition = ""
        if whole and table in ROWS:
            condition = "WHERE EXISTS (SELECT FROM audit_secret s WHERE s.app = t.app AND s.id = t.id)"
        place = "tableoid::regclass::text AS tab, ctid::text AS place"
        rows = self.ask(f"SELECT {place}, t.* FROM {table} t {condition} ORDER BY t")
        return dict(self._random.choice(rows))

    def names(self, table: str, row: dict[str, Any]) -> list[str]:
        match table:
            case "audit_leaf":
                return [f"leaf {row['index']}", row["subject"], f"leaf {row['index']},"]
            case "audit_tile":
                return [f"tile {row['index']} of level {row['level']}"]
            case "audit_checkpoint":
                return [f"checkpoint of {row['size']} leaves"]
        return [row["id"]]

    def flip(self) -> list[str]:
        """Changes a bit, byte, number, time or text in any column of any row."""
        table = self._random.choice(TABLES)
        row = self.row(table, whole=True)
        left_out = {"tab", "place", *ASSESSMENT_LEFT_OUT, *INTERACTION_LEFT_OUT}
        name = self._random.choice([name for name in row if name not in left_out])
        new = self.other(self.kind(row, name), row[name])
        self.set(row, name, new)
        return [*self.names(table, row), *self.names(table, {**row, name: new})]

    def other(self, kind: str, value: Any) -> Any:
        """Another value of the type of the column."""
        random = self._random
        changes = {
            "bytea": self._other_bytes,
            "boolean": lambda value: not value,
            "integer": lambda value: (value or 0) + random.choice([-3, -1, 1, 7]),
            "bigint": lambda value: (value or 0) + random.choice([-3, -1, 1, 7]),
            "real": lambda value: (value or 0.0) + random.choice([-0.25, 0.0625, 1]),
            "double precision": lambda value: (value or 0.0) + random.choice([-0.25, 0.0625, 1]),
            "text[]": lambda value: (value or [])[1:] or ["x"],
            "jsonb": self._other_json,
            "text": self._other_text,
            "timestamp with time zone": lambda value: (
                (value or NOON) + timedelta(microseconds=random.randrange(1, 10**9))
            ),
        }
        return changes[kind](value)

    def _other_bytes(self, value: bytes) -> bytes:
        data = bytearray(value)
        data[self._random.randrange(len(data))] ^= 1 << self._random.randrange(8)
        return bytes(data)

    def _other_text(self, value: str | None) -> str:
        if not value:
            return "x"
        at = self._random.randrange(len(value))
        return value[:at] + self._random.choice([c for c in "abcx.0{}\n" if c != value[at]]) + value[at + 1 :]

    def _other_json(self, value: Any) -> Any:
        within = value and self._random.random() < 0.9
        if isinstance(value, dict) and within:
            name = self._random.choice(sorted(value))
            return {**value, name: self._other_json(value[name])}
        if isinstance(value, list) and within:
            at = self._random.randrange(len(value))
            return [*value[:at], self._other_json(value[at]), *value[at + 1 :]]
        if isinstance(value, str):
            return self._other_text(value)
        return value + 0.5 if type(value) in {int, float} else {"x": value}

    def delete(self) -> list[str]:
        table = self._random.choice(TABLES)
        row = self.row(table)
        self.ask(f"DELETE FROM {row['tab']} WHERE ctid = CAST(:p AS tid)", p=row["place"])
        return [*self.names(table, row), "cut off"]

    def insert(self) -> list[str]:
        """Inserts a copy of a row under another name or time, or a leaf after the others."""
        table = self._random.choice(TABLES)
        row = self.row(table)
        change = {
            "interaction": self._random.choice([{"id": "forged"}, {"occurred_at": "2025-11-21T11:00:00Z"}]),
            "assessment": self._random.choice([{"profile_hash": "f" * 16}, {"occurred_at": "2025-11-21T11:00:00Z"}]),
            "judgement": self._random.choice([{"metric": "recall"}, {"occurred_at": "2025-11-21T11:00:00Z"}]),
            "audit_leaf": {"index": self._random.choice([-1, 1]) * 100_000},
            "audit_tile": {"index": 100_000},
            "audit_secret": {"id": "forged"},
            "audit_checkpoint": {"size": self._random.choice([0, 1, 100_000])},
        }[table]
        self.ask(
            f"INSERT INTO {table} SELECT (jsonb_populate_record(t, CAST(:c AS jsonb))).* FROM {table} t"
            " WHERE tableoid = CAST(:t AS regclass) AND ctid = CAST(:p AS tid)",
            c=json.dumps(change),
            t=row["tab"],
            p=row["place"],
        )
        return [*self.names(table, {**row, **change}), "is missing"]

    def reorder(self) -> list[str]:
        """Exchanges two rows, or their values."""
        table, column = self._random.choice(
            [
                ("audit_leaf", "index"),
                ("audit_leaf", "body"),
                ("audit_leaf", "subject"),
                ("audit_leaf", "hash"),
                ("audit_secret", "secret"),
                ("audit_checkpoint", "note"),
                ("interaction", "answer"),
                ("interaction", "turn"),
                ("assessment", "p_grounded"),
                ("judgement", "parts"),
            ]
        )
        one, other = self.row(table, whole=True), self.row(table, whole=True)
        while one[column] == other[column]:
            one, other = self.row(table, whole=True), self.row(table, whole=True)
        if column == "index":
            self.ask("UPDATE audit_leaf SET index = -7 WHERE index = :a", a=one["index"])
            self.ask("UPDATE audit_leaf SET index = :a WHERE index = :b", a=one["index"], b=other["index"])
            self.ask("UPDATE audit_leaf SET index = :b WHERE index = -7", b=other["index"])
            return [f"leaf {one['index']}", "; look at leaves"]  # the last leaves are in no tile
        for its, value in ((one, other[column]), (other, one[column])):
            self.set(its, column, value)
        return [*self.names(table, one), *self.names(table, other)]

    def rewrite(self) -> list[str]:
        """Rewrites history as its owner might: a leaf with all hashes above it, signed again or not."""
        leaf = self.row("audit_leaf")
        body = json.loads(leaf["body"])
        body["verdict"] = "grounded" if body.get("verdict") != "grounded" else "refusal"
        self._replace(leaf["index"], json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
        signer = self._random.choice([None, SIGNER, FORGER])
        hashes = [bytes(row["hash"]) for row in self.ask("SELECT hash FROM audit_leaf ORDER BY index")]
        for row in self.ask("SELECT size FROM audit_checkpoint WHERE size > :i", i=leaf["index"]):
            if signer is not None:
                self._sign(row["size"], root_of(hashes[: row["size"]]), signer)
        return [leaf["subject"], f"leaf {leaf['index']}", "checkpoint of", "the witness"]

    def _replace(self, index: int, body: str) -> None:
        new = leaf_hash(body.encode())
        self.ask("UPDATE audit_leaf SET body = :b, hash = :h WHERE index = :i", b=body, h=new, i=index)
        self.ask(
            "UPDATE audit_tile SET hashes = overlay(hashes PLACING :h FROM CAST(:at AS integer))"
            " WHERE level = 0 AND index = :t",
            h=new,
            at=index % 256 * 32 + 1,
            t=index // 256,
        )

    def _sign(self, size: int, root: bytes, signer: Signer) -> None:
        note = signed(Checkpoint(origin="monitor", size=size, root=root), signer)
        self.ask("UPDATE audit_checkpoint SET root = :r, note = :n WHERE size = :s", r=root, n=note, s=size)

    def resign(self) -> list[str]:
        """Signs a checkpoint with another key, or another root with ours."""
        row = self.row("audit_checkpoint")
        if self._random.random() < 0.5:
            self._sign(row["size"], bytes(row["root"]), FORGER)
        else:
            self._sign(row["size"], self._random.randbytes(32), SIGNER)
        return self.names("audit_checkpoint", row)

    def truncate(self) -> list[str]:
        """Cuts off the end with its checkpoints, and perhaps with its rows."""
        size = int(self._random.choice(self.ask("SELECT size FROM audit_checkpoint ORDER BY size OFFSET 1"))["size"])
        keep = self._random.randrange(1, size)
        if self._random.random() < 0.5:
            for table in (*ROWS, "audit_secret"):
                told = "SELECT FROM audit_leaf l WHERE l.index >= :k AND l.subject = t.id AND l.app = t.app"
                self.ask(f"DELETE FROM {table} t WHERE EXISTS ({told})", k=keep)
        self.ask("DELETE FROM audit_leaf WHERE index >= :k", k=keep)
        self.ask("DELETE FROM audit_tile WHERE (index + 1) * 256 > :k", k=keep)
        self.ask("DELETE FROM audit_checkpoint WHERE size > :k", k=keep)
        return ["cut off"]

    @property
    def all(self) -> list[Callable[[], list[str]]]:
        return (
            [self.flip] * 6
            + [self.delete] * 3
            + [self.insert] * 3
            + [
                self.reorder,
                self.rewrite,
                self.resign,
                self.truncate,
            ]
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_tampered_with_is_found_and_named(engine, database, seed):
    trail = a_trail(engine, database, batches=6, size=24)
    random = Random(seed)
    with engine.connect() as connection, connection.begin():
        untouched = verify_within(connection, [KEY], notes=trail.witness.notes)
        assert untouched.findings == ()
        assert untouched.signed == untouched.size > 300
        done, missed = 0, []
        while done < TIMES:
            with connection.begin_nested() as savepoint:
                act = random.choice(Tampering(connection, random).all)
                try:
                    words = act()
                except IntegrityError:  # the database itself does not let that pass
                    savepoint.rollback()
                    continue
                found = verify_within(connection, [KEY], notes=trail.witness.notes).findings
                savepoint.rollback()
            if not any(word == one.subject or word in one.sentence for word in words for one in found):
                missed.append((act.__name__, words, found))
            done += 1
        assert missed == []
