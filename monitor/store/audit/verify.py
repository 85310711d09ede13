"""One look at the whole stored trail: what a verification reads, in one snapshot of the database."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TypeAlias

import psycopg
from sqlalchemy import Connection, Engine, text

from monitor.audit.finding import Fault, Finding
from monitor.audit.note import NotProved
from monitor.store.audit.acts import told_acts
from monitor.store.audit.cross_checks import acts_against_rows, backfilling, stray_secrets, unsealed
from monitor.store.audit.differences import Accounts, accounts_of
from monitor.store.audit.range_checks import RANGE, Checked, Task, check_range
from monitor.store.audit.seal import driver, opened_by
from monitor.store.audit.tree import tree_size
from monitor.store.audit.tree_checks import Whole
from monitor.store.audit_queue import Kind
from monitor.store.database import plain_url, retriable

Known: TypeAlias = Mapping[int, Sequence[tuple[str, bytes]]]
_SNAPSHOT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
_NOTES = text("SELECT size, note FROM audit_checkpoint ORDER BY size")
_OUTSIDE = text("SELECT size FROM audit_checkpoint WHERE size <= 0 OR size > :size ORDER BY size")
_BELOW = text("SELECT index FROM audit_leaf WHERE index < 0 ORDER BY index")
_WAITING = text("SELECT count(*) FROM audit_queue WHERE kind <> 'missing'")
_LAST = text("SELECT coalesce(max(size), 0) FROM audit_checkpoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a verification came to: of how many leaves, and how many of them from `start` on were checked.

    `signed` of the leaves are under the last checkpoint; `waiting` rows wait to be sealed, more where what was stored
    before there was a trail is not all queued yet (`backfilling`).
    """

    size: int
    start: int
    signed: int
    checkpoints: int
    waiting: int
    backfilling: bool
    findings: tuple[Finding, ...]


def verify(
    engine: Engine, keys: Sequence[str], *, start: int = 0, notes: Iterable[str] = (), processes: int = 1
) -> Verified:
    """Verifies leaves from `start` on, and every row, in a transaction that sees one moment of the database.

    `keys` are the public keys that may have signed; `notes` what a witness was told.

    Raises:
        Retriable: the database is out of reach for now.
        WrongSettings: a key is none.
    """
    with retriable(), engine.connect() as connection, connection.begin():
        connection.execute(_SNAPSHOT)
        if processes == 1:
            return verify_within(connection, keys, start=start, notes=notes)
        with _pool(engine, connection, processes) as pool:
            return _verified(connection, keys, start, notes, pool)


def processes_for(engine: Engine) -> int:
    """One for each core, unless there is so little that starting them takes longer than the work."""
    with retriable(), engine.connect() as connection:
        size = tree_size(driver(connection))
    return max(1, min(os.cpu_count() or 1, size // (4 * RANGE)))


def verify_within(
    connection: Connection, keys: Sequence[str], *, start: int = 0, notes: Iterable[str] = ()
) -> Verified:
    """The same in the caller's transaction and process."""
    return _verified(connection, keys, start, notes, None)


def _verified(
    connection: Connection, keys: Sequence[str], start: int, notes: Iterable[str], pool: ProcessPoolExecutor | None
) -> Verified:
    raw = driver(connection)
    size = tree_size(raw)
    findings: list[Finding] = []
    first = min(start, size) // RANGE * RANGE
    accounts = accounts_of(told_acts(connection, (Kind.ERASURE, Kind.RETENTION)))
    known = _known(connection, keys, notes, size, findings)
    tasks = list(_tasks(first, size, known, tuple(keys)))
    results = (check_range(raw, task, accounts) for task in tasks) if pool is None else pool.map(
        _in_worker, ((task, accounts) for task in tasks)
    )  # fmt: skip
    late = backfilling(connection)
    findings += [] if late else unsealed(connection)
    findings += stray_secrets(connection)
    findings += [] if late else acts_against_rows(connection)
    findings += _outside(connection, size)
    whole, checkpoints = Whole(raw, first, known), 0
    for checked in results:
        findings += checked.findings
        findings += whole.join(checked)
        checkpoints += len(checked.signed)
    findings += whole.finish(size)
    if whole.later_wrong:
        sentence = f"{whole.later_wrong} later roots are not those of the stored leaves either"
        findings.append(Finding(fault=Fault.CHECKPOINT, sentence=sentence))
    return Verified(
        size=size, start=first, signed=min(size, connection.scalar(_LAST) or 0), checkpoints=checkpoints,
        waiting=connection.scalar(_WAITING) or 0, backfilling=late, findings=tuple(findings),
    )  # fmt: skip


def _tasks(start: int, size: int, known: Known, keys: tuple[str, ...]) -> Iterator[Task]:
    marks = sorted(known)
    for first in range(start, size, RANGE):
        end = min(first + RANGE, size)
        yield Task(start=first, end=end, marks=tuple(mark for mark in marks if first < mark <= end), keys=keys)


def _known(
    connection: Connection, keys: Sequence[str], notes: Iterable[str], size: int, findings: list[Finding]
) -> Known:
    """The roots that a witness was told and that are not those of the stored notes, which are checked in any case."""
    stored: dict[int, str] | None = None
    known: dict[int, list[tuple[str, bytes]]] = {}
    for number, note in enumerate(notes, start=1):
        if stored is None:
            stored = {size: note for size, note in connection.execute(_NOTES)}  # noqa: C416  of rows
        said = note.split("\n", 2)[1] if note.count("\n") > 1 else ""
        if said.isdecimal() and stored.get(int(said)) == note and int(said) <= size:
            continue
        name = f"the witness (note {number})"
        try:
            told = opened_by(note, keys)
        except NotProved as error:
            findings.append(Finding(fault=Fault.WITNESS, sentence=f"{name} has a note that proves nothing: {error}"))
            continue
        if told.size > size:
            sentence = f"{name} was told of {told.size} leaves, of which {size} are stored: the end was cut off"
            findings.append(Finding(fault=Fault.WITNESS, sentence=sentence))
            continue
        sentence = f"{name} was told of the checkpoint of {told.size} leaves, which is not stored as it was signed"
        findings.append(Finding(fault=Fault.WITNESS, sentence=sentence))
        known.setdefault(told.size, []).append((name, told.root))
    return known


def _outside(connection: Connection, size: int) -> Iterator[Finding]:
    for (told,) in connection.execute(_OUTSIDE, {"size": size}):
        sentence = f"the checkpoint of {told} leaves is stored, and {size} leaves are: the end was cut off"
        yield Finding(fault=Fault.CHECKPOINT, sentence=sentence)
    for (index,) in connection.execute(_BELOW):
        yield Finding(fault=Fault.LEAF, index=index, sentence=f"leaf {index} stands before the first")


@contextmanager
def _pool(engine: Engine, connection: Connection, processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that see what `connection` sees."""
    snapshot = connection.scalar(text("SELECT pg_export_snapshot()"))
    url = plain_url(engine.url.render_as_string(hide_password=False).replace("+psycopg", "", 1))
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_open, initargs=(url, snapshot))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


_worker: list[psycopg.Connection] = []  # of a process of the pool
_ALLOCATIONS_BETWEEN_COLLECTIONS = 200_000  # rows and records have no cycles


def _open(url: str, snapshot: str) -> None:
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)
    connection = psycopg.connect(url, options="-c timezone=UTC", autocommit=False)
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    connection.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'")
    _worker.append(connection)


def _in_worker(work: tuple[Task, Accounts]) -> Checked:
    with retriable():
        return check_range(_worker[0], *work)
