"""Saves and reads versions of the alert rules.

A version is authenticated with the key of the audit queue, which the database does not hold: what is added or changed
there alone does not come into force.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, func, insert, select

from monitor.alert.rules.version import SHIPPED, RulesVersion, digest_of, name_of
from monitor.audit.canonical import canonical
from monitor.audit.record import portable
from monitor.core.errors import MonitorError, WrongSettings
from monitor.core.model import Json
from monitor.store.audit_queue import Act, Kind, known_queue_key, queue_act, queue_key
from monitor.store.database import bounded, retriable
from monitor.store.tables.rules import rules_version

MOST_CHARACTERS = 200_000  # of a version
LONGEST_REASON = 1_000
_LOCK = 7_305_206  # held while a version is saved: they count up by one
_v = rules_version.c
_DOMAIN = "monitor: a version of the rules"


class NotNewest(MonitorError):
    """Somebody else has saved a version meanwhile; `newest` is its number."""

    def __init__(self, newest: int, based_on: int) -> None:
        super().__init__(
            f"not saved: your text is based on {name_of(based_on)}, and the newest is now {name_of(newest)}. "
            "Take over what changed there, and check again"
        )
        self.newest = newest


class RulesVersions:
    """The versions in the database. Every method may raise `Retriable`. Safe to use from several threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def newest(self) -> RulesVersion | None:
        return self._first(select(rules_version).order_by(_v.version.desc()))

    def before(self, version: int) -> RulesVersion | None:
        return self._first(select(rules_version).where(_v.version < version).order_by(_v.version.desc()))

    def get(self, version: int) -> RulesVersion | None:
        return self._first(select(rules_version).where(_v.version == version))

    def list(self, *, below: int | None = None, most: int = 50) -> Sequence[RulesVersion]:
        """Versions, the newest first; with `below` only those with a lower number."""
        query = select(rules_version).order_by(_v.version.desc()).limit(most)
        if below is not None:
            query = query.where(_v.version < below)
        with bounded(self._engine) as connection:
            key = known_queue_key(connection)
            return [_version(dict(row), key) for row in connection.execute(query).mappings()]

    def numbers(self, *, most: int = 200) -> Sequence[int]:
        """The numbers of the newest versions, the newest first, without their texts."""
        with bounded(self._engine) as connection:
            return connection.execute(select(_v.version).order_by(_v.version.desc()).limit(most)).scalars().all()

    def save(self, source: str, *, based_on: int, by: str, why: str, now: datetime) -> RulesVersion:
        """Saves `source`, which the caller has parsed, as the version after the newest, and queues the act with it.

        Raises:
            NotNewest: the newest version is not `based_on`.
            WrongSettings: there is no reason, text or reason is too long, or the text is that of the newest version.
        """
        why = why.strip()
        if not why:
            raise WrongSettings("not saved: say why the rules change")
        if len(why) > LONGEST_REASON or len(source) > MOST_CHARACTERS:
            raise WrongSettings(
                f"not saved: the text may have {MOST_CHARACTERS:,} characters, and the reason {LONGEST_REASON:,}"
            )
        with retriable(), self._engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            newest = connection.execute(select(rules_version).order_by(_v.version.desc()).limit(1)).mappings().first()
            number = SHIPPED if newest is None else newest["version"]
            if number != based_on:
                raise NotNewest(number, based_on)
            key = queue_key(connection)
            if newest is not None and newest["source"] == source and _version(dict(newest), key).authentic:
                raise WrongSettings(f"not saved: this is the text of {name_of(number)} already")
            row = {
                "version": number + 1,
                "source": source,
                "based_on": based_on,
                "saved_at": now,
                "saved_by": by,
                "why": why,
            }
            row["mac"] = _mac(key, row)
            connection.execute(insert(rules_version).values(**row))
            queue_act(connection, version_act(row))
        return _version(row, key)

    def _first(self, query: Any) -> RulesVersion | None:
        with bounded(self._engine) as connection:
            row = connection.execute(query.limit(1)).mappings().first()
            return None if row is None else _version(dict(row), known_queue_key(connection))


def version_acts(connection: Connection) -> list[Act]:
    """The act of each stored version."""
    return [version_act(dict(row)) for row in connection.execute(select(rules_version)).mappings()]


def version_act(row: Mapping[str, Any]) -> Act:
    """The act to seal for a row; text and reason by their SHA-256, since acts are kept for good."""
    body: dict[str, Json] = {
        "digest": digest_of(row["source"]),
        "based_on": row["based_on"],
        "why": hashlib.sha256(row["why"].encode()).hexdigest(),
        "mac": bytes(row["mac"]).hex(),
    }
    at = row["saved_at"].astimezone(UTC)
    return Act(kind=Kind.RULES_VERSION, by=row["saved_by"], at=at, subject=str(row["version"]), body=body)


def _version(row: Mapping[str, Any], key: bytes | None) -> RulesVersion:
    values = {name: row[name] for name in ("version", "source", "based_on", "saved_at", "saved_by", "why")}
    authentic = key is not None and hmac.compare_digest(bytes(row["mac"]), _mac(key, row))
    return RulesVersion(**values, authentic=authentic)


def _mac(key: bytes, row: Mapping[str, Any]) -> bytes:
    """HMAC-SHA256 of everything in a row."""
    names = ("version", "source", "based_on", "saved_at", "saved_by", "why")
    return hmac.digest(key, canonical([_DOMAIN, *(portable(row[name]) for name in names)]), "sha256")
