"""Audit: how far the trail is sealed and signed, who did what, proofs, verification and export."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse

from monitor.app.wiring.application import Application
from monitor.audit.note import NotProved
from monitor.core.errors import InvalidMessage, WrongSettings
from monitor.core.model import Json
from monitor.ingest.times import instant
from monitor.store.audit.list import ACTS, LATEST, AuditList
from monitor.store.audit.proofs import Proofs
from monitor.web.audit.jobs import LastVerification, Proven, exported, proven, public_keys, verification
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Forbidden, Needs
from monitor.web.base.jobs import Jobs, Progress
from monitor.web.base.page import page

router = APIRouter()
JOB = "verification"
LATE = timedelta(minutes=5)  # that something may wait to be sealed before it is worth a word
FIRST = datetime(1, 1, 1, tzinfo=UTC)
NOTICES = {"begun": "The whole trail is being verified.", "busy": "It is being verified already."}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Auditor = Annotated[Identity, Depends(Needs(Permission.AUDIT))]
Name = Annotated[str, Query(max_length=10_000)]
Field = Annotated[str, Form(max_length=1_000)]


@router.get("/audit")
def audit(
    request: Request,
    who: Viewer,
    kind: Annotated[str, Query(max_length=100)] = "",
    before: Annotated[int | None, Query(ge=0, lt=2**63)] = None,
    said: str = "",
) -> HTMLResponse:
    """The page."""
    application: Application = request.app.state.application
    now, trail = application.now(), AuditList(application.engine)
    status = Proofs(application.engine).status()
    chosen = kind if kind in ACTS else None
    try:
        keys, no_key = public_keys(application), None
    except WrongSettings as error:
        keys, no_key = [], str(error)
    settings, witness_file = application.settings.audit, application.auditing.witness_file.exists()
    return page(
        request,
        "audit/audit.html",
        who,
        said=NOTICES.get(said),
        sealed=status,
        late=status.waiting_since is not None and now - status.waiting_since > LATE,
        note=trail.note(),
        keys=keys,
        no_key=no_key,
        witness_file=witness_file,
        witness_topic=settings.witness_topic,
        witness_slack=settings.witness_slack,
        witnesses=sum((witness_file, settings.witness_topic is not None, settings.witness_slack)),
        kinds=trail.kinds(now - timedelta(days=1)),
        latest=LATEST,
        acts=trail.acts(kind=chosen, before=before),
        act_kinds=ACTS,
        kind=chosen or "",
        plain=plain,
        before=before,
        job=request.app.state.jobs.latest(JOB),
        verified=request.app.state.verification.result,
    )


@router.get("/audit/proof")
def proof(request: Request, who: Auditor, app: Name = "", id: Name = "") -> HTMLResponse:  # noqa: A002  in the address
    """The leaves of an interaction, or of what an act was about, each with its proof checked."""
    application: Application = request.app.state.application
    found: Proven | None = None
    wrong = None
    if id:
        try:
            found = proven(application, app, id)
        except (NotProved, WrongSettings) as error:
            wrong = str(error)
    return page(
        request,
        "audit/audit_proof.html",
        who,
        app=app,
        id=id,
        wrong=wrong,
        plain=plain,
        checkpoint=found.checkpoint if found else None,
        proofs=[(its, json.loads(its.record.body)) for its in found.proofs] if found else [],
    )


def plain(value: Json) -> str:
    """A value of a leaf as people read it."""
    if value is None or value in ([], {}):
        return "–"
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(plain, value))
        case dict():
            return ", ".join(f"{name}: {plain(its)}" for name, its in value.items())
    return str(value)


@router.post("/audit/verify")
def verify(request: Request, who: Auditor) -> Response:
    """Verifies all of it, in the background."""
    application: Application = request.app.state.application
    last: LastVerification = request.app.state.verification
    jobs: Jobs = request.app.state.jobs

    def work(report: Progress, _stop: Event) -> str:
        last.result = verified = verification(application, report)
        said = f"{verified.size:,} leaves, {verified.checkpoints:,} checkpoints: "
        return said + (f"{len(verified.findings):,} findings" if verified.findings else "the trail holds")

    said = "begun" if jobs.start(JOB, work, by=who.name) else "busy"
    return RedirectResponse(f"/audit?notice={said}", 303)


@router.post("/audit/export")
def export(
    request: Request,
    who: Auditor,
    *,
    app: Field = "",
    since: Annotated[str, Form(alias="from", max_length=100)] = "",
    until: Annotated[str, Form(alias="to", max_length=100)] = "",
    disclose: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """The ZIP; with texts only for who may see them."""
    application: Application = request.app.state.application
    if disclose and not who.may(Permission.UNMASK):
        raise Forbidden(f"a {who.role} may not take texts along: it takes the permission to {Permission.UNMASK}")
    try:
        start = instant(since, "from").astimezone(UTC) if since else FIRST
        end = instant(until, "to").astimezone(UTC) if until else application.now() + timedelta(days=1)
        chunks = exported(application, app=app or None, start=start, end=end, disclose=bool(disclose), by=who.name)
    except InvalidMessage as error:
        raise HTTPException(422, str(error)) from None
    except NotProved as error:
        raise HTTPException(409, str(error)) from None
    name = f"audit-{application.now():%Y%m%dT%H%M%SZ}.zip"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(chunks, headers=headers, media_type="application/zip")
