"""Revisions: a record of a row that was changed names the record before it, by the SHA-256 of what that one says.

An export that holds one record of a row holds all of them, up to its last checkpoint.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from monitor.audit.verifier.canonical_json import canonical

REVISES = "revises"
OF_LEAF = ("entry", REVISES, "sealed_at")  # what a leaf says beside the record of its row


class Before(NamedTuple):
    """The newest record of a row: its leaf, its version, and the digest that a revision names."""

    leaf: int
    version: int
    digest: bytes


class Revisions:
    """Whether revisions follow from the records before them. `named` counts those that do, `unknown` what stays open.

    Nothing can be told where the record before is not here, was sealed in another version, or by a release that did not
    say what it seals (it has no `entry`), and of an assessment of texts that a revision of the answer has replaced.
    """

    def __init__(self) -> None:
        self.named = self.unknown = 0
        self._newest: dict[bytes, Before] = {}  # by row, as `row_of` names it
        self._replaced: dict[tuple[str, str], int] = {}  # the last leaf with a revision of an interaction
        self._doubts: dict[bytes, list[tuple[bytes, str]]] = {}  # by row: the digest of the record before, and a fault

    def see(self, index: int, record: Any, body: str) -> None:
        """Takes a record and its canonical form; they come in the order of their leaves."""
        if record["kind"] not in {"interaction", "assessment"}:
            return
        row = row_of(record)
        before = self._newest.pop(row, None)
        if REVISES in record:
            self._revise(index, record, before, row)
        if record.get("gone") or "entry" not in record:
            return
        digest = digest_of(record, body)
        self._newest[row] = Before(index, record["v"], digest)
        if row in self._doubts:  # a row that an earlier release stored may have been read when it was revised already
            self._doubts[row] = [doubt for doubt in self._doubts[row] if doubt[0] != digest]

    def _revise(self, index: int, record: Any, before: Before | None, row: bytes) -> None:
        answer = record["app"], record["id"]
        since = self._replaced.get(answer, -1) if record["kind"] == "assessment" else -1
        if record["kind"] == "interaction":
            self._replaced[answer] = index
        if before is not None and before.digest.hex() == record[REVISES]:
            self.named += 1
        elif before is None or before.version != record["v"] or before.leaf < since:
            self.unknown += 1
        else:
            fault = (
                f"leaf {index} ({record['kind']} {record['id']!r}) revises something else than leaf {before.leaf}, "
                "the record before it: that one was replaced, or one between them was left out"
            )
            self._doubts.setdefault(row, []).append((before.digest, fault))

    def faults(self) -> list[str]:
        """The revisions that do not follow, once all records are known."""
        return [fault for doubts in self._doubts.values() for _, fault in doubts]

    def proved(self) -> Iterator[str]:
        """What the records show about revisions."""
        if self.named:
            yield f"{self.named} revised records name the record before them"

    def open(self) -> Iterator[str]:
        """What is not proved about revisions."""
        if self.unknown:
            yield f"what {self.unknown} revised records were before: that is not here, or of an earlier release"


def digest_of(record: Any, body: str) -> bytes:
    """The SHA-256 of the canonical form `body` of a record, without what only its leaf says."""
    for name in OF_LEAF:
        if name in record:
            body = body.replace(f',"{name}":{canonical(record[name])}', "", 1)
    return hashlib.sha256(body.encode()).digest()


def row_of(record: Any) -> bytes:
    """A short name of the stored row that a record is about."""
    part = record["part"] if record.get("gone") else record.get("profile_hash", "")
    row = json.dumps([record["kind"], record["app"], record["id"], part])
    return hashlib.sha256(row.encode()).digest()[:16]
