"""What is to be sealed: queued in the transaction that stores it, so that nothing is stored that is not sealed later.

A row without a body names a stored row, which is read when it is sealed; an act (somebody labelled, silenced, erased,
looked) brings its body. `monitor.app.audit.sealer` empties the queue.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, func, insert, select

from monitor.core.model import Json
from monitor.store.database import retriable
from monitor.store.tables.audit import audit_queue

if TYPE_CHECKING:
    import psycopg

SEAL_LOCK = 7_305_301  # of who seals


class Kind(StrEnum):
    """What a leaf is about; the first three are stored rows, the others acts."""

    INTERACTION = "interaction"
    ASSESSMENT = "assessment"  # subject: the interaction's id; its body names the profile
    JUDGEMENT = "judgement"
    RULES = "rules"
    PROFILE = "profile"
    ACKNOWLEDGE = "acknowledge"
    SILENCE = "silence"
    UNSILENCE = "unsilence"
    LABEL = "label"
    ERASURE = "erasure"
    RETENTION = "retention"
    EXPORT = "export"
    LOOK = "look"  # at unmasked data
    TOKEN = "token"  # noqa: S105  an access token was made or revoked
    BACKFILL = "backfill"  # rows that were stored past the queue were sealed
    MISSING = "missing"  # no leaf: stands in the queue while such rows are looked for


STORED = (Kind.INTERACTION, Kind.ASSESSMENT, Kind.JUDGEMENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Something that somebody did: `subject` is what it was done to, `body` whatever else is to be proved.

    `body` is stored for good: no text of a chatbot or of its users goes into it.
    """

    kind: Kind
    by: str
    at: datetime
    app: str = ""
    subject: str
    body: Mapping[str, Json] = field(default_factory=dict)


def queue_rows(connection: psycopg.Connection, kind: Kind, rows: Iterable[tuple[str, str, str]], now: datetime) -> None:
    """Queues stored rows by app and id of their interaction and their part, in the caller's transaction.

    The part of an assessment is its profile's hash, of a judgement what `judgement_part` says. An interaction that is
    stored together with its assessment has that one's part, and stands for both: half the rows to write. Else it is
    empty.
    """
    with connection.cursor().copy("COPY audit_queue (kind, app, subject, part, queued_at) FROM STDIN") as copy:
        for app, id_, part in rows:
            copy.write_row((kind.value, app, id_, part, now))


def judgement_part(metric: str, model: str, prompt_hash: str) -> str:
    """Which judgement of its interaction; the names of metrics and the hashes hold no slash."""
    return f"{metric}/{model}/{prompt_hash}"


def queue_act(connection: Connection, act: Act) -> None:
    """Queues an act, in the caller's transaction."""
    body = {"by": act.by, "at": act.at.isoformat(), **act.body}
    values = {"kind": act.kind.value, "app": act.app, "subject": act.subject, "queued_at": act.at, "body": body}
    connection.execute(insert(audit_queue), values)


def hold_sealing(connection: Connection) -> None:
    """Keeps the sealer from rows and secrets until the caller's transaction ends, once what it does now is done.

    For whoever deletes secrets: one that is made at the same time would outlive its interaction.
    """
    connection.execute(select(func.pg_advisory_xact_lock(SEAL_LOCK)))


def keep_act(engine: Engine, act: Act) -> None:
    """Queues it for the audit trail; only once this has returned may be done what it tells of.

    Raises:
        Retriable: the database is out of reach; it is not kept.
    """
    with retriable(), engine.begin() as connection:
        queue_act(connection, act)
