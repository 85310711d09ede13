"""What alerts quote of interactions: in explanations, notifications and groups, and in the previous release's outbox.

They are few beside the interactions, so each is looked through. Figures, ids and what was found to have changed stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeAlias

from sqlalchemy import Column, Connection, Table, and_, select, update

from monitor.alert.explain.said import plain
from monitor.redact import redact
from monitor.store.tables import interaction
from monitor.store.tables_alerts import alert_explanation, alert_group, notification, outbox

ERASED = "(erased)"
_PLACES: dict[Table, Column[Any]] = {
    alert_explanation: alert_explanation.c.explanation,
    notification: notification.c.payload,
    alert_group: alert_group.c.description,
    outbox: outbox.c.payload,
}
_QUOTED = re.compile("“[^”]*”?")
_SHORTEST = 12  # characters of a question by which a quotation of it is known
_COMPARED = 60  # of which so many are compared: quotations are cut
_Gone: TypeAlias = Callable[[str | None, str], bool]


def blank_erased(connection: Connection, app: str, ids: Collection[str], questions: Sequence[str]) -> int:
    """Blanks what is quoted of these interactions of `app`, by their ids or by their questions; in how many places.

    Some places name an id without its app: what another app's interaction of that id said there goes too.
    """
    probes = [probe for question in questions if len(probe := plain(redact(question))[:_COMPARED]) >= _SHORTEST]
    return _blank(connection, lambda of, id_: id_ in ids and of in {None, app}, probes)


def blank_gone(connection: Connection) -> int:
    """Blanks what is quoted of interactions that are not stored any more; in how many places."""
    ids = sorted(
        {id_ for table in _PLACES for _, content in _contents(connection, table) for _, id_ in _named(content)}
    )
    i = interaction.c
    stored = {tuple(row) for row in connection.execute(select(i.app, i.id).where(i.id.in_(ids)))}
    known = {id_ for _, id_ in stored}
    return _blank(connection, lambda of, id_: id_ not in known if of is None else (of, id_) not in stored, ())


def _blank(connection: Connection, gone: _Gone, probes: Sequence[str]) -> int:
    changed = 0
    for table, column in _PLACES.items():
        for key, content in _contents(connection, table):
            named = any(gone(*name) for name in _named(content))
            if not named and not any(_quotes(content, probe) for probe in probes):
                continue
            after = _without(content, gone)
            if after != content:
                which = and_(*(part == value for part, value in zip(table.primary_key.columns, key, strict=True)))
                connection.execute(update(table).where(which).values({column: after}))
                changed += 1
    return changed


def _contents(connection: Connection, table: Table) -> list[tuple[tuple[Any, ...], Any]]:
    """The key and the content of every row that has some."""
    column = _PLACES[table]
    rows = connection.execute(select(*table.primary_key.columns, column).where(column.is_not(None)))
    return [(tuple(row[:-1]), row[-1]) for row in rows]


def _named(content: Any) -> Iterator[tuple[str | None, str]]:
    """App, where it is said, and id of each answer that is quoted with its question."""
    if isinstance(content, dict):
        if isinstance(content.get("id"), str) and "question" in content:
            yield content.get("app"), content["id"]
        for value in content.values():
            yield from _named(value)
    elif isinstance(content, list):
        for item in content:
            yield from _named(item)


def _quotes(content: Any, probe: str) -> bool:
    if isinstance(content, str):
        return probe in plain(content)
    if isinstance(content, dict):
        content = list(content.values())
    return isinstance(content, list) and any(_quotes(item, probe) for item in content)


def _without(content: Any, gone: _Gone) -> Any:
    """Without the texts of the answers that are gone, and without any example of a question."""
    if isinstance(content, list):
        return [_without(item, gone) for item in content]
    if not isinstance(content, dict):
        return content
    after = {name: _without(value, gone) for name, value in content.items()}
    if isinstance(content.get("id"), str) and "question" in content and gone(content.get("app"), content["id"]):
        after |= {"question": "", "answer": ""}
    if isinstance(content.get("example"), str):
        after["example"] = ""
    if isinstance(content.get("changes"), list):
        after["changes"] = [_QUOTED.sub(ERASED, said) for said in content["changes"]]
    return after
