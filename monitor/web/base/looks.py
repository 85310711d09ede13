"""Who may see personal data in clear; and that each look, and each list taken away, is in the audit trail first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query, Request

from monitor.app.wiring.application import Application
from monitor.core.model import Json
from monitor.store.audit_queue import Act, Kind, keep_act
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Forbidden, meant
from monitor.web.base.parameters import Flag

Clear = Annotated[Flag, Query(description="Personal data in clear; who looks is kept in the audit trail.")]


def check_may_look(request: Request, who: Identity) -> None:
    """Raises `Forbidden` where they may not see it, or did not ask for it themselves."""
    if not who.may(Permission.UNMASK):
        raise Forbidden(f"a {who.role} sees personal data masked only")
    meant(request, who)


def keep_look(request: Request, who: Identity, *, app: str, subject: str, fields: Sequence[str]) -> None:
    """Queues that they are about to see these fields.

    Raises:
        Retriable: the database is out of reach; nothing may be shown then.
    """
    application: Application = request.app.state.application
    act = Act(
        kind=Kind.LOOK, by=who.name, at=application.now(), app=app, subject=subject, body={"fields": list(fields)}
    )
    keep_act(application.engine, act)


def keep_export(request: Request, who: Identity, *, app: str | None, form: str) -> None:
    """Queues that they are about to take a list of interactions away, masked; what they searched for is not kept.

    Raises:
        Retriable: the database is out of reach; nothing may be sent then.
    """
    application: Application = request.app.state.application
    body: dict[str, Json] = {"form": form, "masked": True}
    act = Act(kind=Kind.EXPORT, by=who.name, at=application.now(), app=app or "", subject="interactions", body=body)
    keep_act(application.engine, act)
