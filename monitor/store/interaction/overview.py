"""Reads the figures of the overview: verdicts over time from the rollups, label values, the last checkpoint."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TypeVar, cast

from sqlalchemy import Engine, Table, func, literal, select

from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.usage import AnswerUsage
from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Verdict
from monitor.store.database import limited_read
from monitor.store.interaction.usage import read_usage
from monitor.store.tables.audit import audit_checkpoint
from monitor.store.tables.interactions import rollup_label, verdict_minute
from monitor.store.tables.signals import time_of, verdict_hour

_T = TypeVar("_T")
HOUR = timedelta(hours=1)
SETTLED = timedelta(hours=1)
KEPT = timedelta(minutes=15)
_MOST_KEPT = 32
MOST_LABELS = 100  # values of a label in a form
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GROUP = ("app", "environment", "model")
_NARROW = "choose a shorter span of time, or one app"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Answers by verdict, of one app, environment and model, in the bin of time that begins at `at`."""

    at: datetime
    app: str
    environment: str
    model: str  # '' where the events named none
    grounded: int
    refusal: int
    self_generated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LastCheckpoint:
    """The last checkpoint of the audit trail: its number of leaves, and when it was made."""

    size: int
    made_at: datetime


class OverviewStore:
    """Reads. Safe to use from several threads; every method may raise `Retriable`, among it `TakesTooLong`.

    Figures older than `SETTLED` are cached for `KEPT`: answers that arrive so late may show up that much later.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._past: OrderedDict[tuple[object, ...], tuple[datetime, object]] = OrderedDict()
        self._lock = Lock()

    def cells(
        self, start: datetime, end: datetime, bin_: timedelta, *, now: datetime, app: str | None = None
    ) -> list[Cell]:
        """The cells of [start, end), without empty ones; both ends are aligned to bins since the epoch.

        Bins of an hour or more are whole hours.
        """
        before = now - SETTLED
        settled = max(start, before - (before - _EPOCH) % bin_)
        key = ("cells", start, settled, bin_, app)
        past = self._cached(key, now, lambda: self._read(start, settled, bin_, app))
        return [*past, *self._read(settled, end, bin_, app)]

    def _cached(self, key: tuple[object, ...], now: datetime, read: Callable[[], _T]) -> _T:
        with self._lock:
            known = self._past.get(key)
        if known is None or now - known[0] >= KEPT:
            known = now, read()
            with self._lock:
                self._past[key] = known
                while len(self._past) > _MOST_KEPT:
                    self._past.popitem(last=False)
        return cast("_T", known[1])

    def _read(self, start: datetime, end: datetime, bin_: timedelta, app: str | None) -> list[Cell]:
        if start >= end:
            return []
        rollup = verdict_hour if bin_ >= HOUR else verdict_minute
        c, at = rollup.c, time_of(rollup)
        binned = func.date_bin(literal(bin_), at, literal(_EPOCH)).label("at")
        sums = [func.sum(c[verdict.value]).label(verdict.value) for verdict in Verdict]
        query = select(binned, c.app, c.environment, c.model, *sums).where(at >= start, at < end)
        if app is not None:
            query = query.where(c.app == app)
        with limited_read(self._engine, _NARROW) as connection:
            rows = connection.execute(query.group_by(binned, c.app, c.environment, c.model))
            return [
                Cell(
                    at=row.at,
                    app=row.app,
                    environment=row.environment,
                    model=row.model,
                    grounded=int(row.grounded),
                    refusal=int(row.refusal),
                    self_generated=int(row.self_generated),
                )
                for row in rows
            ]

    def totals(self, start: datetime, end: datetime, *, app: str | None = None) -> dict[str, Verdicts]:
        """The answers of [start, end) by app; both are whole minutes. Whole hours are read from their sums."""
        return _by_app(self._counted(start, end, app, _GROUP))

    def groups(
        self, start: datetime, end: datetime, *, now: datetime, app: str | None = None
    ) -> dict[tuple[str, ...], Verdicts]:
        """The answers of [start, end), whole minutes, by app, environment and model.

        Whole hours older than `SETTLED` are cached as in `cells`.
        """
        return self._grouped(start, end, now, app, _GROUP)

    def topics(self, start: datetime, end: datetime, *, now: datetime, app: str | None = None) -> dict[str, Verdicts]:
        """The answers of [start, end), whole minutes, by topic, '' for those without one; cached as in `groups`."""
        return {topic: counts for (topic,), counts in self._grouped(start, end, now, app, ("topic",)).items()}

    def _grouped(
        self, start: datetime, end: datetime, now: datetime, app: str | None, by: tuple[str, ...]
    ) -> dict[tuple[str, ...], Verdicts]:
        first, last = _settled(start, end, now)
        settled = self._cached((by, first, last, app), now, lambda: self._counted(first, last, app, by))
        return _sum(settled, self._counted(start, first, app, by), self._counted(last, end, app, by))

    def _counted(
        self, start: datetime, end: datetime, app: str | None, by: tuple[str, ...]
    ) -> dict[tuple[str, ...], Verdicts]:
        counted: dict[tuple[str, ...], Verdicts] = {}
        with limited_read(self._engine, _NARROW) as connection:
            for rollup, since, until in _pieces(start, end):
                c, at = rollup.c, time_of(rollup)
                names = [c[name] for name in by]
                sums = [func.sum(c[verdict.value]).label(verdict.value) for verdict in Verdict]
                query = select(*names, *sums).where(at >= since, at < until).group_by(*names)
                if app is not None:
                    query = query.where(c.app == app)
                for row in connection.execute(query).mappings():
                    key = tuple(row[name] for name in by)
                    some = Verdicts(**{verdict.value: int(row[verdict.value]) for verdict in Verdict})
                    counted[key] = counted.get(key, Verdicts()) + some
        return counted

    def usage(self, start: datetime, end: datetime, *, now: datetime, app: str | None = None) -> dict[str, AnswerUsage]:
        """What the answers of [start, end), whole minutes, used, by app; cached as in `groups`."""
        first, last = _settled(start, end, now)
        parts = (
            self._cached(("usage", first, last, app), now, lambda: self._used(first, last, app)),
            self._used(start, first, app),
            self._used(last, end, app),
        )
        names = sorted({name for part in parts for name in part})
        return {name: AnswerUsage.total(part[name] for part in parts if name in part) for name in names}

    def _used(self, start: datetime, end: datetime, app: str | None) -> dict[str, AnswerUsage]:
        found: dict[str, AnswerUsage] = {}
        with limited_read(self._engine, _NARROW) as connection:
            for rollup, since, until in _pieces(start, end):
                read = read_usage(connection, rollup, since, until, by=("app",), app=app)
                for (name,), some in read.items():
                    found[name] = found.get(name, AnswerUsage()) + some
        return found

    def diagnoses(
        self, start: datetime, end: datetime, *, now: datetime, app: str | None = None
    ) -> dict[str, Counter[Diagnosis]]:
        """The answers of [start, end), whole minutes, by app and diagnosis; cached as in `groups`.

        Apps without a diagnosed answer are left out.
        """
        first, last = _settled(start, end, now)
        parts = (
            self._cached(("diagnoses", first, last, app), now, lambda: self._diagnosed(first, last, app)),
            self._diagnosed(start, first, app),
            self._diagnosed(last, end, app),
        )
        names = sorted({name for part in parts for name in part})
        return {name: sum((part.get(name, Counter()) for part in parts), Counter()) for name in names}

    def _diagnosed(self, start: datetime, end: datetime, app: str | None) -> dict[str, Counter[Diagnosis]]:
        found: dict[str, Counter[Diagnosis]] = {}
        with limited_read(self._engine, _NARROW) as connection:
            for rollup, since, until in _pieces(start, end):
                c, at = rollup.c, time_of(rollup)
                sums = [func.sum(c[diagnosis.value]) for diagnosis in Diagnosis]
                query = select(c.app, *sums).where(at >= since, at < until).group_by(c.app)
                if app is not None:
                    query = query.where(c.app == app)
                for name, *numbers in connection.execute(query):
                    some = Counter({diagnosis: int(n) for diagnosis, n in zip(Diagnosis, numbers, strict=True) if n})
                    if some:
                        found[name] = found.get(name, Counter()) + some
        return found

    def labels(self, *names: str) -> dict[str, Sequence[str]]:
        """The first `MOST_LABELS` values of each of these labels (`app`, `environment`, `model`, `topic`), in order."""
        c = rollup_label.c
        with limited_read(self._engine, _NARROW) as connection:
            return {
                name: list(
                    connection.scalars(
                        select(c.value).where(c.label == name, c.value != "").order_by(c.value).limit(MOST_LABELS)
                    )
                )
                for name in names
            }

    def newest(self, app: str | None) -> datetime | None:
        """The hour in which the newest answer occurred, of one app or of all; None without answers."""
        c = verdict_hour.c
        query = select(c.hour).where(c.total > 0).order_by(c.hour.desc()).limit(1)
        with limited_read(self._engine, _NARROW) as connection:
            return connection.scalar(query if app is None else query.where(c.app == app))

    def sealed(self) -> LastCheckpoint | None:
        """The last checkpoint; None before the first one."""
        c = audit_checkpoint.c
        with limited_read(self._engine, _NARROW) as connection:
            row = connection.execute(select(c.size, c.made_at).order_by(c.size.desc()).limit(1)).one_or_none()
        return None if row is None else LastCheckpoint(size=row.size, made_at=row.made_at)


def _settled(start: datetime, end: datetime, now: datetime) -> tuple[datetime, datetime]:
    """The whole hours within [start, end) that are older than `SETTLED`."""
    first = min(start + (_EPOCH - start) % HOUR, end)
    before = min(end, now - SETTLED)
    return first, max(first, before - (before - _EPOCH) % HOUR)


def _pieces(start: datetime, end: datetime) -> list[tuple[Table, datetime, datetime]]:
    """The parts of [start, end) to read from the sums of hours, and those at its ends to read by minutes."""
    first, last = start + (_EPOCH - start) % HOUR, end - (end - _EPOCH) % HOUR
    hours = [(verdict_hour, first, last)] if first < last else []
    edges = [(start, first), (last, end)] if first < last else [(start, end)]
    minutes = [(verdict_minute, since, until) for since, until in edges if since < until]
    return [*hours, *minutes]


def _sum(*parts: Mapping[tuple[str, ...], Verdicts]) -> dict[tuple[str, ...], Verdicts]:
    found: dict[tuple[str, ...], Verdicts] = {}
    for part in parts:
        for key, counts in part.items():
            found[key] = found.get(key, Verdicts()) + counts
    return found


def _by_app(counted: Mapping[tuple[str, ...], Verdicts]) -> dict[str, Verdicts]:
    found: dict[str, Verdicts] = {}
    for (app, *_), counts in counted.items():
        if counts.total:
            found[app] = found.get(app, Verdicts()) + counts
    return found
