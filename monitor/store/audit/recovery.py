"""What the trail says beside its witnesses: whether they know more, or something else; and recovering from a backup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Engine

from monitor.audit.finding import Fault, Finding
from monitor.audit.key import Signer
from monitor.audit.note import NotProved, signers
from monitor.audit.record import act_record
from monitor.audit.recovery import SUBJECT, Head, Recovery, WitnessState, recovery_of
from monitor.core.errors import Fatal, WrongSettings
from monitor.store.audit.acts import act_body
from monitor.store.audit.checkpoints import (
    NOTES_OF,
    check_signed,
    claimed_size,
    last_checkpoint,
    opened_by,
    sign,
    signed_size,
)
from monitor.store.audit.leaf import leaf_body
from monitor.store.audit.tree import NewLeaf, TreeEdge, head_at, tree_size
from monitor.store.audit_queue import Kind, driver, hold_sealing
from monitor.store.database import retriable

if TYPE_CHECKING:
    import psycopg

# `kind NOT IN …` is worded as in the partial index of migration 0009, so that the index is used.
_RECOVERIES = """
    SELECT index, body FROM audit_leaf
    WHERE kind NOT IN ('interaction', 'assessment', 'judgement') AND kind = 'recovery' ORDER BY index
"""
_IS_THERE = "SELECT to_regclass('audit_checkpoint')::text"
# through JSON, because a database that is not migrated yet has no such column
_AUTHENTICATED = "SELECT EXISTS (SELECT FROM audit_queue q WHERE to_jsonb(q) ->> 'mac' IS NOT NULL)"
_WHAT_NEXT = (
    "nothing is sealed until this is settled. If the database was restored from a backup, "
    "`monitor audit recover --reason WHY` records what was lost. If it is another database, give it a key and a "
    "witness of its own: MONITOR_STATE_DIR, or MONITOR_AUDIT__KEY_FILE and MONITOR_AUDIT__WITNESS_FILE. Otherwise "
    "somebody has changed the trail: `monitor audit verify` says where. See `monitor docs audit/audit`"
)


class Contradicted(Fatal):
    """A witness knows a larger or another tree than the database holds; nothing may be sealed on top of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedRecovery:
    """A recovery in the trail, with the index of its leaf."""

    index: int
    recovery: Recovery


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessNotes:
    """The notes of one witness in the order in which it got them, and when it got the last one, if it says so.

    One that is not `readable` has notes that it cannot give back.
    """

    name: str
    notes: Sequence[str]
    at: datetime | None = None
    readable: bool = True


@dataclass(slots=True)
class _Sorted:
    """What the trail contradicts of a witness's notes; those in their place, or named by a recovery, are left out."""

    beyond: list[Head] = field(default_factory=list)
    contradicted: list[Head] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)  # who signed them


def read_recoveries(raw: psycopg.Connection, keys: Sequence[str]) -> tuple[list[SealedRecovery], list[Finding]]:
    """The recoveries in the trail that one of the keys has signed for their place, and the leaves that only claim one.

    That the restored leaves have the root that a recovery names is for the caller to check.
    """
    found, forged = [], []
    for index, body in raw.execute(_RECOVERIES):
        try:
            found.append(SealedRecovery(index=index, recovery=recovery_of(act_body(body), index, keys)))
        except NotProved as error:
            sentence = f"leaf {index} claims to be a recovery, and is not: {error}"
            forged.append(Finding(fault=Fault.RECOVERY, index=index, subject=SUBJECT, sentence=sentence))
    return found, forged


class History:
    """The stored trail beside what witnesses know; every method may raise `Retriable`.

    `keys` are the public keys that may have signed checkpoints.
    """

    def __init__(self, engine: Engine, keys: Sequence[str]) -> None:
        self._engine = engine
        self._keys = tuple(keys)

    def signed_by(self) -> tuple[str, ...]:
        """The keys that claim to have signed the last checkpoint; none where nothing is signed yet."""
        with retriable(), self._engine.connect() as connection:
            raw = driver(connection)
            if raw.execute(_IS_THERE).fetchone() == (None,):
                return ()
            last = last_checkpoint(raw)
        return signers(last.note) or ("nobody",) if last else ()

    def proved_by_key(self) -> bool:
        """Whether entries wait to be sealed that only the key in force when they were queued can prove."""
        with retriable(), self._engine.connect() as connection:
            raw = driver(connection)
            if raw.execute(_IS_THERE).fetchone() == (None,):
                return False
            return raw.execute(_AUTHENTICATED).fetchone() == (True,)

    def check_key(self, key: str) -> None:
        """Checks that `key`, which is to sign, or a previous one has signed the last checkpoint.

        Raises:
            WrongSettings: another one has.
        """
        with retriable(), self._engine.connect() as connection:
            last = last_checkpoint(driver(connection))
        if last is None:
            return
        try:
            opened_by(last.note, self._keys)
        except NotProved:
            name = " and ".join(signers(last.note)) or "nobody"
            raise WrongSettings(
                f"the trail in this database is signed by {name}, and the key of this installation is {key}: nothing "
                "is sealed with another key. Give every replica the same MONITOR_AUDIT__KEY_FILE; after a change of "
                "keys, name the old public key in MONITOR_AUDIT__PREVIOUS_KEYS"
            ) from None

    def check(self, witness: WitnessNotes, *, shared: bool) -> str | None:
        """Checks notes of a witness; a `shared` one may keep those of other logs as well.

        Returns the last checkpoint if the witness, though readable, lacks it.

        Read the notes before calling this: a checkpoint is stored before a witness gets it.

        Raises:
            Contradicted: it knows more leaves, or other ones, and no recovery accounts for that.
        """
        with retriable(), self._engine.connect() as connection:
            raw = driver(connection)
            known = self._sorted(raw, witness.notes)
            size, last = tree_size(raw), last_checkpoint(raw)
        if known.contradicted:
            leaves = known.contradicted[-1].size
            problem = f"knows another root of the first {leaves} leaves than the database gives"
        elif known.beyond:
            leaves = max(known.beyond).size
            problem = f"knows {leaves} leaves, and the database has {size}"
        elif known.foreign and not shared:
            problem = f"holds checkpoints that were signed by {known.foreign[-1]}, which is no key of this trail"
        else:
            lacks_it = last is not None and witness.readable and last.note not in witness.notes
            return last.note if last is not None and lacks_it else None
        raise Contradicted(f"the witness {witness.name} {problem}: {_WHAT_NEXT}")

    def plan(self, witnesses: Sequence[WitnessNotes], *, by: str, at: str, reason: str) -> Recovery | None:
        """The recovery that accounts for what the witnesses know beyond the stored leaves; None if that is nothing.

        Raises:
            Fatal: they contradict the stored leaves, which no recovery can excuse, or the tree is not the signed one.
        """
        with retriable(), self._engine.connect() as connection:
            raw = driver(connection)
            check_signed(raw)
            known = {witness.name: self._sorted(raw, witness.notes) for witness in witnesses}
            for name, of in known.items():
                if of.contradicted:
                    raise Fatal(
                        f"{name} knows another root of the first {of.contradicted[-1].size} leaves than the database "
                        "gives: that is no restored backup of this trail, and no recovery can excuse it. "
                        "`monitor audit verify` says which leaves to look at. If this is another database, or to begin "
                        "anew in full view, set another MONITOR_AUDIT__WITNESS_FILE and keep the old file"
                    )
            last = signed_size(raw)
            restored = head_at(raw, tree_size(raw))
        lost = sorted({head for of in known.values() for head in of.beyond})
        if not lost:
            return None
        states = tuple(
            WitnessState(
                name=witness.name,
                newest=of.beyond[-1],
                at=None if witness.at is None else witness.at.isoformat(timespec="seconds"),
                lost=len(set(of.beyond)),
            )
            for witness in witnesses
            if (of := known[witness.name]).beyond
        )
        return Recovery(by=by, at=at, reason=reason, restored=restored, signed=last, witnesses=states, lost=tuple(lost))

    def seal(self, recovery: Recovery, signer: Signer, now: datetime) -> str:
        """Seals the recovery as the next leaf and signs it; returns the note of the new checkpoint.

        Raises:
            Fatal: the trail has grown since the recovery was planned, or is not the signed one.
        """
        with retriable(), self._engine.begin() as connection:
            hold_sealing(connection)
            raw = driver(connection)
            check_signed(raw)
            edge = TreeEdge.read(raw)
            if Head.of(edge.frontier.size, edge.frontier.root) != recovery.restored:
                raise Fatal("the trail has changed since the recovery was planned: run `monitor audit recover` again")
            kind = Kind.RECOVERY.value
            body = leaf_body(act_record(kind=kind, app="", subject=SUBJECT, body=recovery.body(signer)), now)
            edge.append(raw, [NewLeaf(kind, ("", SUBJECT, ""), body)], now)
            return sign(raw, edge.frontier, signer, now)

    def _sorted(self, raw: psycopg.Connection, notes: Sequence[str]) -> _Sorted:
        sizes = [claimed for note in notes if (claimed := claimed_size(note)) is not None]
        stored: Mapping[int, str] = dict(raw.execute(NOTES_OF, (sizes,)).fetchall())
        unknown = [note for note in notes if stored.get(claimed_size(note) or 0) != note]
        found = _Sorted()
        if not unknown:
            return found
        size, lost = tree_size(raw), {head for its in self._recoveries(raw) for head in its.lost}
        for note in unknown:
            try:
                checkpoint = opened_by(note, self._keys)
            except NotProved:
                found.foreign += signers(note)[:1]  # none: a note that was cut off, which proves nothing
                continue
            head = Head.of(checkpoint.size, checkpoint.root)
            if head in lost:
                continue
            if head.size > size:
                found.beyond.append(head)
            elif head_at(raw, head.size) != head:
                found.contradicted.append(head)
        return found

    def _recoveries(self, raw: psycopg.Connection) -> list[Recovery]:
        recoveries = [sealed.recovery for sealed in read_recoveries(raw, self._keys)[0]]
        return [its for its in recoveries if head_at(raw, its.restored.size) == its.restored]
