"""Acts in the trail, acts that stored rows record as well, and the act of a rule set that comes into force."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Connection, Engine, select

from monitor.alert.rule import RuleSet
from monitor.core.model import Json
from monitor.store.alert.responses import acknowledge_act, silence_act
from monitor.store.alert.rules_versions import version_acts
from monitor.store.audit.leaf import parsed
from monitor.store.audit_queue import Act, Entry, Kind, is_authentic, known_queue_key, queue_act
from monitor.store.database import retriable
from monitor.store.interaction.assessments import profile_act
from monitor.store.probe.golden import golden_acts
from monitor.store.probe.proof import run_acts
from monitor.store.reference.frozen import frozen_of
from monitor.store.review.labels import label_act
from monitor.store.review.plans import plan_acts
from monitor.store.tables.alerts import alert_action, silence
from monitor.store.tables.audit import audit_leaf, audit_queue
from monitor.store.tables.interactions import profile
from monitor.store.tables.reference import reference
from monitor.store.tables.review import review

ActKey: TypeAlias = tuple[str, ...]  # the kind, and what identifies the act within its kind
# that stored rows record as well
STORED_ACTS = (
    *(Kind.PROFILE, Kind.REFERENCE, Kind.GOLDEN, Kind.PROBE, Kind.LABEL, Kind.PLAN, Kind.SILENCE, Kind.ACKNOWLEDGE),
    Kind.RULES_VERSION,
)
_RULES = "rules"  # the subject of every act about rules


class TrailAct(NamedTuple):
    """An act in the trail; `number` is the index of its leaf, None while it waits in the queue."""

    number: int | None
    kind: str
    app: str
    subject: str
    body: dict[str, object]

    @property
    def key(self) -> ActKey:
        return act_key(self.kind, self.subject, self.body)


def act_key(kind: str, subject: str, body: Mapping[str, object]) -> ActKey:
    """The key of an act that a stored row records as well."""
    match kind:
        case Kind.LABEL:
            return kind, str(body.get("number"))
        case Kind.ACKNOWLEDGE:
            return kind, subject, str(body.get("episode"))
    return kind, subject


def stored_acts(connection: Connection) -> dict[ActKey, Act]:
    """The act that each stored row records.

    The row of a silence does not say when it was made: its act has the silence's start as `at`.
    """
    return {act_key(act.kind, act.subject, act.body): act for kind in STORED_ACTS for act in _READ[kind](connection)}


def readable_acts(connection: Connection) -> tuple[dict[ActKey, Act], dict[Kind, str]]:
    """As `stored_acts`, and of each kind of which a row holds what no row of ours does, why it cannot be read."""
    acts: dict[ActKey, Act] = {}
    unread: dict[Kind, str] = {}
    for kind in STORED_ACTS:
        try:
            acts |= {act_key(act.kind, act.subject, act.body): act for act in _READ[kind](connection)}
        except (TypeError, ValueError, LookupError, AttributeError, OverflowError, RecursionError) as error:
            unread[kind] = f"{type(error).__name__}: {error}"
    return acts, unread


def _profiles(connection: Connection) -> Iterator[Act]:
    return (profile_act(dict(row)) for row in connection.execute(select(profile)).mappings())


def _references(connection: Connection) -> Iterator[Act]:
    frozen = connection.execute(select(reference)).mappings()
    return (frozen_of(dict(row)).act(stored_as=row["hash"]) for row in frozen)


def _labels(connection: Connection) -> Iterator[Act]:
    return (label_act(dict(row)) for row in connection.execute(select(review)).mappings())


def _silences(connection: Connection) -> Iterator[Act]:
    return (silence_act(dict(row), row["starts_at"]) for row in connection.execute(select(silence)).mappings())


def _acknowledgements(connection: Connection) -> Iterator[Act]:
    done = select(alert_action).where(alert_action.c.action == "acknowledge").order_by(alert_action.c.id)
    return (acknowledge_act(row.fingerprint, row.episode, by=row.by, now=row.at) for row in connection.execute(done))


_READ: Mapping[Kind, Callable[[Connection], Iterable[Act]]] = {
    Kind.PROFILE: _profiles,
    Kind.REFERENCE: _references,
    Kind.GOLDEN: golden_acts,
    Kind.PROBE: run_acts,
    Kind.LABEL: _labels,
    Kind.PLAN: plan_acts,
    Kind.SILENCE: _silences,
    Kind.ACKNOWLEDGE: _acknowledgements,
    Kind.RULES_VERSION: version_acts,
}


def trail_acts(connection: Connection, kinds: tuple[Kind, ...], key: bytes | None) -> list[TrailAct]:
    """Every act of these kinds, in order: those that are sealed, then those that wait in the queue.

    An act that waits counts only if a process with the `key` queued it; without the key none does.
    """
    leaf, q = audit_leaf.c, audit_queue.c
    sealed = select(leaf.index, leaf.kind, leaf.app, leaf.subject, leaf.body).where(leaf.kind.in_(kinds))
    acts = [
        TrailAct(index, kind, app, subject, act_body(body))
        for index, kind, app, subject, body in connection.execute(sealed.order_by(leaf.index))
    ]
    if key is not None:
        waiting = select(q.kind, q.app, q.subject, q.part, q.records, q.source, q.number, q.mac)
        rows = connection.execute(waiting.where(q.kind.in_(kinds), q.mac.is_not(None)).order_by(q.seq))
        acts += [
            TrailAct(None, kind, app, subject, act_body(records))
            for kind, app, subject, part, records, *place in rows
            if records and is_authentic(key, Entry(kind, app, subject, part, records), *place)
        ]
    return acts


def act_body(leaf_body: str) -> dict[str, Any]:
    """What the leaf of an act says; empty where the leaf was replaced by something else."""
    body = (parsed(leaf_body) or {}).get("body")
    return body if isinstance(body, dict) else {}


@dataclass(slots=True)
class RulesRecorder:
    """Records in the audit trail each rule set that comes into force. For one thread."""

    engine: Callable[[], Engine]
    _last: str | None = field(default=None, init=False)

    def record(self, rules: RuleSet, now: datetime) -> None:
        """Queues the rules where they differ from the rule set that was recorded last.

        Raises:
            Retriable: the database is out of reach for now.
        """
        digest = hashlib.sha256(rules.source.encode()).hexdigest()
        if digest == self._last:
            return
        with retriable(), self.engine().begin() as connection:
            recorded = trail_acts(connection, (Kind.RULES,), known_queue_key(connection))
            if not recorded or recorded[-1].body.get("digest") != digest:
                digests: dict[str, Json] = {rule.name: rule.digest for rule in rules.rules}
                body: dict[str, Json] = {"digest": digest, "source": rules.source, "rules": digests}
                queue_act(connection, Act(kind=Kind.RULES, by="monitor", at=now, subject=_RULES, body=body))
        self._last = digest
