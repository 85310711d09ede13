"""Golden sets in the database. A version never changes: what is changed becomes the next one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, Select, func, insert, select, text

from monitor.audit.commitment import new_secret
from monitor.core.assessment_json import storable
from monitor.core.errors import WrongSettings
from monitor.core.model import Json
from monitor.probe.golden import MOST_ITEMS, SET_NAME, GoldenItem, GoldenSet, Source, question_key
from monitor.store.audit_queue import Act, Kind, queue_act
from monitor.store.database import bounded, retriable
from monitor.store.probe.proof import OTHER_TEXTS, item_committed, items_digest
from monitor.store.tables.probe import golden_item, golden_set

_LOCK: Final = 7_305_205  # held while a version is made: versions count up by one
_s, _i = golden_set.c, golden_item.c
_NEWEST = text("""
    SELECT DISTINCT ON (name) name, version, hash, items, made_by, made_at FROM golden_set ORDER BY name, version DESC
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenListing:
    """The newest version of a set, without its items; `items` is their number."""

    name: str
    version: int
    hash: str
    items: int
    made_by: str
    made_at: datetime


class GoldenSets:
    """Golden sets; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def save(self, name: str, items: Sequence[GoldenItem], *, by: str, now: datetime) -> GoldenSet:
        """Stores the items as the next version of a set, unless its newest version holds the same ones.

        Raises:
            WrongSettings: two items have the same id or ask the same, there is none, or there are too many.
        """
        with retriable(), self._engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            return _saved(connection, name, items, by=by, now=now)

    def add(self, name: str, item: GoldenItem, *, by: str, now: datetime) -> GoldenSet:
        """The next version of a set, with this item added, or in the place of the one that has its id.

        Raises:
            WrongSettings: another item asks the same, or there are too many.
        """
        with retriable(), self._engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            newest = _newest(connection, name)
            by_id = {} if newest is None else {known.id: known for known in newest.items}
            return _saved(connection, name, [*{**by_id, item.id: item}.values()], by=by, now=now)

    def remove(self, name: str, item_id: str, *, by: str, now: datetime) -> GoldenSet:
        """The next version of a set, without an item.

        Raises:
            WrongSettings: there is no such set or item, or it is the last one.
        """
        with retriable(), self._engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            newest = _newest(connection, name)
            known = () if newest is None else newest.items
            rest = [item for item in known if item.id != item_id]
            if len(rest) == len(known):
                raise WrongSettings(f"the golden set {name!r} has no item {item_id!r}: see monitor golden show {name}")
            return _saved(connection, name, rest, by=by, now=now)

    def newest(self, name: str) -> GoldenSet | None:
        with bounded(self._engine) as connection:
            return _newest(connection, name)

    def version(self, name: str, version: int) -> GoldenSet | None:
        with bounded(self._engine) as connection:
            return golden_version(connection, name, version)

    def every(self) -> list[GoldenListing]:
        """The newest version of each set, by name."""
        with bounded(self._engine) as connection:
            return [GoldenListing(**row) for row in connection.execute(_NEWEST).mappings()]


def _saved(connection: Connection, name: str, items: Sequence[GoldenItem], *, by: str, now: datetime) -> GoldenSet:
    if not re.fullmatch(SET_NAME, name):
        raise WrongSettings(f"{name!r} cannot be the name of a golden set: at most 100 characters, and no slash")
    kept = tuple(_storable(item) for item in items)
    if not kept:
        raise WrongSettings(f"the golden set {name!r} would have no items")
    ids = {item.id for item in kept}
    if len(ids) < len(kept):
        (twice, _), *_ = Counter(item.id for item in kept).most_common(1)
        raise WrongSettings(f"two items have the id {twice!r}: ids are unique in a golden set")
    if len(kept) > MOST_ITEMS:
        raise WrongSettings(f"the golden set {name!r} would have more than {MOST_ITEMS:,} items")
    asked: dict[str, str] = {}
    for item in kept:
        if (other := asked.setdefault(question_key(item.question), item.id)) != item.id:
            raise WrongSettings(f"{item.id!r} asks what {other!r} asks: a golden set asks each question once")
    newest = _newest(connection, name)
    highest = connection.scalar(select(func.max(_s.version)).where(_s.name == name))  # its items may be erased
    made = GoldenSet(name=name, items=kept, version=(highest or 0) + 1)
    if newest is not None and newest.hash == made.hash:
        return newest
    about = {"name": name, "version": made.version, "hash": made.hash, "items": len(kept)}
    row = {**about, "made_by": by, "made_at": now}
    rows = [_row(made, place, item) for place, item in enumerate(kept)]
    connection.execute(insert(golden_set).values(row))
    queue_act(connection, _act(row, rows))
    connection.execute(insert(golden_item), rows)
    return made


def _act(row: Mapping[Any, Any], items: Sequence[Mapping[Any, Any]]) -> Act:
    """The act that a version of a set was made; its hash tells of the questions and references without holding them."""
    body: dict[str, Json] = {"version": row["version"], "hash": row["hash"], "items": row["items"]}
    if (digest := items_digest(items)) is not None:
        body["committed"] = digest
    subject = f"{row['name']} {row['version']}"
    return Act(kind=Kind.GOLDEN, by=row["made_by"], at=row["made_at"], subject=subject, body=body)


def golden_acts(connection: Connection) -> list[Act]:
    """The act of each stored version; its hash says so if the items are not those of the hash in its row.

    The hash of a version of which items were erased tells nothing any more; what is left has the digest to prove it.
    """
    acts = []
    for row in connection.execute(select(golden_set)).mappings().all():
        items = connection.execute(_items(row["name"], row["version"])).mappings().all()
        stored = GoldenSet(name=row["name"], items=tuple(map(_item, items)), version=row["version"])
        changed = not any(item["erased"] for item in items) and stored.hash != row["hash"]
        found = f"{row['hash']}{OTHER_TEXTS}" if changed else row["hash"]
        acts.append(_act({**row, "hash": found}, items))
    return acts


def _newest(connection: Connection, name: str) -> GoldenSet | None:
    version = connection.scalar(select(func.max(_s.version)).where(_s.name == name))
    return None if version is None else golden_version(connection, name, version)


def golden_version(connection: Connection, name: str, version: int) -> GoldenSet | None:
    """A version of a golden set, without the items that were erased; None if there is none, or nothing of it."""
    rows = connection.execute(_items(name, version).where(~_i.erased)).mappings()
    items = tuple(map(_item, rows))
    return GoldenSet(name=name, items=items, version=version) if items else None


def _items(name: str, version: int) -> Select[Any]:
    return select(golden_item).where(_i.name == name, _i.version == version).order_by(_i.place)


def _row(of: GoldenSet, place: int, item: GoldenItem) -> dict[str, Any]:
    row = {
        "name": of.name,
        "version": of.version,
        "place": place,
        "id": item.id,
        "question": item.question,
        "reference": item.reference,
        "tags": dict(item.tags),
        "source_app": None if item.source is None else item.source.app,
        "source_id": None if item.source is None else item.source.id,
        "erased": False,
    }
    secret = new_secret()
    return {**row, "secret": secret, "committed": item_committed(secret, row)}


def _item(row: Mapping[Any, Any] | Any) -> GoldenItem:
    source = None if row["source_id"] is None else Source(row["source_app"], row["source_id"])
    return GoldenItem(
        id=row["id"], question=row["question"], reference=row["reference"], tags=row["tags"], source=source
    )


def _storable(item: GoldenItem) -> GoldenItem:
    return GoldenItem(
        id=storable(item.id),
        question=storable(item.question),
        reference=storable(item.reference),
        tags={storable(name): storable(value) for name, value in item.tags.items()},
        source=None if item.source is None else Source(*map(storable, item.source)),
    )
