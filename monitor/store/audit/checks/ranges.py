"""Checks a range of leaves against their hashes, tiles, checkpoints and stored rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from monitor.audit.finding import Fault, Finding
from monitor.audit.merkle import HASH_BYTES, Frontier, leaf_hash, root_of
from monitor.audit.note import NotProved
from monitor.audit.tiles import TILE
from monitor.store.audit.checkpoints import opened_by, time_signed
from monitor.store.audit.checks.accounts import Accounts
from monitor.store.audit.checks.comparison import compare_rows
from monitor.store.audit.checks.positions import Partition, Runs, joined, position_of
from monitor.store.audit.checks.unchanged import unchanged
from monitor.store.audit.leaf import Leaf, entry_of, malformed, occurred
from monitor.store.audit_queue import STORED, Kind

if TYPE_CHECKING:
    import psycopg

_LONGEST_NUMBER = 18  # digits that surely fit a bigint
RANGE = 4_096  # leaves per range: a power of two, so that a range is a complete subtree
_LEAVES = """
    SELECT index, kind, app, subject, part, sealed_at, body, hash FROM audit_leaf
    WHERE index >= %s AND index < %s ORDER BY index
"""
_SEALED_AT = "SELECT sealed_at FROM audit_leaf WHERE index = %s"
CLOCKS = 20  # contradictions of times that are worded, of a range and of all
_TILES = "SELECT index, hashes FROM audit_tile WHERE level = 0 AND index >= %s AND index < %s"
_CHECKPOINTS = """
    SELECT size, root, note, made_at FROM audit_checkpoint WHERE size > %s AND size <= %s ORDER BY size
"""
# Looks rows up one by one by an index: for the few rows of a range the planner might read whole tables instead.
_ONE_BY_ONE = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"
_ALL_DIGITS = "SET LOCAL extra_float_digits = 1"  # otherwise the database may be set to write numbers with fewer


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeTask:
    """Leaves [start, end) to check: `start` is a multiple of `RANGE`, and the range has at most `RANGE` leaves.

    `marks` are tree sizes whose roots are needed in addition to those of checkpoints; `keys` are the public keys, and
    `queue_key` is that of the queue, or None.
    """

    start: int
    end: int
    marks: tuple[int, ...]
    keys: tuple[str, ...]
    queue_key: bytes | None


@dataclass(slots=True, kw_only=True)
class RangeResult:
    """The findings of a range, and its share of the tree.

    `signed` holds the sizes and roots of its checkpoints as they were signed; `shares` the complete subtrees from its
    start to each marked or signed size, and to its end; `tile_roots` the roots of its complete tiles. `entries` holds
    the runs of numbers that its leaves name, first and last, by the source of their entries. `removed` counts the
    interactions for which retentions account, by app and month. `plain` leaves name no entry; `numbered` is the first
    that does, if any. `positions` are those of the messages of its interactions. `clocks` are the first times that
    contradict each other, of `wrong_clocks`.
    """

    task: RangeTask
    findings: list[Finding] = field(default_factory=list)
    signed: list[tuple[int, bytes]] = field(default_factory=list)
    shares: dict[int, tuple[bytes, ...]] = field(default_factory=dict)
    tile_roots: list[bytes] = field(default_factory=list)
    entries: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    plain: list[int] = field(default_factory=list)
    numbered: list[int] = field(default_factory=list)
    removed: Counter[tuple[str, date | None]] = field(default_factory=Counter)
    positions: dict[Partition, Runs] = field(default_factory=dict)
    clocks: list[str] = field(default_factory=list)
    wrong_clocks: int = 0


def check_range(connection: psycopg.Connection, task: RangeTask, accounts: Accounts) -> RangeResult:
    """Checks one range in the caller's transaction; `accounts` says which rows may be missing."""
    connection.execute(f"{_ONE_BY_ONE}; {_ALL_DIGITS}")
    checked = RangeResult(task=task)
    rows = connection.execute(_LEAVES, (task.start, task.end)).fetchall()
    leaves = {row[0]: Leaf._make(row) for row in rows}
    tiles: dict[int, bytes] = dict(connection.execute(_TILES, (task.start // TILE, -(-task.end // TILE))).fetchall())
    hashes = _hashes(checked, leaves, tiles)
    _check_checkpoints(connection, checked, leaves)
    _shares(checked, hashes)
    wrong = {finding.index for finding in checked.findings if finding.fault is Fault.LEAF}
    _check_rows(connection, checked, [leaf for leaf in leaves.values() if leaf.number not in wrong], accounts)
    _compare_clocks(connection, checked, leaves.values())
    _name_entries(checked, leaves.values())
    _collect_positions(checked, leaves.values())
    return checked


def _hashes(checked: RangeResult, leaves: dict[int, Leaf], tiles: dict[int, bytes]) -> list[bytes]:
    """The hash of each leaf. Where body, hash and tile differ, the majority decides, so that one fault stays one."""
    task, hashes = checked.task, []
    for number in range(task.start // TILE, -(-task.end // TILE)):
        first, last = number * TILE, min((number + 1) * TILE, task.end)
        tile, whole = tiles.get(number), last - number * TILE == TILE
        if tile is not None and (not whole or len(tile) != TILE * HASH_BYTES):
            checked.findings.append(_tile(0, number, "does not hold the hashes of 256 leaves"))
            tile = None
        elif tile is None and whole:
            checked.findings.append(_tile(0, number, "is missing"))
        differing = []
        for index in range(first, last):
            at = (index - first) * HASH_BYTES
            in_tile = None if tile is None else tile[at : at + HASH_BYTES]
            hash_, problem = _hash_of(leaves.get(index), index, in_tile)
            hashes.append(hash_)
            if problem is not None:
                checked.findings.append(problem)
            if index in leaves and in_tile not in {None, hash_}:
                differing.append(f"leaf {index}")
        if differing:
            checked.findings.append(_tile(0, number, f"does not hold the hash of {', '.join(differing)}"))
        if whole:
            checked.tile_roots.append(root_of(hashes[-TILE:]))
    return hashes


def _hash_of(leaf: Leaf | None, index: int, in_tile: bytes | None) -> tuple[bytes, Finding | None]:
    """The hash of a leaf in the tree, and what is wrong with the leaf by itself."""
    if leaf is None:
        return in_tile or b"", Finding(fault=Fault.LEAF, index=index, sentence=f"leaf {index} is missing")
    made = leaf_hash(leaf.body.encode())
    if made == leaf.hash:
        return made, None
    what = "its hash was changed" if made == in_tile else "its body is not the one that was sealed"
    return leaf.hash if leaf.hash == in_tile else made, _wrong(leaf, f"leaf {index}: {what}")


def _check_checkpoints(connection: psycopg.Connection, checked: RangeResult, leaves: dict[int, Leaf]) -> None:
    task = checked.task
    for size, root, note, made_at in connection.execute(_CHECKPOINTS, (task.start, task.end)):
        try:
            opened, signed_at = opened_by(note, task.keys), time_signed(note, task.keys)
        except NotProved as error:
            checked.findings.append(_checkpoint(size, str(error)))
            continue
        if _signature_lines(note) != 1 + (signed_at is not None):
            checked.findings.append(_checkpoint(size, "its note has lines that the log did not write"))
        if (opened.size, opened.root) != (size, bytes(root)):
            checked.findings.append(_checkpoint(size, "the row contradicts its note"))
        last = leaves.get(size - 1)
        if last is not None and made_at != last.sealed_at:
            checked.findings.append(_checkpoint(size, "its time is not that of its last leaf"))
        if signed_at is None and last is not None and entry_of(last.kind, last.body) is not None:
            checked.findings.append(_checkpoint(size, "its note lacks the line that says when it was signed"))
        if signed_at is not None and signed_at != made_at.replace(microsecond=0):
            checked.findings.append(_checkpoint(size, "its time is not the one that was signed"))
        if task.start < opened.size <= task.end:
            checked.signed.append((opened.size, opened.root))


def _signature_lines(note: str) -> int:
    return note.rpartition("\n\n")[2].count("\n")


def _shares(checked: RangeResult, hashes: Sequence[bytes]) -> None:
    task, frontier = checked.task, Frontier()
    wanted = {*task.marks, *(size for size, _ in checked.signed), task.end}
    for size, hash_ in enumerate(hashes, start=task.start + 1):
        frontier.append(hash_)
        if size in wanted:
            checked.shares[size] = frontier.hashes


def _check_rows(
    connection: psycopg.Connection, checked: RangeResult, leaves: Sequence[Leaf], accounts: Accounts
) -> None:
    same: set[int] = set()
    for kind in STORED:
        same |= unchanged(connection, kind, [leaf for leaf in leaves if leaf.kind == kind])
    others = [leaf for leaf in leaves if leaf.number not in same]
    for comparison in compare_rows(connection, others, lambda: accounts, checked.task.queue_key):
        if comparison.finding is not None:
            checked.findings.append(comparison.finding)
        if comparison.removed is not None and comparison.leaf.kind == Kind.INTERACTION:
            checked.removed[comparison.removed.app, comparison.removed.month] += 1
    for leaf in leaves:
        if leaf.kind not in STORED and (problem := malformed(leaf)):
            checked.findings.append(_wrong(leaf, f"leaf {leaf.number}: {problem}"))


def _compare_clocks(connection: psycopg.Connection, checked: RangeResult, leaves: Iterable[Leaf]) -> None:
    """Names leaves that were sealed before the leaf before them, or before they occurred; any clock may be wrong."""
    (before,) = connection.execute(_SEALED_AT, (checked.task.start - 1,)).fetchone() or (None,)
    for leaf in leaves:
        wrong = []
        if before is not None and leaf.sealed_at < before:
            wrong.append(f"before the leaf before it: {before.isoformat()}")
        before = leaf.sealed_at
        if leaf.kind in STORED and (at := occurred(leaf.body)) is not None and leaf.sealed_at < at:
            wrong.append(f"before it occurred: {at.isoformat()}")
        checked.wrong_clocks += len(wrong)
        said = f"leaf {leaf.number} says that it was sealed at {leaf.sealed_at.isoformat()},"
        checked.clocks += (f"{said} {why}" for why in wrong[: CLOCKS - len(checked.clocks)])


def _name_entries(checked: RangeResult, leaves: Iterable[Leaf]) -> None:
    for leaf in leaves:
        name = entry_of(leaf.kind, leaf.body)
        if name is None:
            if leaf.kind != Kind.RECOVERY:
                checked.plain.append(leaf.number)
            continue
        if not checked.numbered:
            checked.numbered.append(leaf.number)
        source, _, number = name.partition("/")
        if not number.isdecimal() or len(number) > _LONGEST_NUMBER:
            continue  # that of the second record of an entry
        runs, at = checked.entries.setdefault(source, []), int(number)
        if runs and runs[-1][1] == at - 1:
            runs[-1] = (runs[-1][0], at)
        else:
            runs.append((at, at))


def _collect_positions(checked: RangeResult, leaves: Iterable[Leaf]) -> None:
    offsets: defaultdict[Partition, list[int]] = defaultdict(list)
    for leaf in leaves:
        if leaf.kind == Kind.INTERACTION and (at := position_of(leaf.body)) is not None:
            offsets[at[0], at[1]].append(at[2])
    checked.positions.update((partition, joined(found)) for partition, found in offsets.items())


def _wrong(leaf: Leaf, sentence: str) -> Finding:
    return Finding(fault=Fault.LEAF, index=leaf.number, app=leaf.app, subject=leaf.subject, sentence=sentence)


def _tile(level: int, index: int, problem: str) -> Finding:
    return Finding(fault=Fault.TILE, sentence=f"tile {index} of level {level} {problem}")


def _checkpoint(size: int, problem: str) -> Finding:
    return Finding(fault=Fault.CHECKPOINT, sentence=f"the checkpoint of {size} leaves: {problem}")
