"""Verifies the whole stored trail in one snapshot of the database, with several processes if asked to."""

from __future__ import annotations

import os
from base64 import b64decode
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

import psycopg
from sqlalchemy import Connection, Engine, text

from monitor.audit.finding import Fault, Finding
from monitor.audit.note import NotProved
from monitor.audit.recovery import Head
from monitor.core.errors import Fatal
from monitor.store.audit.acts import TrailAct, trail_acts
from monitor.store.audit.backfill import is_numbered
from monitor.store.audit.checkpoints import foreign_leaves, notes_not_stored, opened_by, signed_size
from monitor.store.audit.checks.accounts import Accounts, read_accounts
from monitor.store.audit.checks.cross import (
    acts_against_rows,
    blanked_probes,
    check_entries,
    check_queue,
    dropped_months,
    stray_secrets,
    unsealed,
)
from monitor.store.audit.checks.positions import CoveredPartition, Partition, check_positions
from monitor.store.audit.checks.ranges import CLOCKS, RANGE, RangeResult, RangeTask, check_range
from monitor.store.audit.checks.tree import TreeCheck
from monitor.store.audit.range_pool import in_worker, range_pool
from monitor.store.audit.recovery import SealedRecovery, read_recoveries
from monitor.store.audit.tree import tree_size
from monitor.store.audit_queue import Kind, driver
from monitor.store.database import retriable

WitnessedRoots: TypeAlias = Mapping[int, Sequence[tuple[str, bytes]]]  # by tree size: witness and root
_SNAPSHOT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
_OUTSIDE = text("SELECT size FROM audit_checkpoint WHERE size <= 0 OR size > :size ORDER BY size")
_APART = text("SELECT index FROM audit_leaf WHERE index < 0 OR index >= :size ORDER BY index")
_COUNT = text("SELECT count(*) FROM audit_leaf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of a verification of `size` leaves, of which those from `start` on were checked.

    The last checkpoint signs `signed` leaves; `waiting` rows wait to be sealed. There are more of them while rows that
    were stored before there was a trail are still being queued (`backfilling`). `recoveries` say which leaves were lost
    when a backup was restored, `backfills` which rows were taken in without proof of who stored them, and `covered` for
    which offsets a statement says what became of them. `clocks` are the first of `wrong_clocks` times in leaves that
    contradict each other, which proves no change.
    """

    size: int
    start: int
    signed: int
    checkpoints: int
    waiting: int
    backfilling: bool
    findings: tuple[Finding, ...]
    recoveries: tuple[SealedRecovery, ...] = ()
    backfills: tuple[TrailAct, ...] = ()
    covered: tuple[CoveredPartition, ...] = ()
    clocks: tuple[str, ...] = ()
    wrong_clocks: int = 0


def verify(
    engine: Engine,
    keys: Sequence[str],
    queue_key: bytes | None = None,
    *,
    start: int = 0,
    notes: Iterable[str] = (),
    processes: int = 1,
) -> Verification:
    """Verifies leaves from `start` on, and every row, in a transaction that sees one moment of the database.

    `keys` are the public keys that may have signed; `notes` are the notes that a witness keeps. Without the `queue_key`
    nothing that waits to be sealed is believed.

    Raises:
        Retriable: the database is out of reach for now.
        WrongSettings: a key is malformed.
    """
    with retriable(), engine.connect() as connection, connection.begin():
        connection.execute(_SNAPSHOT)
        if processes == 1:
            return verify_within(connection, keys, queue_key, start=start, notes=notes)
        accounts = read_accounts(connection, queue_key)
        with range_pool(engine, connection, processes, accounts) as pool:
            return _verified(connection, keys, queue_key, accounts, start=start, notes=notes, pool=pool)


def processes_for(engine: Engine) -> int:
    """The number of processes to verify with: one per core, fewer where starting one takes longer than its work."""
    with retriable(), engine.connect() as connection:
        size = tree_size(driver(connection))
    return max(1, min(os.cpu_count() or 1, size // (4 * RANGE)))


def verify_within(
    connection: Connection,
    keys: Sequence[str],
    queue_key: bytes | None = None,
    *,
    start: int = 0,
    notes: Iterable[str] = (),
) -> Verification:
    """Verifies as `verify` does, in the caller's transaction and process."""
    accounts = read_accounts(connection, queue_key)
    return _verified(connection, keys, queue_key, accounts, start=start, notes=notes, pool=None)


def _verified(
    connection: Connection,
    keys: Sequence[str],
    queue_key: bytes | None,
    accounts: Accounts,
    *,
    start: int,
    notes: Iterable[str],
    pool: ProcessPoolExecutor | None,
) -> Verification:
    raw = driver(connection)
    size = _size(connection)
    findings: list[Finding] = []
    first = min(start, size) // RANGE * RANGE
    recoveries, forged = read_recoveries(raw, keys)
    findings += forged
    lost = frozenset(head for sealed in recoveries for head in sealed.recovery.lost)
    known = _witnessed_roots(connection, keys, notes, size, findings, lost=lost)
    for sealed in recoveries:
        root = b64decode(sealed.recovery.restored.root)
        known.setdefault(sealed.index, []).append((f"the recovery, leaf {sealed.index},", root))
    tasks = list(_tasks(first, size, known, tuple(keys), queue_key))
    here = (check_range(raw, task, accounts) for task in tasks)
    results: Iterable[RangeResult] = here if pool is None else pool.map(in_worker, tasks)
    queue = check_queue(connection, queue_key, adopting=_is_adopting(raw))
    findings += queue.findings
    findings += [] if queue.backfilling else unsealed(connection)
    findings += stray_secrets(connection, accounts)
    findings += dropped_months(connection, accounts)
    findings += blanked_probes(connection, accounts)
    findings += [] if queue.backfilling else acts_against_rows(connection, queue_key)
    findings += _outside(connection, size)
    findings += _unsigned(raw)
    tree, checkpoints = TreeCheck(raw, first, known), 0
    entries: dict[str, list[tuple[int, int]]] = {}
    numbered: list[int] = []  # the first leaf that names its entry
    removed: Counter[tuple[str, date | None]] = Counter()
    positions: dict[Partition, list[tuple[int, int]]] = {}
    clocks: list[str] = []
    wrong_clocks = 0
    for result in results:
        findings += result.findings
        findings += tree.join(result)
        checkpoints += len(result.signed)
        removed += result.removed
        clocks += result.clocks[: CLOCKS - len(clocks)]
        wrong_clocks += result.wrong_clocks
        for partition, runs in result.positions.items():
            positions.setdefault(partition, []).extend(runs)
        for source, runs in result.entries.items():
            entries.setdefault(source, []).extend(runs)
        findings += (
            _unnumbered(at) for at in result.plain if any(first < at for first in (*numbered, *result.numbered))
        )
        numbered = numbered or result.numbered
    findings += tree.finish(size)
    findings += check_entries(entries, from_first=first == 0)
    findings += accounts.too_many(removed)
    stated = check_positions(connection, queue_key, positions if first == 0 else None, accounts)
    findings += stated.findings
    if tree.later_wrong:
        sentence = f"{tree.later_wrong} later roots are not those of the stored leaves either"
        findings.append(Finding(fault=Fault.CHECKPOINT, sentence=sentence))
    return Verification(
        size=size,
        start=first,
        signed=min(size, signed_size(raw)),
        checkpoints=checkpoints,
        waiting=queue.waiting,
        backfilling=queue.backfilling,
        findings=tuple(findings),
        recoveries=tuple(recoveries),
        backfills=tuple(trail_acts(connection, (Kind.BACKFILL,), None)),
        covered=tuple(stated.covered),
        clocks=tuple(clocks),
        wrong_clocks=wrong_clocks,
    )


def _size(connection: Connection) -> int:
    """The number of leaves to check; leaves that stand far apart from the others are left to `_outside`."""
    size, stored = tree_size(driver(connection)), connection.scalar(_COUNT) or 0
    return min(size, 2 * stored + RANGE)


def _is_adopting(raw: psycopg.Connection) -> bool:
    """Whether this release has sealed nothing yet; not where a leaf that says so was changed."""
    try:
        return not is_numbered(raw, signed_size(raw))
    except Fatal:
        return False


def _unsigned(raw: psycopg.Connection) -> Iterator[Finding]:
    try:
        strange = foreign_leaves(raw)
    except Fatal:
        return  # the changed leaf is a finding of its own
    for index in strange:
        sentence = f"leaf {index} stands behind the last checkpoint, and no process with the key sealed it"
        yield Finding(fault=Fault.LEAF, index=index, sentence=sentence)


def _unnumbered(index: int) -> Finding:
    sentence = (
        f"leaf {index} names no entry of the queue, as leaves of earlier releases do, and stands behind later ones"
    )
    return Finding(fault=Fault.LEAF, index=index, sentence=sentence)


def _tasks(
    start: int, size: int, known: WitnessedRoots, keys: tuple[str, ...], queue_key: bytes | None
) -> Iterator[RangeTask]:
    marks = sorted(known)
    for first in range(start, size, RANGE):
        end = min(first + RANGE, size)
        within = tuple(marks[bisect_right(marks, first) : bisect_right(marks, end)])
        yield RangeTask(start=first, end=end, marks=within, keys=keys, queue_key=queue_key)


def _witnessed_roots(
    connection: Connection,
    keys: Sequence[str],
    notes: Iterable[str],
    size: int,
    findings: list[Finding],
    *,
    lost: frozenset[Head],
) -> dict[int, list[tuple[str, bytes]]]:
    """The roots of those notes of a witness that are not stored; stored notes are checked in any case.

    Leaves out the notes that a recovery calls `lost`. Adds to `findings` what is wrong with the others.
    """
    known: dict[int, list[tuple[str, bytes]]] = {}
    for number, note in notes_not_stored(driver(connection), notes, size):
        name = f"the witness (note {number})"
        try:
            checkpoint = opened_by(note, keys)
        except NotProved as error:
            findings.append(Finding(fault=Fault.WITNESS, sentence=f"{name} holds a note that proves nothing: {error}"))
            continue
        if Head.of(checkpoint.size, checkpoint.root) in lost:
            continue
        if checkpoint.size > size:
            sentence = (
                f"{name} holds a checkpoint of {checkpoint.size} leaves, and {size} are stored: the end was cut off"
            )
            findings.append(Finding(fault=Fault.WITNESS, sentence=sentence))
            continue
        sentence = f"{name} holds a checkpoint of {checkpoint.size} leaves that is not stored as it was signed"
        findings.append(Finding(fault=Fault.WITNESS, sentence=sentence))
        known.setdefault(checkpoint.size, []).append((name, checkpoint.root))
    return known


def _outside(connection: Connection, size: int) -> Iterator[Finding]:
    for (signed,) in connection.execute(_OUTSIDE, {"size": size}):
        sentence = f"the checkpoint of {signed} leaves is stored, but only {size} leaves are: the end was cut off"
        yield Finding(fault=Fault.CHECKPOINT, sentence=sentence)
    for (index,) in connection.execute(_APART, {"size": size}):
        sentence = (
            f"leaf {index} comes before the first leaf" if index < 0 else f"leaf {index} is far behind the others"
        )
        yield Finding(fault=Fault.LEAF, index=index, sentence=sentence)
