"""Runs of probes in the database: what began, what each item gave, and what came of the whole."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import fields
from datetime import datetime
from typing import Any, Final
from zlib import crc32

from sqlalchemy import Connection, Engine, Row, Update, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from monitor.audit.commitment import new_secret
from monitor.core.assessment_json import storable
from monitor.probe.figures import RunFigures
from monitor.probe.mark import Marked
from monitor.probe.result import ItemResult, ItemState, ProbeRun, RunState, Scored, ScoredRun
from monitor.store.audit_queue import queue_act
from monitor.store.database import advisory_lock, bounded, retriable
from monitor.store.probe.items import ItemFilter, ItemPage, all_items, asked_questions, item_page, known_tags
from monitor.store.probe.newest import newest_runs, run_figures
from monitor.store.probe.proof import run_act, turns_committed
from monitor.store.probe.rows import probe_run_of, result_row, turn_rows
from monitor.store.tables.probe import probe_result, probe_run, probe_turn

MOST_LISTED: Final = 1_000
PROBE_LOCK: Final = 7_305_206
_r, _p = probe_run.c, probe_result.c
_RUN = [_r[field.name] for field in fields(ProbeRun)]
_SCORES = (_p.run, _p.item, _p.state, _p.correctness, _p.wscore, _p.lscore, _p.mscore)


class ProbeRuns:
    """Runs; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def begin(self, run: ProbeRun, *, mark: str) -> ProbeRun:
        """Stores a run that begins, whatever its number says, and returns it with the number that it gets."""
        values = {field.name: getattr(run, field.name) for field in fields(ProbeRun) if field.name != "number"}
        with retriable(), self._engine.begin() as connection:
            row = connection.execute(insert(probe_run).values(**values, mark=mark).returning(*_RUN)).one()
        return _run(row)

    def save(self, number: int, place: int, result: ItemResult) -> None:
        """Stores the result of one item with its turns, once, and only while the run goes on."""
        turns, secret = turn_rows(number, place, result), new_secret()
        proof = {"secret": secret, "committed": turns_committed(secret, turns)}
        with retriable(), self._engine.begin() as connection:
            running = select(_r.number).where(_r.number == number, _r.state == RunState.RUNNING)
            if connection.scalar(running.with_for_update(read=True)) is None:
                return
            stored = connection.scalar(
                upsert(probe_result)
                .values({**result_row(number, place, result), **proof})
                .on_conflict_do_nothing()
                .returning(_p.run)
            )
            if stored is not None and turns:
                connection.execute(insert(probe_turn), turns)

    def end(
        self, number: int, state: RunState, *, now: datetime, error: str | None = None, chatbot: str | None = None
    ) -> None:
        """Ends a run that is running; `chatbot` is its version, if only its answers told it."""
        values: dict[str, object] = {"state": state, "ended_at": now, "error": error and storable(error)}
        if chatbot:
            values["chatbot"] = storable(chatbot)
        with retriable(), self._engine.begin() as connection:
            running = _r.number == number, _r.state == RunState.RUNNING
            _end(connection, update(probe_run).where(*running).values(**values))

    def running(self, probe: str) -> AbstractContextManager[bool]:
        """Tries to be the only process that runs a probe, for the block; yields whether it is."""
        return advisory_lock(self._engine, (PROBE_LOCK << 32) + crc32(probe.encode()))

    def abandon(self, probe: str, *, now: datetime) -> int:
        """Ends as stopped the runs of a probe that are not over; the caller holds `running`. Returns how many."""
        ended = {"state": RunState.STOPPED, "ended_at": now, "error": "the process that ran it is gone"}
        with retriable(), self._engine.begin() as connection:
            running = _r.state == RunState.RUNNING, _r.probe == probe
            return _end(connection, update(probe_run).where(*running).values(**ended))

    def run(self, number: int) -> ProbeRun | None:
        with bounded(self._engine) as connection:
            row = connection.execute(select(*_RUN).where(_r.number == number)).one_or_none()
        return None if row is None else _run(row)

    def runs(
        self,
        *,
        probe: str | None = None,
        app: str | None = None,
        environment: str | None = None,
        chatbot: str | None = None,
        candidate: bool | None = None,
        before: int | None = None,
        most: int = 20,
    ) -> list[ProbeRun]:
        """Up to `most` runs, the newest first; `before` is the number of the last one of the page before."""
        query = select(*_RUN).order_by(_r.number.desc()).limit(min(most, MOST_LISTED))
        wanted = {
            _r.probe: probe,
            _r.app: app,
            _r.environment: environment,
            _r.chatbot: chatbot,
            _r.candidate: candidate,
        }
        for column, value in wanted.items():
            if value is not None:
                query = query.where(column == value)
        if before is not None:
            query = query.where(_r.number < before)
        with bounded(self._engine) as connection:
            return [_run(row) for row in connection.execute(query)]

    def probes(self) -> list[tuple[str, str]]:
        """The probes that have runs, each with the app that it asks, in order."""
        query = select(_r.probe, _r.app).distinct().order_by(_r.probe, _r.app)
        with bounded(self._engine) as connection:
            return [(row.probe, row.app) for row in connection.execute(query)]

    def last_begin(self, probe: str) -> datetime | None:
        """When the newest run of a probe began, in whatever state it is; runs of candidates are not asked about."""
        newest = select(_r.began_at).where(_r.probe == probe, ~_r.candidate).order_by(_r.number.desc()).limit(1)
        with bounded(self._engine) as connection:
            found: datetime | None = connection.scalar(newest)
        return found

    def scored(self, numbers: Collection[int]) -> list[ScoredRun]:
        """The runs of these numbers that exist, with the scores of their items, the newest first."""
        with bounded(self._engine) as connection:
            return scored_runs(connection, numbers)

    def newest(self, *, per_probe: int, since: datetime, app: str | None = None) -> list[tuple[ProbeRun, RunFigures]]:
        """The newest runs that are done of each probe, app and environment, with their figures; see `newest_runs`."""
        with bounded(self._engine) as connection:
            runs = newest_runs(connection, most=per_probe, since=since, app=app)
            known = run_figures(connection, [run.number for run in runs])
        return [(run, known[run.number]) for run in runs]

    def figures(self, numbers: Collection[int]) -> dict[int, RunFigures]:
        """The figures of runs by number, from the items that are through."""
        with bounded(self._engine) as connection:
            return run_figures(connection, numbers)

    def results(self, number: int) -> list[ItemResult]:
        """The results of a run with their turns, in the order of the golden set; none of a run that does not exist."""
        with bounded(self._engine) as connection:
            return all_items(connection, number)

    def page(self, run: ProbeRun, wanted: ItemFilter, *, start: int, most: int) -> ItemPage:
        """A page of the items of a run, the worst first; see `item_page`."""
        with bounded(self._engine) as connection:
            return item_page(connection, run.number, wanted, start=start, most=most)

    def tags(self, run: ProbeRun) -> list[str]:
        """The first tags of a run's questions, each as NAME=VALUE."""
        with bounded(self._engine) as connection:
            return known_tags(connection, run)

    def questions(self, run: ProbeRun, items: Collection[str]) -> dict[str, str]:
        """The questions of a run with these ids, as far as they are still stored."""
        with bounded(self._engine) as connection:
            return asked_questions(connection, run, items)

    def marks(self, marks: Collection[str]) -> dict[str, Marked]:
        """The runs that these marks belong to, by mark."""
        query = select(_r.mark, _r.app, _r.began_at).where(_r.mark.in_(marks))
        with bounded(self._engine) as connection:
            return {mark: Marked(app, began_at) for mark, app, began_at in connection.execute(query)}


def scored_runs(connection: Connection, numbers: Collection[int]) -> list[ScoredRun]:
    """The runs of these numbers that exist, with the scores of their items, the newest first."""
    found = select(*_RUN).where(_r.number.in_(numbers)).order_by(_r.number.desc())
    runs = [_run(row) for row in connection.execute(found)]
    rows = connection.execute(
        select(*_SCORES).where(_p.run.in_([run.number for run in runs])).order_by(_p.run, _p.place)
    ).all()
    scores: dict[int, list[Scored]] = {run.number: [] for run in runs}
    for row in rows:
        scores[row.run].append(
            Scored(
                item=row.item,
                state=ItemState(row.state),
                correctness=row.correctness,
                wscore=row.wscore,
                lscore=row.lscore,
                mscore=row.mscore,
            )
        )
    return [ScoredRun(run=run, scores=scores[run.number]) for run in runs]


def _end(connection: Connection, ending: Update) -> int:
    """Ends runs in the caller's transaction, each with its act; returns how many."""
    rows = connection.execute(ending.returning(*probe_run.c)).mappings().all()
    for row in rows:
        queue_act(connection, run_act(connection, row))
    return len(rows)


def _run(row: Row[Any]) -> ProbeRun:
    return probe_run_of(row._mapping)  # noqa: SLF001  the public name of SQLAlchemy for a row as a mapping
