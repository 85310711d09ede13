"""What became of the rows that leaves tell of: whether each is still stored as it was sealed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from monitor.audit.export import Stored
from monitor.audit.record import Record, disclosed, opens
from monitor.core.model import Json
from monitor.store.audit.differences import Accounts, Doubt, doubted
from monitor.store.audit.range_checks import occurred
from monitor.store.audit.rows import SECRET, Leaf, leaf_body, read_rows, row_record
from monitor.store.audit_queue import STORED

if TYPE_CHECKING:
    import psycopg


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Of one leaf: the state of its row, why it differs, and what opens its commitments."""

    stored: Stored
    differs: tuple[str, ...] = ()
    disclosed: dict[str, dict[str, Json]] | None = None


def stored_rows(
    connection: psycopg.Connection, leaves: Sequence[Leaf], accounts: Callable[[], Accounts], *, disclose: bool
) -> dict[int, Found]:
    """By number, of those of the leaves that tell of a row; `accounts` is asked only where one is not as sealed.

    With `disclose` each has what of its commitments the row still opens.
    """
    found = {}
    for kind in STORED:
        its = [leaf for leaf in leaves if leaf.kind == kind]
        keys = [(leaf.app, leaf.subject, leaf.part) for leaf in its]
        rows = read_rows(connection, kind, keys, [occurred(leaf.body) for leaf in its])
        doubts, made = [], {}
        for leaf, key in zip(its, keys, strict=True):
            row = rows.get(key)
            record = made[leaf.number] = _made(kind, row)
            if row is not None and record is not None and leaf_body(record, leaf.sealed_at) == leaf.body.encode():
                keep = disclosed(row, bytes(row[SECRET]), _committed(record)) if disclose else None
                found[leaf.number] = Found(stored=Stored.SAME, disclosed=keep or None)
            else:
                doubts.append(Doubt(leaf=leaf, row=row))
        if not doubts:
            continue
        known = accounts()
        faults = {one.index: one.sentence for one in doubted(connection, kind, doubts, known)}
        for doubt in doubts:
            number, sealed = doubt.leaf.number, _read(doubt.leaf.body)
            record, fault = made[number], faults.get(number)
            found[number] = Found(
                stored=_accounted(doubt, sealed, known) if fault is None else Stored.DIFFERS,
                differs=() if fault is None else _differing(record, sealed) or (fault,),
                disclosed=_opened(doubt.row, record, sealed) if disclose else None,
            )
    return found


def _made(kind: str, row: Mapping[str, Any] | None) -> Record | None:
    """What would be sealed of the row now; None where it has no secret, or values that nothing could seal."""
    if row is None or row[SECRET] is None:
        return None
    try:
        return row_record(kind, row, bytes(row[SECRET]))
    except (TypeError, ValueError):
        return None


def _read(body: str) -> Record:
    try:
        record = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _committed(record: Record) -> dict[str, Json]:
    committed = record.get("committed")
    return committed if isinstance(committed, dict) else {}


def _accounted(doubt: Doubt, sealed: Record, accounts: Accounts) -> Stored:
    """Why a row may be other than its leaf."""
    erased = (doubt.leaf.app, doubt.leaf.subject) in accounts.erased
    if doubt.row is None:
        return Stored.ERASED if sealed.get("gone") and erased else Stored.REMOVED
    return Stored.ERASED if doubt.row[SECRET] is None else Stored.REVISED


def _differing(made: Record | None, sealed: Record) -> tuple[str, ...]:
    """The fields of a row that are not as they were sealed; none where the row is of another revision, or gone."""
    if made is None or not sealed or made.get("revised_at") != sealed.get("revised_at"):
        return ()
    texts, were = _committed(made), _committed(sealed)
    fields = [name for name, value in made.items() if name != "committed" and value != sealed.get(name)]
    fields += [name for name, value in texts.items() if value != were.get(name)]
    return tuple(f"{name}: the stored value is not the sealed one" for name in fields)


def _opened(row: Mapping[str, Any] | None, made: Record | None, sealed: Record) -> dict[str, dict[str, Json]] | None:
    """What of the leaf's commitments the row opens, which is another than the leaf's."""
    if row is None or made is None:
        return None
    keys = disclosed(row, bytes(row[SECRET]), _committed(made))
    return {name: its for name, its in keys.items() if opens(sealed, name, str(its["key"]), its["value"])} or None
