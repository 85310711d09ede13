"""The audit trail in one snapshot of the database: leaves with their proofs against the last checkpoint.

Each leaf comes with the state of its row, and the keys to its commitments where they are to be disclosed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from monitor.audit.export import ConsistencyProof, ExportedRecord, Stored
from monitor.audit.merkle import consistency_proof, inclusion_proof
from monitor.audit.note import NotProved, key_of, opened, statement
from monitor.audit.proof import SubjectProof
from monitor.audit.record import disclosed, opens
from monitor.audit.stamp import Stamp, is_of
from monitor.core.model import Json
from monitor.store.audit.acts import act_body
from monitor.store.audit.checks.accounts import Accounts
from monitor.store.audit.checks.comparison import RowComparison, compare_rows
from monitor.store.audit.leaf import Leaf, committed, occurred, sealed_record, version_of
from monitor.store.audit.stamps import stamps_of
from monitor.store.audit.statements import NO_STATEMENT, stated_in
from monitor.store.audit_queue import STORED, Kind
from monitor.store.audit_rows import SECRET

if TYPE_CHECKING:
    import psycopg

    from monitor.audit.merkle import Node

_ABOUT = """
    SELECT index, kind, app, subject, part, sealed_at, body, hash FROM audit_leaf
    WHERE subject = %s AND (%s::text IS NULL OR app = %s) ORDER BY index
"""
_UP_TO = """
    SELECT index, kind, app, subject, part, sealed_at, body, hash FROM audit_leaf
    WHERE index >= 0 AND index < %s AND (%s::text IS NULL OR app IN ('', %s)) ORDER BY index
"""
# What is needed to read any answer: profiles, rules, and recoveries, which every export has. The kinds left out are
# worded as in the partial index of acts.
_OF_ANSWERS = """
    SELECT index, kind, app, subject, part, sealed_at, body, hash FROM audit_leaf
    WHERE index >= 0 AND index < %(size)s AND kind NOT IN ('interaction', 'assessment', 'judgement', 'positions')
        AND kind IN ('profile', 'rules', 'recovery')
    UNION
    SELECT index, kind, app, subject, part, sealed_at, body, hash
    FROM unnest(%(apps)s::text[], %(ids)s::text[]) AS w (of_app, id)
        JOIN audit_leaf ON app = w.of_app AND subject = w.id
    WHERE index >= 0 AND index < %(size)s
    ORDER BY index
"""
_PLANS = """
    SELECT index, kind, app, subject, part, sealed_at, body, hash FROM audit_leaf
    WHERE kind = 'plan' AND index < %s AND (%s::text IS NULL OR app = %s)
"""
_DAYS_LAST = """
    SELECT DISTINCT ON (made_at::date) size, note FROM audit_checkpoint
    WHERE size > %s AND size <= %s ORDER BY made_at::date, size DESC
"""
_STAMPED = """
    SELECT size, note FROM audit_checkpoint
    WHERE size <= %s AND made_at >= %s AND made_at < %s AND size IN (SELECT size FROM audit_stamp) ORDER BY size
"""
# The first checkpoint that holds each leaf, and the first that each witness has stamped since.
_COVERING = """
    SELECT DISTINCT found.size FROM unnest(%s::bigint[]) AS leaf (index), LATERAL (
        (SELECT size FROM audit_checkpoint WHERE size > leaf.index ORDER BY size LIMIT 1)
        UNION ALL
        (SELECT DISTINCT ON (witness) size FROM audit_stamp WHERE size > leaf.index ORDER BY witness, size)
    ) AS found
"""
_NOTES = "SELECT size, note FROM audit_checkpoint WHERE size <= %s AND size = ANY(%s) ORDER BY size"
_PAGE = 500
_LAST = datetime.max.replace(tzinfo=UTC)
_STAMPED_LATER = timedelta(days=1)  # an authority may have been out of reach


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailSnapshot:
    """The `size` leaves under the checkpoint `note`, with the stored profiles by hash and the recorded rule sets."""

    raw: psycopg.Connection
    size: int
    note: str
    node: Node
    profiles: dict[str, dict[str, Json]]
    rules: list[dict[str, Any]]
    queue_key: bytes | None
    accounts: Callable[[], Accounts]  # read only where a row differs from its leaf

    def about(self, id_: str, app: str | None, *, disclose: bool) -> list[ExportedRecord]:
        """The leaves about the interaction, alert, rule or anything else with that id."""
        leaves = [Leaf(*row) for row in self.raw.execute(_ABOUT, (id_, app, app)) if 0 <= row[0] < self.size]
        return list(self._records(leaves, disclose=disclose))

    def between(self, app: str | None, start: datetime, end: datetime, *, disclose: bool) -> Iterator[ExportedRecord]:
        """The leaves of interactions that occurred in [start, end), and of acts sealed in that time; by index.

        A plan of labels is in if it is about answers of that time, whenever it was made, with the labels of its items.
        Of each partition with answers of that time, the statements are in from the first about one of them to the last.
        """
        drawn, stated = self._drawn(app, start, end), stated_in(self.raw, self.size, app, start, end)
        with self.raw.cursor("audit_leaves") as cursor:
            cursor.itersize = _PAGE
            cursor.execute(_UP_TO, (self.size, app, app))
            leaves = (
                leaf
                for row in cursor
                if drawn.has(leaf := Leaf(*row)) or leaf.number in stated or _within(leaf, start, end)
            )
            while page := list(islice(leaves, _PAGE)):
                yield from self._records(page, disclose=disclose)

    def of_answers(self, answers: Sequence[tuple[str, str]], *, disclose: bool) -> Iterator[ExportedRecord]:
        """The leaves about these interactions, by app and id, and of what is needed to read them; by index."""
        columns = {"apps": [app for app, _ in answers], "ids": [id_ for _, id_ in answers], "size": self.size}
        with self.raw.cursor("audit_leaves") as cursor:
            cursor.itersize = _PAGE
            cursor.execute(_OF_ANSWERS, columns)
            leaves = (Leaf(*row) for row in cursor)
            while page := list(islice(leaves, _PAGE)):
                yield from self._records(page, disclose=disclose)

    def _drawn(self, app: str | None, start: datetime, end: datetime) -> _Drawn:
        drawn = _Drawn()
        for row in self.raw.execute(_PLANS, (self.size, app, app)):
            leaf = Leaf(*row)
            body = act_body(leaf.body)
            try:
                is_meant = datetime.fromisoformat(body["since"]) < end and datetime.fromisoformat(body["until"]) > start
                items = [(leaf.app, str(id_)) for id_, _ in body["items"]]
            except NO_STATEMENT:  # it was replaced by something else: `verify` names it
                continue
            if is_meant:
                drawn.plans.add(leaf.number)
                drawn.items.update(items)
        return drawn

    def prove(self, id_: str, app: str | None, keys: Sequence[str], *, disclose: bool) -> SubjectProof:
        """The leaves about something, as `about` finds them, with the checkpoints that say since when they are sealed.

        Without keys nothing of that is checked, and the proof has the last checkpoint only.

        Raises:
            NotProved: none of the keys has signed the last checkpoint.
        """
        records = self.about(id_, app, disclose=disclose)
        if not keys:
            return SubjectProof(subject=id_, key=None, records=records, notes=[self.note], steps=[], stamps=[])
        key = key_of(self.note, keys)
        sizes = [size for (size,) in self.raw.execute(_COVERING, ([record.index for record in records],))]
        rows = self.raw.execute(_NOTES, (self.size, [*sizes, self.size])).fetchall()
        notes = [(size, note) for size, note in rows if _opens(note, key)]
        return SubjectProof(
            subject=id_,
            key=key,
            records=records,
            notes=[note for _, note in notes],
            steps=self.consistency([size for size, _ in notes]),
            stamps=self.stamps(notes, key),
        )

    def checkpoints(self, first: int, key: str, *, since: datetime, until: datetime) -> list[tuple[int, str]]:
        """The last checkpoint of each day, of those that cover the leaf `first` and that the key signed.

        Those that were time-stamped in [since, until), or in the day after, are among them.
        """
        found: dict[int, str] = dict(self.raw.execute(_DAYS_LAST, (first, self.size)).fetchall())
        stamped_until = min(until, _LAST - _STAMPED_LATER) + _STAMPED_LATER
        found |= dict(self.raw.execute(_STAMPED, (self.size, since, stamped_until)).fetchall())
        return [(size, note) for size, note in sorted(found.items()) if size > first and _opens(note, key)]

    def stamps(self, notes: Sequence[tuple[int, str]], key: str) -> list[Stamp]:
        """The time stamps of these checkpoints; those that are of something else are for `verify` to name."""
        of = dict(notes)
        return [stamp for stamp in stamps_of(self.raw, list(of)) if is_of(stamp, statement(of[stamp.size], key))]

    def consistency(self, sizes: Sequence[int]) -> list[ConsistencyProof]:
        """The proofs that the tree of each of these sizes grew into the next."""
        return [
            ConsistencyProof(old=old, new=new, proof=consistency_proof(old, new, self.node))
            for old, new in pairwise(sizes)
        ]

    def _records(self, leaves: Sequence[Leaf], *, disclose: bool) -> Iterator[ExportedRecord]:
        compared = {row.leaf.number: row for row in compare_rows(self.raw, leaves, self.accounts, self.queue_key)}
        for leaf in leaves:
            comparison = compared.get(leaf.number)
            yield ExportedRecord(
                index=leaf.number,
                body=leaf.body,
                proof=inclusion_proof(leaf.number, self.size, self.node),
                disclosed=_disclosed(comparison) if comparison and disclose else None,
                stored=comparison.state if comparison else None,
                differs=comparison.differs if comparison else (),
            )


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The leaves of plans, and the app and id of each item."""

    plans: set[int] = field(default_factory=set)
    items: set[tuple[str, str]] = field(default_factory=set)

    def has(self, leaf: Leaf) -> bool:
        return leaf.number in self.plans or (leaf.kind == Kind.LABEL and (leaf.app, leaf.subject) in self.items)


def _disclosed(comparison: RowComparison) -> dict[str, dict[str, Json]] | None:
    """The keys and values of the row that open commitments of the leaf; None where none does."""
    row, record = comparison.row, comparison.record
    if row is None or record is None:
        return None
    keys = disclosed(row, bytes(row[SECRET]), committed(record), version_of(comparison.leaf.body))
    if comparison.state is not Stored.SAME:
        sealed = sealed_record(comparison.leaf)
        keys = {name: key for name, key in keys.items() if opens(sealed, name, str(key["key"]), key["value"])}
    return keys or None


def _within(leaf: Leaf, start: datetime, end: datetime) -> bool:
    """Whether an export of that time has the leaf; every export has every recovery."""
    if leaf.kind == Kind.POSITIONS:
        return False  # `stated_in` chooses those
    at = occurred(leaf.body) if leaf.kind in STORED else None
    return leaf.kind == Kind.RECOVERY or start <= (at or leaf.sealed_at) < end


def _opens(note: str, key: str) -> bool:
    try:
        opened(note, key)
    except NotProved:
        return False
    return True
