"""Compares leaves with stored rows: the same, accounted for by an act or a revision, or changed, naming the fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from monitor.audit.canonical import draft
from monitor.audit.export import Stored
from monitor.audit.finding import Fault, Finding
from monitor.audit.record import Record
from monitor.store.audit.checks.accounts import Accounts, Removed
from monitor.store.audit.checks.leaf_and_row import (
    UnequalRow,
    finding_at,
    public_differences,
    readable,
    record_of,
    sealed_as,
    text_differences,
)
from monitor.store.audit.checks.row_history import RowHistory
from monitor.store.audit.leaf import Leaf, malformed, occurred, sealed_record, version_of
from monitor.store.audit_queue import STORED, Kind
from monitor.store.audit_rows import SECRET

if TYPE_CHECKING:
    import psycopg


class RowComparison(NamedTuple):
    """A leaf and its stored row; a tuple, because there is one for every leaf, and it is made the fastest.

    `row` is None where no row is stored at the leaf's time. `record` is what would be sealed of the row now, None where
    there is no row, no secret, or a value that cannot be sealed. `finding` is set exactly where `state` is DIFFERS;
    `fields` then names the fields that differ, as far as the two can be compared field by field. `removed` is set where
    a retention accounts for a row that is not stored.
    """

    leaf: Leaf
    row: Mapping[str, Any] | None
    record: Record | None
    state: Stored
    finding: Finding | None = None
    fields: tuple[str, ...] = ()
    removed: Removed | None = None

    @property
    def differs(self) -> tuple[str, ...]:
        """How the row differs from the leaf, in sentences."""
        if self.finding is None:
            return ()
        fields = tuple(f"{name}: the stored value is not the sealed one" for name in self.fields)
        return fields or (self.finding.sentence,)


def compare_rows(
    connection: psycopg.Connection, leaves: Sequence[Leaf], accounts: Callable[[], Accounts], queue_key: bytes | None
) -> Iterator[RowComparison]:
    """Compares each leaf of a stored row with that row; leaves of acts are left out.

    `accounts` is called only where a row differs from its leaf. Without the `queue_key`, nothing that waits to be
    sealed accounts for anything.
    """
    for kind in STORED:
        of_kind = [leaf for leaf in leaves if leaf.kind == kind]
        times = [occurred(leaf.body) for leaf in of_kind]
        rows = readable(connection, kind, [leaf.key for leaf in of_kind], times)
        unequal = []
        for leaf in of_kind:
            row = rows.get(leaf.key)
            record = record_of(kind, row, version_of(leaf.body), draft)
            is_same = _is_sealed(record, leaf)
            if not is_same:  # a draft may be wrong, but only if it does not match
                record = record_of(kind, row, version_of(leaf.body))
                is_same = _is_sealed(record, leaf)
            if is_same:
                yield RowComparison(leaf=leaf, row=row, record=record, state=Stored.SAME)
            else:
                unequal.append(UnequalRow(leaf, row, record))
        if unequal:
            yield from _explained(connection, kind, unequal, accounts(), queue_key)


def _is_sealed(record: Record | None, leaf: Leaf) -> bool:
    return record is not None and sealed_as(record, leaf) == leaf.body.encode()


def _explained(
    connection: psycopg.Connection,
    kind: Kind,
    unequal: Sequence[UnequalRow],
    accounts: Accounts,
    queue_key: bytes | None,
) -> Iterator[RowComparison]:
    """Says of each pair, all of one kind, what accounts for the difference, or that it was changed."""
    well_formed = []
    for pair in unequal:
        if problem := malformed(pair.leaf):
            yield _compared(pair, accounts, finding_at(Fault.LEAF, pair.leaf, f"leaf {pair.leaf.number}: {problem}"))
        else:
            well_formed.append(pair)
    if well_formed:
        history = RowHistory(connection, kind, well_formed, accounts, queue_key)
        for pair in well_formed:
            try:
                found = history.judge(pair)
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
                found = finding_at(Fault.LEAF, pair.leaf, f"leaf {pair.leaf.number}: its body does not fit its kind")
            yield (
                _compared(pair, accounts, found)
                if not isinstance(found, Removed)
                else RowComparison(
                    leaf=pair.leaf, row=pair.row, record=pair.record, state=Stored.REMOVED, removed=found
                )
            )


def _compared(pair: UnequalRow, accounts: Accounts, finding: Finding | None) -> RowComparison:
    leaf, row, record = pair
    sealed = sealed_record(leaf)
    fields: tuple[str, ...] = ()
    if finding is not None:
        state = Stored.DIFFERS
        if record is not None and sealed and record.get("revised_at") == sealed.get("revised_at"):
            fields = (*public_differences(record, sealed), *text_differences(record, sealed))
    elif row is None:
        was_erased = sealed.get("gone") and (leaf.app, leaf.subject) in accounts.erased
        # what is gone without a retention, gave way to a revision of its interaction
        state = Stored.ERASED if was_erased else Stored.REMOVED if sealed.get("gone") else Stored.REVISED
    else:
        state = Stored.ERASED if row[SECRET] is None else Stored.REVISED
    return RowComparison(leaf=leaf, row=row, record=record, state=state, finding=finding, fields=fields)
