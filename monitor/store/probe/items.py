"""Reads the items of a run with their conversations: all of them, or a page of those that a filter finds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Integer, Select, and_, any_, bindparam, case, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY

from monitor.probe.result import ItemResult, ItemState, ProbeRun
from monitor.store.probe.rows import item_result
from monitor.store.tables.probe import golden_item, probe_result, probe_run, probe_turn

MOST_TAGS: Final = 100
_p, _t, _g, _r = probe_result.c, probe_turn.c, golden_item.c, probe_run.c
_JUDGED = _p.state.in_([ItemState.GRADED, ItemState.UNSURE])
_WORST = (
    case({ItemState.FAILED.value: 0, ItemState.UNGRADED.value: 1, ItemState.UNSURE.value: 2}, value=_p.state, else_=3),
    func.coalesce(_p.correctness, 0.0),
    _p.place,
)
_FOUND = (
    select(probe_result, _g.question, _g.reference, _g.tags, _g.source_app, _g.source_id)
    .join(probe_run, _p.run == _r.number)
    .outerjoin(golden_item, and_(_g.name == _r.golden, _g.version == _r.golden_version, _g.id == _p.item, ~_g.erased))
)
_TURNS = (
    select(probe_turn)
    .where(_t.run == bindparam("run"), _t.place == any_(bindparam("places", type_=ARRAY(Integer))))
    .order_by(_t.place, _t.turn)
)
_TAGS = text("""
    SELECT DISTINCT tag.key || '=' || tag.value FROM golden_item i, jsonb_each_text(i.tags) tag
    WHERE i.name = :name AND i.version = :version AND NOT i.erased ORDER BY 1 LIMIT :most
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemFilter:
    """Which items of a run; None: all. `score` is the rounded correctness of the first answer, 0: it is not sure."""

    state: ItemState | None = None
    score: int | None = None
    tag: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPage:
    """Some items with their places from 0 in the golden set, and how many the filter finds."""

    items: Sequence[tuple[int, ItemResult]]
    total: int


def all_items(connection: Connection, number: int) -> list[ItemResult]:
    """The results of a run with their turns, in the order of the golden set; none of a run that does not exist."""
    query = _FOUND.where(_p.run == number).order_by(_p.place)
    return [result for _, result in _with_turns(connection, number, query)]


def item_page(connection: Connection, number: int, wanted: ItemFilter, *, start: int, most: int) -> ItemPage:
    """Up to `most` items from `start` on: those without an answer first, then not sure ones, then by score.

    The conversations of other items are not read.
    """
    found = _FOUND.where(_p.run == number)
    if wanted.state is not None:
        found = found.where(_p.state == wanted.state)
    if wanted.score is not None:
        found = found.where(_JUDGED, func.floor(func.coalesce(_p.correctness, 0.0) + 0.5) == wanted.score)
    if wanted.tag is not None:
        found = found.where(_g.tags.contains(dict([wanted.tag])))
    total = connection.scalar(select(func.count()).select_from(found.with_only_columns(_p.place).subquery())) or 0
    query = found.order_by(*_WORST).offset(start).limit(most)
    return ItemPage(items=_with_turns(connection, number, query), total=total)


def known_tags(connection: Connection, run: ProbeRun) -> list[str]:
    """The first tags of a run's questions, each as NAME=VALUE."""
    asked = {"name": run.golden, "version": run.golden_version, "most": MOST_TAGS}
    return list(connection.scalars(_TAGS, asked))


def asked_questions(connection: Connection, run: ProbeRun, items: Collection[str]) -> dict[str, str]:
    """The questions with these ids, as far as they are still stored."""
    of_run = _g.name == run.golden, _g.version == run.golden_version, ~_g.erased
    found = connection.execute(select(_g.id, _g.question).where(*of_run, _g.id.in_(items)))
    return {row.id: row.question for row in found}


def _with_turns(connection: Connection, number: int, query: Select[Any]) -> list[tuple[int, ItemResult]]:
    """The items that the query finds, with their turns."""
    rows = connection.execute(query).mappings().all()
    of_place: dict[int, list[Mapping[Any, Any]]] = {}
    for turn in connection.execute(_TURNS, {"run": number, "places": [row["place"] for row in rows]}).mappings():
        of_place.setdefault(turn["place"], []).append(turn)
    return [(row["place"], item_result(row, of_place.get(row["place"], []))) for row in rows]
