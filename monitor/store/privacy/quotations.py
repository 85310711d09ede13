"""Blanks what alerts quote of interactions: in explanations, notifications, groups and the previous release's outbox.

There are few of these rows, so each is searched. Figures, ids and the changes that were found stay. `hold_alerting`
must be called first: a round of alerting copies quotations from what it has read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeAlias

from sqlalchemy import Column, Connection, Table, and_, func, select, text, update

from monitor.alert.explain.sentences import plain
from monitor.privacy.masking import redact
from monitor.store.alert.alerts import EVALUATOR_LOCK
from monitor.store.tables.alerts import alert_explanation, alert_group, notification, outbox

ERASED = "(erased)"
_PLACES: dict[Table, Column[Any]] = {
    alert_explanation: alert_explanation.c.explanation,
    notification: notification.c.payload,
    alert_group: alert_group.c.description,
    outbox: outbox.c.payload,
}
_QUOTED = re.compile("“.*", re.DOTALL)  # to the end of the text, because a question may contain quotation marks
_SHORTEST = 12  # characters of a question that is found within a text; a shorter one must be the whole quotation
_COMPARED = 60  # characters of a question that are compared, because quotations are shortened
_PAGE = 200  # rows that are in memory at a time
_STORED = text("""
    SELECT i.app, i.id FROM interaction i JOIN unnest(CAST(:ids AS text[])) AS named (id) USING (id)
    WHERE NOT 'erased' = ANY(i.marks)
""")
_Gone: TypeAlias = Callable[[str | None, str], bool]


def hold_alerting(connection: Connection) -> None:
    """Waits for the current round of alerting, and keeps others waiting until the caller's transaction ends."""
    connection.execute(select(func.pg_advisory_xact_lock(EVALUATOR_LOCK)))


def blank_erased(connection: Connection, app: str, ids: Collection[str], questions: Sequence[str]) -> int:
    """Blanks quotations of these interactions of `app`, found by id or question; returns how many rows changed.

    Some rows name an id without its app: there a quotation of another app's interaction with that id goes too.
    """
    probes = [plain(redact(question))[:_COMPARED] for question in questions if question.strip()]
    return _blank(connection, lambda named_app, id_: id_ in ids and named_app in {None, app}, probes)


def blank_gone(connection: Connection) -> int:
    """Blanks quotations of interactions that are no longer stored or were erased; returns how many rows changed."""
    ids = {id_ for table in _PLACES for _, content in _contents(connection, table) for _, id_ in _named(content)}
    stored = {tuple(row) for row in connection.execute(_STORED, {"ids": sorted(ids)})}
    known = {id_ for _, id_ in stored}
    return _blank(connection, lambda app, id_: id_ not in known if app is None else (app, id_) not in stored, ())


def _blank(connection: Connection, gone: _Gone, probes: Sequence[str]) -> int:
    changed = 0
    for table, column in _PLACES.items():
        for key, content in _contents(connection, table):
            if not any(gone(*name) for name in _named(content)) and not _quoted(content, probes):
                continue
            after = _without(content, gone)
            if after != content:
                which = and_(*(part == value for part, value in zip(table.primary_key.columns, key, strict=True)))
                connection.execute(update(table).where(which).values({column: after}))
                changed += 1
    return changed


def _contents(connection: Connection, table: Table) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The key and content of every row with content, as of the first read."""
    column = _PLACES[table]
    query = select(*table.primary_key.columns, column).where(column.is_not(None))
    for row in connection.execute(query.execution_options(yield_per=_PAGE)):
        yield tuple(row[:-1]), row[-1]


def _named(content: Any) -> Iterator[tuple[str | None, str]]:
    """The app, if named, and the id of each answer that is quoted with its question."""
    if isinstance(content, dict):
        if isinstance(content.get("id"), str) and "question" in content:
            yield content.get("app"), content["id"]
        for value in content.values():
            yield from _named(value)
    elif isinstance(content, list):
        for item in content:
            yield from _named(item)


def _quoted(content: Any, probes: Sequence[str]) -> bool:
    texts = [plain(text) for text in _texts(content)] if probes else []
    return any(_quotes(text, probe) for text in texts for probe in probes)


def _quotes(text: str, probe: str) -> bool:
    return probe in text if len(probe) >= _SHORTEST else text == probe or f"“{probe}”" in text


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for item in content.values() if isinstance(content, dict) else content:
            yield from _texts(item)


def _without(content: Any, gone: _Gone) -> Any:
    """The content without the texts of gone answers, and without any example of a question."""
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
        after["changes"] = [_QUOTED.sub(ERASED, change) for change in content["changes"]]
    return after
