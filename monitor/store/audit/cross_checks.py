"""What no range of leaves shows: rows that are in no leaf, secrets without a row, tiles and acts against their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select, text

from monitor.audit.finding import Fault, Finding
from monitor.audit.record import portable
from monitor.core.model import Mark
from monitor.store.audit.acts import ActKey, act_key, stored_acts, told_acts
from monitor.store.audit.backfill import ACTS
from monitor.store.audit.rows import PART, WAITS
from monitor.store.audit_queue import STORED, Act, Kind
from monitor.store.tables.alerts import rule_state

if TYPE_CHECKING:
    from datetime import datetime

_UNSEALED = {
    kind: text(f"""
        SELECT r.app, r.id, {PART[kind]} AS part FROM {kind.value} r
        WHERE NOT EXISTS (SELECT FROM audit_leaf l WHERE l.app = r.app AND l.subject = r.id
                AND l.kind = '{kind.value}' AND l.part = {PART[kind]})
            AND NOT EXISTS (SELECT FROM audit_queue q WHERE q.app = r.app AND q.subject = r.id AND {WAITS[kind]})
        ORDER BY 1, 2, 3
    """)  # noqa: S608  made of this project's own names
    for kind in STORED
}
_TWICE = {
    kind: text(f"""
        SELECT r.app, r.id, {PART[kind]} AS part FROM {kind.value} r
        GROUP BY 1, 2, 3 HAVING count(*) > 1 ORDER BY 1, 2, 3
    """)  # noqa: S608
    for kind in STORED
}
_STRAY_SECRETS = text(f"""
    SELECT s.app, s.id FROM audit_secret s WHERE NOT EXISTS (
        SELECT FROM interaction r WHERE r.app = s.app AND r.id = s.id AND NOT '{Mark.ERASED}' = ANY (r.marks)
    ) ORDER BY 1, 2
""")  # noqa: S608
_BACKFILL = text("SELECT EXISTS (SELECT FROM audit_queue WHERE kind = 'missing')")


def backfilling(connection: Connection) -> bool:
    """Whether the sealer has not come yet through what was stored before there was a trail."""
    return bool(connection.scalar(_BACKFILL))


def unsealed(connection: Connection) -> Iterator[Finding]:
    """Rows that are in no leaf and do not wait for one, and rows that are there twice."""
    for kind in STORED:
        for app, id_, part in connection.execute(_UNSEALED[kind]):
            named = _named(kind, app, id_, part)
            sentence = f"{named} was never sealed: it was inserted past this program, or taken out of the queue"
            yield Finding(fault=Fault.UNSEALED, app=app, subject=id_, sentence=sentence)
        for app, id_, part in connection.execute(_TWICE[kind]):
            sentence = f"{_named(kind, app, id_, part)} is stored more than once"
            yield Finding(fault=Fault.UNSEALED, app=app, subject=id_, sentence=sentence)


def stray_secrets(connection: Connection) -> Iterator[Finding]:
    """Secrets of what is not stored or was erased: whoever has one could still open what was deleted."""
    for app, id_ in connection.execute(_STRAY_SECRETS):
        sentence = f"there is a secret of {id_} in {app}, which is not stored or was erased"
        yield Finding(fault=Fault.SECRET, app=app, subject=id_, sentence=sentence)


def acts_against_rows(connection: Connection) -> Iterator[Finding]:
    """Acts whose row is gone or says otherwise, and rows without an act."""
    rows = stored_acts(connection)
    told: dict[ActKey, tuple[int | None, str, dict[str, Any]]] = {}
    ends: dict[str, Any] = {}
    for index, kind, app, subject, body in told_acts(connection, (*ACTS, Kind.UNSILENCE)):
        if kind == Kind.UNSILENCE:
            ends[subject] = body.get("ends_at")
            continue
        told.setdefault(act_key(kind, subject, body), (index, app, body))
    for key, (index, app, body) in told.items():
        act = rows.get(key)
        if act is None:
            yield _act(key, index, app, "is not stored any more")
        elif wrong := _differing(act, app, body, ends.get(key[1]) if key[0] == Kind.SILENCE else None):
            yield _act(key, index, app, f"was changed: {', '.join(wrong)}")
    for key, act in rows.items():
        if key not in told:
            yield _act(key, None, act.app, "was never sealed")
    yield from _rules(connection)


def _differing(act: Act, app: str, body: Mapping[str, Any], ends_at: str | None) -> list[str]:
    """The fields of a row's act that are not as they were told of."""
    stored: dict[str, Any] = {"by": act.by, "at": act.at.isoformat(), **act.body}
    told = dict(body)
    if act.kind is Kind.SILENCE:
        stored.pop("at")  # its row does not say when it was made
        told.pop("at", None)
        told["ends_at"] = ends_at or told.get("ends_at")
    wrong = [name for name in stored.keys() | told.keys() if portable(stored.get(name)) != told.get(name)]
    if act.kind is not Kind.ACKNOWLEDGE and app != act.app:
        wrong.append("app")
    return sorted(wrong)


def _rules(connection: Connection) -> Iterator[Finding]:
    """Rules that were evaluated since the trail knows of rules, and are in none of the sets that it was told of."""
    known: set[tuple[str, str]] = set()
    since: str | None = None
    for _, _, _, _, body in told_acts(connection, (Kind.RULES,)):
        since = since or str(body.get("at"))
        rules = body.get("rules")
        known |= set(rules.items()) if isinstance(rules, dict) else set()
    if since is None:
        return
    s = rule_state.c
    for name, digest, evaluated_at in connection.execute(select(s.rule, s.rule_digest, s.evaluated_at)):
        if _iso(evaluated_at) > since and (name, digest) not in known:
            sentence = f"the rule {name} ({digest}) was evaluated and is in no set of rules that was sealed"
            yield Finding(fault=Fault.ACT, subject=name, sentence=sentence)


def _iso(moment: datetime) -> str:
    return moment.isoformat()


def _act(key: ActKey, index: int | None, app: str, problem: str) -> Finding:
    leaf = "" if index is None else f", leaf {index},"
    sentence = f"the {key[0]} {' '.join(key[1:])}{leaf} {problem}"
    return Finding(fault=Fault.ACT, index=index, app=app, subject=key[1], sentence=sentence)


def _named(kind: str, app: str, id_: str, part: str) -> str:
    return f"the {kind} of {id_} in {app}{f' ({part})' if part else ''}"
