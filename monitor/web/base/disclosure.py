"""Shows personal data in clear to those who may see it; the audit trail records each look and each export first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query, Request

from monitor.app.wiring.application import Application
from monitor.core.model import Json
from monitor.privacy.masking import redact
from monitor.store.audit_queue import Act, Kind, record_act
from monitor.web.base.access import Identity, Permission
from monitor.web.base.escape import escape_invisible
from monitor.web.base.guard import Forbidden, require_csrf_header
from monitor.web.base.parameters import Flag

# What is masked of an interaction on its page and in the API, and so what a look at it in clear shows.
INTERACTION_FIELDS = (
    *("question", "answer", "documents", "support", "reference_answer", "evidence", "judgements"),
    *("tags", "conversation_id", "trace_id", "environment", "model", "prompt_version", "labels", "feedback"),
)
Clear = Annotated[Flag, Query(description="Show personal data in clear; the audit trail records who looks.")]


class PageMasker:
    """Prepares foreign texts of a page: writes out invisible characters, and masks personal data unless `clear`.

    `hides` says whether anything was masked, by it or elsewhere on the page: else a look in clear would show no more.
    """

    def __init__(self, *, clear: bool, hides: bool = False) -> None:
        self._clear = clear
        self.hides = hides

    def __call__(self, text: str) -> str:
        if self._clear:
            return escape_invisible(text)
        masked = redact(text)
        self.hides = self.hides or masked != text
        return escape_invisible(masked)


def require_unmask(request: Request, who: Identity) -> None:
    """Raises `Forbidden` when `who` may not see personal data, or a foreign page may have made the request."""
    if not who.may(Permission.UNMASK):
        raise Forbidden(f"the role {who.role} sees personal data masked only")
    require_csrf_header(request, who)


def record_look(request: Request, who: Identity, *, app: str, subject: str, fields: Sequence[str]) -> None:
    """Queues for the audit trail that `who` is about to see these fields in clear.

    Raises:
        Retriable: the database is out of reach; nothing may be shown then.
    """
    application: Application = request.app.state.application
    body: dict[str, Json] = {"fields": list(fields)}
    act = Act(kind=Kind.LOOK, by=who.name, at=application.now(), app=app, subject=subject, body=body)
    record_act(application.engine, act)


def record_export(request: Request, who: Identity, *, app: str | None, form: str) -> None:
    """Queues for the audit trail that `who` is about to download a masked list; the search words are not recorded.

    Raises:
        Retriable: the database is out of reach; nothing may be sent then.
    """
    application: Application = request.app.state.application
    body: dict[str, Json] = {"form": form, "masked": True}
    act = Act(kind=Kind.EXPORT, by=who.name, at=application.now(), app=app or "", subject="interactions", body=body)
    record_act(application.engine, act)
