"""Stores plans of labels, and reads them with their labels."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Select, func, insert, select, text

from monitor.core.model import Verdict
from monitor.review.draw import Offer
from monitor.review.label import Drawn
from monitor.review.rates.plan import Draw, Item, Part, Plan, PlanRequest
from monitor.review.rates.queue import open_items
from monitor.store.audit_queue import Act, Kind, queue_act
from monitor.store.database import retriable
from monitor.store.review.frame import draw_labels
from monitor.store.review.labels import candidate_of
from monitor.store.tables.review import review, review_plan, review_plan_item

OPEN_FOR = timedelta(days=28)  # so long the answers of a plan are offered
_PAGE = 200
_MOST = 12  # periods in a chart
TIMEOUT_MS = 120_000  # of a statement that draws; a million answers take a few seconds
_plan, _item = review_plan.c, review_plan_item.c
# The newest label of every person for each item of the plan.
_LABELS = text("""
    SELECT DISTINCT ON (n.place, r.labelled_by) n.app, n.interaction_id AS id, r.label, r.labelled_by
    FROM review_plan_item n JOIN review r ON r.app = n.app AND r.interaction_id = n.interaction_id
    WHERE n.plan = :plan ORDER BY n.place, r.labelled_by, r.id DESC
""")
_GONE = text("""
    SELECT n.app, n.interaction_id AS id FROM review_plan_item n
    LEFT JOIN interaction i ON i.app = n.app AND i.id = n.interaction_id AND i.occurred_at = n.occurred_at
    WHERE n.plan = :plan AND (i.id IS NULL OR 'erased' = ANY(i.marks))
""")
_LABELLED_AFTER = text("""
    SELECT DISTINCT n.plan FROM review r
    JOIN review_plan_item n ON n.app = r.app AND n.interaction_id = r.interaction_id WHERE r.id > :label
""")
_CANDIDATES = text("""
    SELECT a.app, a.id, a.occurred_at, a.verdict, a.rule_verdict, a.p_grounded, a.p_refusal, a.p_self_generated
    FROM unnest(CAST(:apps AS text[]), CAST(:ids AS text[]), CAST(:times AS timestamptz[]))
        WITH ORDINALITY AS wanted (app, id, occurred_at, place)
    JOIN interaction i ON i.app = wanted.app AND i.id = wanted.id AND i.occurred_at = wanted.occurred_at
    JOIN assessment a ON a.app = i.app AND a.id = i.id AND a.occurred_at = i.occurred_at AND a.live
    WHERE NOT 'erased' = ANY(i.marks)
    ORDER BY wanted.place
""")


class Plans:
    """Plans of labels in the database; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def make(self, request: PlanRequest, *, by: str, now: datetime) -> Plan | None:
        """Draws a plan from one snapshot, stores it and queues it for the audit trail; None if there are no answers."""
        seed = secrets.token_hex(16)
        with retriable(), self._engine.connect() as opened:
            connection = opened.execution_options(isolation_level="REPEATABLE READ")
            connection.execute(text(f"SET LOCAL statement_timeout = {TIMEOUT_MS}; SET LOCAL jit = off"))
            drawn = draw_labels(connection, request, seed)
            if not drawn.items:
                return None
            row: dict[str, Any] = {
                "app": request.app,
                "since": request.since,
                "until": request.until,
                "draw": drawn.draw,
                "seed": seed,
                "frame": drawn.frame,
                "answers": drawn.answers,
                "parts": [asdict(part) for part in drawn.parts],
                "made_by": by,
                "made_at": now,
            }
            number = connection.execute(insert(review_plan).returning(_plan.number), row).scalar_one()
            items = [_item_row(number, item) for item in drawn.items]
            connection.execute(insert(review_plan_item), items)
            queue_act(connection, plan_act({**row, "number": number}, items))
            connection.commit()
        return _plan_of({**row, "number": number}, drawn.items)

    def newest(self, app: str, since: datetime | None = None, until: datetime | None = None) -> Plan | None:
        """The app's newest plan, for exactly that period if it is given."""
        query = select(review_plan).where(_plan.app == app).order_by(_plan.number.desc()).limit(1)
        if since is not None and until is not None:
            query = query.where(_plan.since == since, _plan.until == until)
        return next(iter(self._read(query)), None)

    def apps(self) -> list[str]:
        """The apps with a plan, by name."""
        with retriable(), self._engine.connect() as connection:
            return list(connection.scalars(select(_plan.app).distinct().order_by(_plan.app)))

    def periods(self, app: str) -> list[tuple[datetime, datetime]]:
        """The periods with a plan, the newest plan's first."""
        query = select(_plan.since, _plan.until).where(_plan.app == app).order_by(_plan.number.desc())
        with retriable(), self._engine.connect() as connection:
            return list(dict.fromkeys((row.since, row.until) for row in connection.execute(query)))

    def numbered(self, number: int) -> Plan:
        """The plan with that number, which must exist."""
        (plan,) = self._read(select(review_plan).where(_plan.number == number))
        return plan

    def ended_after(self, moment: datetime) -> dict[str, list[int]]:
        """The numbers of each app's plans of periods that ended later, the latest period and plan first."""
        query = select(_plan.app, _plan.number).where(_plan.until > moment)
        query = query.order_by(_plan.app, _plan.until.desc(), _plan.number.desc())
        found: defaultdict[str, list[int]] = defaultdict(list)
        with retriable(), self._engine.connect() as connection:
            for row in connection.execute(query):
                found[row.app].append(row.number)
        return dict(found)

    def version(self) -> tuple[int, int]:
        """The newest plan and the newest label; while both are the same, so are the rates."""
        newest = [select(func.max(number)).scalar_subquery() for number in (_plan.number, review.c.id)]
        with retriable(), self._engine.connect() as connection:
            plan, label = connection.execute(select(*newest)).one()
            return plan or 0, label or 0

    def labelled_after(self, label: int) -> set[int]:
        """The numbers of the plans with an item that has a label newer than that one."""
        with retriable(), self._engine.connect() as connection:
            return set(connection.scalars(_LABELLED_AFTER, {"label": label}))

    def drawn(self, plan: Plan) -> int:
        """How many plans there are for the period of this one."""
        same = (_plan.app == plan.app, _plan.since == plan.since, _plan.until == plan.until)
        with retriable(), self._engine.connect() as connection:
            return int(connection.scalar(select(func.count()).select_from(review_plan).where(*same)) or 0)

    def labels(self, plan: Plan) -> dict[tuple[str, str], dict[str, Verdict]]:
        """The newest label of every person, by name, for each item (app and id) that has one.

        Without any for items whose answers are erased or past retention.
        """
        found: dict[tuple[str, str], dict[str, Verdict]] = {}
        with retriable(), self._engine.connect() as connection:
            for row in connection.execute(_LABELS, {"plan": plan.number}):
                found.setdefault((row.app, row.id), {})[row.labelled_by] = Verdict(row.label)
            for row in connection.execute(_GONE, {"plan": plan.number}):
                found.setdefault((row.app, row.id), {})
        return found

    def open(self, app: str | None, now: datetime) -> list[tuple[Plan, dict[tuple[str, str], dict[str, Verdict]]]]:
        """The newest plan of each period of the app, or of every app, with its labels, the last one first.

        Without plans older than `OPEN_FOR`.
        """
        newest = select(func.max(_plan.number)).where(_plan.made_at > now - OPEN_FOR)
        newest = newest.group_by(_plan.app, _plan.since, _plan.until)
        if app is not None:
            newest = newest.where(_plan.app == app)
        query = select(review_plan).where(_plan.number.in_(newest)).order_by(_plan.number.desc())
        return [(plan, self.labels(plan)) for plan in self._read(query)]

    def within(self, app: str, start: datetime, end: datetime) -> list[Plan]:
        """The newest plan of each of the app's periods that overlap [start, end), at most `_MOST`, the latest first."""
        newest = select(func.max(_plan.number)).where(_plan.app == app, _plan.since < end, _plan.until > start)
        newest = newest.group_by(_plan.since, _plan.until)
        query = select(review_plan).where(_plan.number.in_(newest)).order_by(_plan.until.desc()).limit(_MOST)
        return self._read(query)

    def offers(self, app: str | None, *, by: str, count: int, now: datetime) -> list[Offer]:
        """At most `count` answers of open plans that `by` is to label next; without those that are erased."""
        items = [item for plan, labels in self.open(app, now) for item in open_items(plan, labels, by=by)]
        found: list[Offer] = []
        for first in range(0, len(items), _PAGE):
            page = items[first : first + _PAGE]
            with retriable(), self._engine.connect() as connection:
                rows = connection.execute(_CANDIDATES, _wanted(page)).mappings()
                found += [Offer(candidate=candidate_of(row), drawn=Drawn.PLAN) for row in rows]
            if len(found) >= count:
                break
        return found[:count]

    def readable(self, items: Sequence[Item]) -> int:
        """How many of the items have an answer that people can still be asked about."""
        if not items:
            return 0
        with retriable(), self._engine.connect() as connection:
            return len(connection.execute(_CANDIDATES, _wanted(items)).all())

    def _read(self, query: Select[Any]) -> list[Plan]:
        """The plans of the rows that a query of `review_plan` gives, with their items."""
        with retriable(), self._engine.connect() as connection:
            rows = connection.execute(query).mappings().all()
            return [_plan_of(dict(row), _items(connection, row["number"])) for row in rows]


def plan_act(row: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> Act:
    """The act to seal for a row of `review_plan` and its rows of `review_plan_item`: all that checking a rate takes.

    The act's `items` are pairs of id and part, in the order of the draw.
    """
    return Act(
        kind=Kind.PLAN,
        by=row["made_by"],
        at=row["made_at"],
        app=row["app"],
        subject=str(row["number"]),
        body={
            "since": row["since"].isoformat(),
            "until": row["until"].isoformat(),
            **{name: row[name] for name in ("draw", "seed", "frame", "answers")},
            "parts": [dict(part) for part in row["parts"]],
            "items": [[item["interaction_id"], item["part"]] for item in items],
        },
    )


def plan_acts(connection: Connection) -> list[Act]:
    """The act that each stored plan records."""
    items: defaultdict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for item in connection.execute(select(review_plan_item).order_by(_item.plan, _item.place)).mappings():
        items[item["plan"]].append(dict(item))
    return [plan_act(dict(row), items[row["number"]]) for row in connection.execute(select(review_plan)).mappings()]


def _items(connection: Connection, number: int) -> list[Item]:
    rows = connection.execute(select(review_plan_item).where(_item.plan == number).order_by(_item.place)).mappings()
    return [
        Item(place=r["place"], part=r["part"], app=r["app"], id=r["interaction_id"], occurred_at=r["occurred_at"])
        for r in rows
    ]


def _wanted(items: Sequence[Item]) -> dict[str, object]:
    return {
        "apps": [item.app for item in items],
        "ids": [item.id for item in items],
        "times": [item.occurred_at for item in items],
    }


def _item_row(number: int, item: Item) -> dict[str, object]:
    return {
        "plan": number,
        "place": item.place,
        "part": item.part,
        "app": item.app,
        "interaction_id": item.id,
        "occurred_at": item.occurred_at,
    }


def _plan_of(row: Mapping[str, Any], items: Sequence[Item]) -> Plan:
    same = ("number", "app", "since", "until", "seed", "frame", "answers", "made_by", "made_at")
    parts = [Part(**part) for part in row["parts"]]
    return Plan(**{name: row[name] for name in same}, draw=Draw(row["draw"]), parts=parts, items=items)
