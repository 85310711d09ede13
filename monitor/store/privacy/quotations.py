"""What alerts quote of interactions: in explanations, notifications and groups, and in the previous release's outbox.

They are few beside the interactions, so each is looked through. Figures, ids and what was found to have changed stay.
Whoever blanks holds `hold_alerting` meanwhile: a round of alerting carries quotations over from what it has read.
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
_QUOTED = re.compile("“.*", re.DOTALL)  # to the end, where it stands: a question may have such signs itself
_SHORTEST = 12  # characters of a question by which it is found anywhere; a shorter one only where it stands alone
_COMPARED = 60  # of a longer one so many are compared: quotations are cut
_PAGE = 200  # rows that are in memory at a time
_STORED = text("""
    SELECT i.app, i.id FROM interaction i JOIN unnest(CAST(:ids AS text[])) AS named (id) USING (id)
    WHERE NOT 'erased' = ANY(i.marks)
""")
_Gone: TypeAlias = Callable[[str | None, str], bool]


def hold_alerting(connection: Connection) -> None:
    """Keeps rounds of alerting away until the caller's transaction ends, once the one that runs is done."""
    connection.execute(select(func.pg_advisory_xact_lock(EVALUATOR_LOCK)))


def blank_erased(connection: Connection, app: str, ids: Collection[str], questions: Sequence[str]) -> int:
    """Blanks what is quoted of these interactions of `app`, by their ids or by their questions; in how many places.

    Some places name an id without its app: what another app's interaction of that id said there goes too.
    """
    probes = [plain(redact(question))[:_COMPARED] for question in questions if question.strip()]
    return _blank(connection, lambda of, id_: id_ in ids and of in {None, app}, probes)


def blank_gone(connection: Connection) -> int:
    """Blanks what is quoted of interactions that are not stored any more, or were erased; in how many places."""
    ids = {id_ for table in _PLACES for _, content in _contents(connection, table) for _, id_ in _named(content)}
    stored = {tuple(row) for row in connection.execute(_STORED, {"ids": sorted(ids)})}
    known = {id_ for _, id_ in stored}
    return _blank(connection, lambda of, id_: id_ not in known if of is None else (of, id_) not in stored, ())


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
    """The key and the content of every row that has some, as they are when the first one is read."""
    column = _PLACES[table]
    query = select(*table.primary_key.columns, column).where(column.is_not(None))
    for row in connection.execute(query.execution_options(yield_per=_PAGE)):
        yield tuple(row[:-1]), row[-1]


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


def _quoted(content: Any, probes: Sequence[str]) -> bool:
    texts = [plain(said) for said in _texts(content)] if probes else []
    return any(_quotes(said, probe) for said in texts for probe in probes)


def _quotes(said: str, probe: str) -> bool:
    return probe in said if len(probe) >= _SHORTEST else said == probe or f"“{probe}”" in said


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict | list):
        for item in content.values() if isinstance(content, dict) else content:
            yield from _texts(item)


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
