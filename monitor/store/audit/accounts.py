"""What erasures and retentions account for: the interactions that may be missing, or stored without their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection

from monitor.store.audit.acts import trail_acts
from monitor.store.audit_queue import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionScope:
    """What one retention removed: interactions of `app` ('': of every app) that occurred before a time.

    `verdict` None stands for any verdict, '' for interactions without an assessment.
    """

    app: str
    verdict: str | None
    before: datetime


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """The erased interactions by app and id, and what retentions removed."""

    erased: frozenset[tuple[str, str]] = frozenset()
    retentions: tuple[RetentionScope, ...] = ()

    def retention_in(self, app: str) -> bool:
        """Whether any retention removed interactions of the app."""
        return any(scope.app in {"", app} for scope in self.retentions)

    def removed(self, app: str, occurred_at: datetime, verdict: str | None) -> bool:
        """Whether a retention removed interactions of that app, time and verdict."""
        return any(
            scope.app in {"", app} and occurred_at < scope.before and scope.verdict in {None, verdict or ""}
            for scope in self.retentions
        )


def read_accounts(connection: Connection) -> Accounts:
    """What all erasures and retentions in the trail account for, those included that wait to be sealed."""
    erased, retentions = set(), []
    for act in trail_acts(connection, (Kind.ERASURE, Kind.RETENTION)):
        if act.kind == Kind.ERASURE:
            erased.add((act.app, act.subject))
        elif (scope := _scope(act.app, act.body)) is not None:
            retentions.append(scope)
    return Accounts(erased=frozenset(erased), retentions=tuple(retentions))


def _scope(app: str, body: Mapping[str, object]) -> RetentionScope | None:
    """The scope of a retention's act; None where its body was replaced by something else."""
    try:
        before = datetime.fromisoformat(str(body.get("before")))
    except ValueError:
        return None
    verdict = body.get("verdict")
    before = before if before.tzinfo else before.replace(tzinfo=UTC)
    return RetentionScope(app=app, verdict=None if verdict is None else str(verdict), before=before)
