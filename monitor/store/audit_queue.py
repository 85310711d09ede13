"""Queues rows and acts for the audit trail, in the transaction that stores them: what is stored is sealed later.

A queued row without a body names a stored row, which is read when it is sealed. An act (a label, a silence, an erasure,
a look at unmasked data) brings its body. `monitor.app.audit.sealer` empties the queue.
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

SEAL_LOCK = 7_305_301  # held by the process that seals


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
    BACKFILL = "backfill"  # rows that had bypassed the queue were sealed
    RECOVERY = "recovery"  # from a restored backup; never queued: `monitor.store.audit.recovery` seals it at once
    MISSING = "missing"  # never a leaf: the request to look for rows that bypassed the queue


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


def queue_rows(connection: psycopg.Connection, kind: Kind, rows: Iterable[tuple[str, str, str]], now: datetime) -> None:
    """Queues stored rows, in the caller's transaction, by the app and id of their interaction and by their part.

    The part of an assessment is its profile's hash, that of a judgement is `judgement_part`. An interaction that is
    stored together with its assessment has the assessment's part and stands for both, which halves the rows to write;
    otherwise its part is empty.
    """
    with connection.cursor().copy("COPY audit_queue (kind, app, subject, part, queued_at) FROM STDIN") as copy:
        for app, id_, part in rows:
            copy.write_row((kind.value, app, id_, part, now))


def judgement_part(metric: str, model: str, prompt_hash: str) -> str:
    """The part of a judgement. Names of metrics and hashes contain no slash."""
    return f"{metric}/{model}/{prompt_hash}"


def queue_act(connection: Connection, act: Act) -> None:
    """Queues an act, in the caller's transaction."""
    body = {"by": act.by, "at": act.at.isoformat(), **act.body}
    values = {"kind": act.kind.value, "app": act.app, "subject": act.subject, "queued_at": act.at, "body": body}
    connection.execute(insert(audit_queue), values)


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
