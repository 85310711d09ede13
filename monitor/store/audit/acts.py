"""Acts that stored rows tell of too: profiles, labels, silences, acknowledgements, and the alert rules in force."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import Connection, Engine, select

from monitor.alert.rule import RuleSet
from monitor.core.model import Json
from monitor.store.alert.responses import acknowledge_act, silence_act
from monitor.store.audit_queue import Act, Kind, queue_act
from monitor.store.database import retriable
from monitor.store.interaction.queries import profile_act
from monitor.store.review.labels import label_act
from monitor.store.tables.alerts import alert_action, silence
from monitor.store.tables.audit import audit_leaf, audit_queue
from monitor.store.tables.interactions import profile
from monitor.store.tables.review import review

ActKey: TypeAlias = tuple[str, ...]  # kind and what tells it from others of that kind
RULES = "rules"  # the subject of every act about them


def act_key(kind: str, subject: str, body: dict[str, object]) -> ActKey:
    """Of an act that a stored row tells of."""
    match kind:
        case Kind.LABEL:
            return kind, str(body.get("number"))
        case Kind.ACKNOWLEDGE:
            return kind, subject, str(body.get("episode"))
    return kind, subject


def stored_acts(connection: Connection) -> dict[ActKey, Act]:
    """What is to be sealed of each row there is; of a silence's act, `at` is not stored and its start stands for it."""
    acts = [profile_act(dict(row)) for row in connection.execute(select(profile)).mappings()]
    acts += [label_act(dict(row)) for row in connection.execute(select(review)).mappings()]
    acts += [silence_act(dict(row), row["starts_at"]) for row in connection.execute(select(silence)).mappings()]
    done = select(alert_action).where(alert_action.c.action == "acknowledge").order_by(alert_action.c.id)
    acts += [acknowledge_act(row.fingerprint, row.episode, by=row.by, now=row.at) for row in connection.execute(done)]
    return {act_key(act.kind, act.subject, dict(act.body)): act for act in acts}


def told_acts(
    connection: Connection, kinds: tuple[Kind, ...]
) -> list[tuple[int | None, str, str, str, dict[str, object]]]:
    """Index (None: it waits in the queue), kind, app, subject and body of every act of these kinds, in order."""
    leaf, queued = audit_leaf.c, audit_queue.c
    sealed = select(leaf.index, leaf.kind, leaf.app, leaf.subject, leaf.body).where(leaf.kind.in_(kinds))
    waiting = select(queued.kind, queued.app, queued.subject, queued.body).where(queued.kind.in_(kinds))
    told: list[tuple[int | None, str, str, str, dict[str, object]]] = []
    for index, kind, app, subject, body in connection.execute(sealed.order_by(leaf.index)):
        told.append((index, kind, app, subject, _act_body(body)))
    for kind, app, subject, body in connection.execute(waiting.order_by(queued.seq)):
        told.append((None, kind, app, subject, body or {}))
    return told


def _act_body(text: str) -> dict[str, object]:
    """Of a leaf's text; empty where somebody made something else of it."""
    try:
        body = json.loads(text)["body"]
    except (ValueError, KeyError, TypeError):
        return {}
    return body if isinstance(body, dict) else {}


@dataclass(slots=True)
class RulesKept:
    """Tells the audit trail of each set of rules that comes into force. For one thread."""

    engine: Callable[[], Engine]
    _last: str | None = field(default=None, init=False)

    def keep(self, rules: RuleSet, now: datetime) -> None:
        """Queues the rules where they are not those that were told of last.

        Raises:
            Retriable: the database is out of reach for now.
        """
        digest = hashlib.sha256(rules.source.encode()).hexdigest()
        if digest == self._last:
            return
        with retriable(), self.engine().begin() as connection:
            told = told_acts(connection, (Kind.RULES,))
            if not told or told[-1][4].get("digest") != digest:
                body: dict[str, Json] = {
                    "digest": digest, "source": rules.source, "rules": {rule.name: rule.digest for rule in rules.rules},
                }  # fmt: skip
                queue_act(connection, Act(kind=Kind.RULES, by="monitor", at=now, subject=RULES, body=body))
        self._last = digest
