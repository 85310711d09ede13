"""Lists dead letters for the dashboard: newest first, a page at a time, and their most frequent causes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, func, select

from monitor.core.errors import problem_at
from monitor.privacy.masking import redact
from monitor.store.database import TakesTooLong, limited_read
from monitor.store.deadletters.dead_letters import LetterFilter
from monitor.store.tables.ledger import dead_letter

PAGE = 50
COUNTED = 2_000  # the newest letters, among which causes are counted
_MOST_READS = 40  # pages of letters that are searched to fill one page
_BEGINS = 200  # bytes of a message that a list reads
_NARROW = "name a topic of the dead letters, or a shorter time"
_d = dead_letter.c


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedLetter:
    """One row; `begins` holds the first bytes of its message."""

    id: int
    received_at: datetime
    topic: str
    partition: int
    position: int
    path: str
    problem: str
    size: int
    begins: bytes
    settled_at: datetime | None
    outcome: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Letters of one topic with one problem at one path: how many, how many are open, when the last one came."""

    topic: str
    path: str
    problem: str
    letters: int
    open: int
    last: datetime


class LetterList:
    """Reads; every method may raise `Retriable`, among it `TakesTooLong`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def page(self, wanted: LetterFilter, *, before: int | None = None) -> list[ListedLetter]:
        """`PAGE` letters that match, with ids below `before`, and one more where there are more.

        A part of a problem is searched in the masked problem, so that a search cannot be used to guess personal data.
        """
        found: list[ListedLetter] = []
        for _ in range(_MOST_READS):
            rows = self._page(wanted, before)
            found += [row for row in rows if _stands(row, wanted)]
            if len(rows) <= PAGE or len(found) > PAGE:
                return found[: PAGE + 1]
            before = rows[-1].id
        raise TakesTooLong(f"this would take too long: {_NARROW}")

    def _page(self, wanted: LetterFilter, before: int | None) -> list[ListedLetter]:
        columns = [getattr(_d, name) for name in ListedLetter.__slots__ if name != "begins"]
        begins = func.substr(_d.value, 1, _BEGINS).label("begins")
        query = select(*columns, begins).where(*wanted.conditions()).order_by(_d.id.desc()).limit(PAGE + 1)
        if before is not None:
            query = query.where(_d.id < before)
        with limited_read(self._engine, _NARROW) as connection:
            return [
                ListedLetter(**{**row, "begins": bytes(row["begins"])}) for row in connection.execute(query).mappings()
            ]

    def causes(self, wanted: LetterFilter, *, most: int = 20) -> list[Cause]:
        """The causes of the newest `COUNTED` letters that match, the most frequent first."""
        newest = select(_d.topic, _d.path, _d.problem, _d.settled_at, _d.received_at).where(*wanted.conditions())
        n = newest.order_by(_d.id.desc()).limit(COUNTED).subquery().c
        query = (
            select(
                n.topic,
                n.path,
                n.problem,
                func.count().label("letters"),
                func.count().filter(n.settled_at.is_(None)).label("open"),
                func.max(n.received_at).label("last"),
            )
            .group_by(n.topic, n.path, n.problem)
            .order_by(func.count().desc(), n.topic, n.path, n.problem)
        )
        with limited_read(self._engine, _NARROW) as connection:
            found = [Cause(**row) for row in connection.execute(query).mappings()]
        return [cause for cause in found if _stands(cause, wanted)][:most]


def _stands(row: ListedLetter | Cause, wanted: LetterFilter) -> bool:
    if wanted.problem is None:
        return True
    written = f"{row.path}: {row.problem}", problem_at(row.path, row.problem)
    return any(wanted.problem.lower() in redact(text).lower() for text in written)
