"""Checks that no range of leaves covers: rows in no leaf, secrets without a row, acts against their rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, select, text

from monitor.audit.finding import Fault, Finding
from monitor.audit.record import portable
from monitor.core.model import Mark
from monitor.store.audit.acts import STORED_ACTS, ActKey, TrailAct, stored_acts, trail_acts
from monitor.store.audit.rows import PART, UNSEALED
from monitor.store.audit_queue import STORED, Act, Kind
from monitor.store.tables.alerts import rule_state

_UNSEALED = "SELECT r.app, r.id, {part} AS part FROM {kind} r WHERE {unsealed} ORDER BY 1, 2, 3"
_TWICE = """
    SELECT r.app, r.id, {part} AS part FROM {kind} r GROUP BY 1, 2, 3 HAVING count(*) > 1 ORDER BY 1, 2, 3
"""
_STRAY_SECRETS = text("""
    SELECT s.app, s.id FROM audit_secret s WHERE NOT EXISTS (
        SELECT FROM interaction r WHERE r.app = s.app AND r.id = s.id AND NOT :erased = ANY (r.marks)
    ) ORDER BY 1, 2
""").bindparams(erased=Mark.ERASED.value)
_BACKFILL = text("SELECT EXISTS (SELECT FROM audit_queue WHERE kind = 'missing')")


def backfilling(connection: Connection) -> bool:
    """Whether the sealer still looks through rows that were stored before there was a trail."""
    return bool(connection.scalar(_BACKFILL))


def unsealed(connection: Connection) -> Iterator[Finding]:
    """Finds rows that are in no leaf and do not wait for one, and rows that are stored twice."""
    for kind in STORED:
        names = {"kind": kind.value, "part": PART[kind], "unsealed": UNSEALED[kind]}
        for app, id_, part in connection.execute(text(_UNSEALED.format(**names))):
            named = _named(kind, app, id_, part)
            sentence = f"{named} was never sealed: it was inserted past this program, or taken out of the queue"
            yield Finding(fault=Fault.UNSEALED, app=app, subject=id_, sentence=sentence)
        for app, id_, part in connection.execute(text(_TWICE.format(**names))):
            sentence = f"{_named(kind, app, id_, part)} is stored more than once"
            yield Finding(fault=Fault.UNSEALED, app=app, subject=id_, sentence=sentence)


def stray_secrets(connection: Connection) -> Iterator[Finding]:
    """Finds secrets of interactions that are not stored or were erased: such a secret still opens commitments."""
    for app, id_ in connection.execute(_STRAY_SECRETS):
        sentence = f"there is a secret of {id_} in {app}, which is not stored or was erased"
        yield Finding(fault=Fault.SECRET, app=app, subject=id_, sentence=sentence)


def acts_against_rows(connection: Connection) -> Iterator[Finding]:
    """Finds acts whose row is gone or contradicts them, and rows without an act."""
    stored = stored_acts(connection)
    sealed: dict[ActKey, TrailAct] = {}
    ends: dict[str, Any] = {}
    for act in trail_acts(connection, (*STORED_ACTS, Kind.UNSILENCE)):
        if act.kind == Kind.UNSILENCE:
            ends[act.subject] = act.body.get("ends_at")
        else:
            sealed.setdefault(act.key, act)
    for key, act in sealed.items():
        row_act = stored.get(key)
        if row_act is None:
            yield _finding(key, act.number, act.app, "is not stored any more")
        elif fields := _differing(row_act, act, ends.get(act.subject) if act.kind == Kind.SILENCE else None):
            yield _finding(key, act.number, act.app, f"was changed: {', '.join(fields)}")
    for key, row_act in stored.items():
        if key not in sealed:
            yield _finding(key, None, row_act.app, "was never sealed")
    yield from _rules(connection)


def _differing(row_act: Act, act: TrailAct, ends_at: str | None) -> list[str]:
    """The fields in which a row contradicts its act; `ends_at` is when a silence was ended early."""
    stored: dict[str, Any] = {"by": row_act.by, "at": row_act.at.isoformat(), **row_act.body}
    sealed = dict(act.body)
    if act.kind == Kind.SILENCE:
        stored.pop("at")  # its row does not say when it was made
        sealed.pop("at", None)
        sealed["ends_at"] = ends_at or sealed.get("ends_at")
    fields = [name for name in stored.keys() | sealed.keys() if portable(stored.get(name)) != sealed.get(name)]
    if act.kind != Kind.ACKNOWLEDGE and act.app != row_act.app:
        fields.append("app")
    return sorted(fields)


def _rules(connection: Connection) -> Iterator[Finding]:
    """Finds rules that were evaluated since the first rule set was recorded, and that are in no recorded set."""
    known: set[tuple[str, str]] = set()
    since: str | None = None
    for act in trail_acts(connection, (Kind.RULES,)):
        since = since or str(act.body.get("at"))
        rules = act.body.get("rules")
        known |= set(rules.items()) if isinstance(rules, dict) else set()
    if since is None:
        return
    s = rule_state.c
    for name, digest, evaluated_at in connection.execute(select(s.rule, s.rule_digest, s.evaluated_at)):
        if evaluated_at.isoformat() > since and (name, digest) not in known:
            sentence = f"the rule {name} ({digest}) was evaluated and is in no set of rules that was sealed"
            yield Finding(fault=Fault.ACT, subject=name, sentence=sentence)


def _finding(key: ActKey, index: int | None, app: str, problem: str) -> Finding:
    leaf = "" if index is None else f", leaf {index},"
    sentence = f"the {key[0]} {' '.join(key[1:])}{leaf} {problem}"
    return Finding(fault=Fault.ACT, index=index, app=app, subject=key[1], sentence=sentence)


def _named(kind: str, app: str, id_: str, part: str) -> str:
    return f"the {kind} of {id_} in {app}{f' ({part})' if part else ''}"
