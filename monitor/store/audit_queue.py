"""Queues rows and acts for the audit trail, in the transaction that stores them: what is stored is sealed later.

An entry holds the records to seal, in the form in which a leaf will hold them. The process that stores makes them
from what it stores, never from what it reads, and authenticates the entry with a key that the database does not hold.
Entries of one source are numbered 1, 2, 3, …, so that one that is removed or repeated is found.
`monitor.app.audit.sealer` empties the queue.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, Engine, func, select

from monitor.audit.canonical import canonical
from monitor.audit.record import act_record
from monitor.core.errors import WrongSettings
from monitor.core.model import Json
from monitor.store.database import QUEUE_KEY, retriable

if TYPE_CHECKING:
    import psycopg

SEAL_LOCK = 7_305_301  # held by the process that seals
_COLUMNS = ("kind", "app", "subject", "part", "records", "body", "queued_at", "source", "number", "mac")


class Kind(StrEnum):
    """What a leaf is about; the first three are stored rows, the others acts."""

    INTERACTION = "interaction"
    ASSESSMENT = "assessment"  # subject: the interaction's id; its body names the profile
    JUDGEMENT = "judgement"
    RULES = "rules"  # came into force
    RULES_VERSION = "rules-version"  # a version of the rules was saved
    PROFILE = "profile"
    ACKNOWLEDGE = "acknowledge"
    SILENCE = "silence"
    UNSILENCE = "unsilence"
    LABEL = "label"
    PLAN = "plan"  # answers were drawn to be labelled for a rate
    REFERENCE = "reference"  # usual scores of an app were frozen
    GOLDEN = "golden"  # a version of a golden set was made
    PROBE = "probe"  # a run of a probe ended
    VERDICTS = "verdicts"  # those of a profile were put in use for stored answers
    ERASURE = "erasure"
    RETENTION = "retention"
    EXPORT = "export"
    LOOK = "look"  # at unmasked data
    TOKEN = "token"  # noqa: S105  an access token was made or revoked
    BACKFILL = "backfill"  # rows that had bypassed the queue were sealed
    RECOVERY = "recovery"  # from a restored backup; never queued: `monitor.store.audit.recovery` seals it at once
    POSITIONS = "positions"  # what became of each offset of a partition; see `monitor.store.ledger.positions`
    MISSING = "missing"  # the request to look for rows that bypassed the queue


STORED = (Kind.INTERACTION, Kind.ASSESSMENT, Kind.JUDGEMENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that a person or the program did to `subject`; `body` is what else must be provable.

    `body` is stored for good: texts of chatbots and users must not go into it.
    """

    kind: Kind
    by: str
    at: datetime
    app: str = ""
    subject: str
    body: Mapping[str, Json] = field(default_factory=dict)


class Entry(NamedTuple):
    """What is to be sealed about one stored row or act, or about an interaction and its assessment in one.

    The part of an assessment is its profile's hash, that of a judgement is `judgement_part`. An interaction that is
    stored together with its assessment has the assessment's part, which halves the rows to write; otherwise its part is
    empty. `records` are in canonical form, one in a line; None: the stored rows are read when they are sealed.
    """

    kind: str
    app: str
    subject: str
    part: str
    records: str | None
    body: str | None = None  # of an act, as JSON


class EntrySource:
    """Numbers and authenticates entries 1, 2, 3, … in the order in which they are stored.

    After a transaction that was not stored, or perhaps not, its numbers cannot be given again: `next` makes another
    source, whose name says how far this one was surely stored. For one thread.
    """

    def __init__(self, key: bytes, follows: str = "") -> None:
        self._key = key
        self._token = secrets.token_hex(8)
        self._follows = follows
        self._number = 0
        self._stored = 0

    @property
    def name(self) -> str:
        """A random token, and the token and the last number of the source that it follows, if it follows one."""
        return f"{self._token}~{self._follows}" if self._follows else self._token

    def stored(self) -> None:
        """To be called once the transaction of what was queued is stored."""
        self._stored = self._number

    def next(self) -> EntrySource:
        """The source to go on with after a transaction that may not have been stored."""
        return EntrySource(self._key, f"{self._token}~{self._stored}" if self._stored else self._follows)

    def sign(self, entry: Entry) -> tuple[str, int, bytes]:
        """The source and the number of the next entry, and its authentication."""
        self._number += 1
        return self.name, self._number, entry_mac(self._key, entry, self.name, self._number)

    def queue(self, connection: psycopg.Connection, entries: Iterable[Entry], now: datetime) -> int:
        """Queues entries in the caller's transaction; returns how many."""
        before = self._number
        with connection.cursor().copy(f"COPY audit_queue ({', '.join(_COLUMNS)}) FROM STDIN") as copy:
            for entry in entries:
                copy.write_row((*entry, now, *self.sign(entry)))
        return self._number - before


def entry_mac(key: bytes, entry: Entry, source: str, number: int) -> bytes:
    """HMAC-SHA256 of everything in an entry but its `body`, which only lists show."""
    authenticated: Json = [entry.kind, entry.app, entry.subject, entry.part, entry.records, source, number]
    return hmac.digest(key, canonical(authenticated), "sha256")


def is_authentic(key: bytes, entry: Entry, source: str, number: int, mac: bytes | None) -> bool:
    """Whether a process with the key queued the entry, under that source and number."""
    try:
        return mac is not None and hmac.compare_digest(bytes(mac), entry_mac(key, entry, source, number))
    except ValueError:  # no entry of ours has a number that canonical JSON cannot hold
        return False


def judgement_part(metric: str, model: str, prompt_hash: str) -> str:
    """The part of a judgement. Names of metrics and hashes contain no slash."""
    return f"{metric}/{model}/{prompt_hash}"


def act_entry(*, kind: str, app: str = "", subject: str, body: Mapping[str, Json]) -> Entry:
    """The entry that has an act sealed: its record in canonical JSON, and its body apart, as it is stored."""
    record = act_record(kind=kind, app=app, subject=subject, body=body)
    return Entry(kind, app, subject, "", canonical(record).decode(), canonical(record["body"]).decode())


def entry_of_act(act: Act) -> Entry:
    """The entry of `act`, whose body begins with who did it and when."""
    body = {"by": act.by, "at": act.at.isoformat(), **act.body}
    return act_entry(kind=act.kind.value, app=act.app, subject=act.subject, body=body)


def queue_act(connection: Connection, act: Act) -> None:
    """Queues an act, in the caller's transaction; each act is a source of its own.

    Raises:
        WrongSettings: the audit key cannot be used.
    """
    EntrySource(queue_key(connection)).queue(driver(connection), [entry_of_act(act)], act.at)


def queue_key(connection: Connection) -> bytes:
    """The key with which entries are authenticated over connections of this engine (see `connect`)."""
    key: Callable[[], bytes] = connection.get_execution_options()[QUEUE_KEY]
    return key()


def known_queue_key(connection: Connection) -> bytes | None:
    """As `queue_key`; None where this machine has no key, so that nothing in the queue can be checked."""
    try:
        return queue_key(connection)
    except WrongSettings:
        return None


def driver(connection: Connection) -> psycopg.Connection:
    """The psycopg connection below, in the same transaction."""
    return connection.connection.driver_connection  # type: ignore[return-value]


def hold_sealing(connection: Connection) -> None:
    """Waits for the sealer to finish its batch, and keeps it waiting until the caller's transaction ends.

    For deleting secrets: a secret that the sealer makes at the same time would outlive its interaction.
    """
    connection.execute(select(func.pg_advisory_xact_lock(SEAL_LOCK)))


def record_act(engine: Engine, act: Act) -> None:
    """Queues an act in a transaction of its own, before the caller does what the act records.

    Raises:
        Retriable: the database is out of reach, and the act is not stored.
    """
    with retriable(), engine.begin() as connection:
        queue_act(connection, act)
