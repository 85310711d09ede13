"""The audit page: how far the trail is sealed and signed, who did what, proofs, verification and export."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from threading import Event
from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from monitor.app.wiring.application import Application
from monitor.audit.note import NotProved, signed_at
from monitor.audit.proof import SubjectProof
from monitor.audit.standalone import verify_py
from monitor.core.errors import Fatal, InvalidMessage, Retriable, WrongSettings
from monitor.core.model import Json
from monitor.ingest.times import instant
from monitor.store.audit.leaf import parsed
from monitor.store.audit.list import ACTS, LATEST, ActPage, AuditList
from monitor.store.audit.proofs import Proofs
from monitor.store.database import TakesTooLong
from monitor.store.stopping import ended_on
from monitor.web.audit.jobs import (
    LastVerification,
    export_zip,
    prove_leaves,
    public_keys,
    verify_trail,
)
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Forbidden, Needs
from monitor.web.base.jobs import Jobs, Progress
from monitor.web.base.page import page

router = APIRouter()
JOB = "verification"
SEALING_GRACE = timedelta(minutes=5)  # a row that waits for longer to be sealed is reported
EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
NOTICES = {
    "begun": "The verification of the whole trail has started.",
    "busy": "The trail is already being verified.",
}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Auditor = Annotated[Identity, Depends(Needs(Permission.AUDIT))]
Name = Annotated[str, Query(max_length=10_000)]
Field = Annotated[str, Form(max_length=1_000)]


class Download(StreamingResponse):
    """A ZIP in chunks. Its source is closed when the response ends, also when the client has gone away.

    Starlette leaves that to the garbage collector, and the source holds a connection to the database.
    """

    def __init__(self, first: bytes, others: Generator[bytes], headers: Mapping[str, str]) -> None:
        super().__init__(chain((first,), others), headers=headers, media_type="application/zip")
        self._others = others

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await run_in_threadpool(self._others.close)


@router.get("/audit")
def audit(
    request: Request,
    who: Viewer,
    kind: Annotated[str, Query(max_length=100)] = "",
    before: Annotated[int | None, Query(ge=0, lt=2**63)] = None,
    notice: str = "",
) -> HTMLResponse:
    application: Application = request.app.state.application
    now, trail = application.now(), AuditList(application.engine)
    status = Proofs(application.engine).status_in_time()
    chosen = kind if kind in ACTS else None
    try:
        keys, no_key = public_keys(application), None
    except WrongSettings as error:
        keys, no_key = [], str(error)
    note = trail.note()
    acts, too_long = ActPage(), ""
    try:
        acts = trail.acts(kind=chosen, before=before)
    except TakesTooLong as error:  # such as while many rows wait to be sealed, which the page is to say
        too_long = str(error)
    settings, checkpoints = application.settings.audit, application.auditing.witness_file
    witness_file, verification = checkpoints.exists(), request.app.state.verification.result
    return page(
        request,
        "audit/audit.html",
        who,
        message=NOTICES.get(notice),
        sealed=status,
        late=status.waiting_since is not None and now - status.waiting_since > SEALING_GRACE,
        note=note,
        note_signed_at=signed_time(note, keys),
        stamps=application.auditing.newest_stamps() if keys else [],
        keys=keys,
        no_key=no_key,
        witness_file=witness_file,
        witness_topic=settings.witness_topic,
        witness_slack=settings.witness_slack,
        witnesses=sum((witness_file, settings.witness_topic is not None, settings.witness_slack)),
        kinds=trail.kinds(now - timedelta(days=1)),
        latest=LATEST,
        acts=acts,
        too_long=too_long,
        act_kinds=ACTS,
        kind=chosen or "",
        in_words=in_words,
        before=before,
        job=request.app.state.jobs.latest(JOB),
        verified=verification.found if verification else None,
        unwitnessed=verification is not None and not verification.notes,
        checkpoints=checkpoints,
    )


@router.get("/audit/proof")
def proof(
    request: Request, who: Auditor, app: Name = "", subject: Annotated[Name, Query(alias="id")] = ""
) -> HTMLResponse:
    """Shows the leaves about an interaction, or about the subject of an act, each with its proof checked."""
    application: Application = request.app.state.application
    found: SubjectProof | None = None
    error = None
    if subject:
        try:
            found = prove_leaves(application, app, subject)
        except (NotProved, WrongSettings, Fatal) as problem:  # Fatal: leaves are missing
            error = str(problem)
    return page(
        request,
        "audit/audit_proof.html",
        who,
        app=app,
        subject=subject,
        error=error,
        in_words=in_words,
        checkpoint=found.checkpoint if found else None,
        root=b64encode(found.checkpoint.root).decode() if found else "",
        proofs=[
            (its, found.proves(its), parsed(its.body) or {}, [b64encode(node).decode() for node in its.proof], since)
            for its in found.records
            if (since := found.known_by(its))
        ]
        if found
        else [],
    )


@router.get("/audit/proof.json")
def proof_file(
    request: Request, _: Auditor, app: Name = "", subject: Annotated[Name, Query(alias="id")] = ""
) -> JSONResponse:
    """Sends the proof as the file that `verify.py` takes, without texts."""
    try:
        found = prove_leaves(request.app.state.application, app, subject).json()
    except (NotProved, WrongSettings, Fatal) as error:
        raise HTTPException(409, str(error)) from None
    return JSONResponse(found, headers={"content-disposition": 'attachment; filename="proof.json"'})


@router.get("/audit/verify.py")
def verifier(_: Auditor) -> Response:
    """Sends the program that checks exports and proofs."""
    headers = {"content-disposition": 'attachment; filename="verify.py"'}
    return Response(verify_py(), headers=headers, media_type="text/x-python")


def signed_time(note: str | None, keys: Sequence[str]) -> datetime | None:
    """When the last checkpoint says that it was signed, if one of the keys proves that."""
    with suppress(NotProved):
        return next((at for key in keys if note and (at := signed_at(note, key))), None)
    return None


def in_words(value: Json) -> str:
    """A JSON value of a leaf as people read it."""
    if value is None or value in ([], {}):
        return "–"
    match value:
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(in_words, value))
        case dict():
            return ", ".join(f"{name}: {in_words(item)}" for name, item in value.items())
    return str(value)


@router.post("/audit/verify")
def verify(request: Request, who: Auditor) -> Response:
    """Starts the verification of the whole trail in the background."""
    application: Application = request.app.state.application
    last: LastVerification = request.app.state.verification
    jobs: Jobs = request.app.state.jobs

    def work(progress: Progress, stop: Event) -> str:
        try:
            with ended_on(stop, application.engine):
                last.result = result = verify_trail(application, progress)
        except Retriable:
            if stop.is_set():
                return "stopped before the end, with the dashboard"
            raise
        return result.summary

    notice = "begun" if jobs.start(JOB, work, by=who.name) else "busy"
    return RedirectResponse(f"/audit?notice={notice}", 303)


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
    """Sends the export as ZIP, with texts only to people who may see them."""
    application: Application = request.app.state.application
    if disclose and not who.may(Permission.UNMASK):
        raise Forbidden(f"the role {who.role} may not export texts: this needs the permission to {Permission.UNMASK}")
    try:
        start = instant(since, "from").astimezone(UTC) if since else EARLIEST
        end = instant(until, "to").astimezone(UTC) if until else application.now() + timedelta(days=1)
        first, others = export_zip(
            application, app=app or None, start=start, end=end, disclose=bool(disclose), by=who.name
        )
    except InvalidMessage as error:
        raise HTTPException(422, str(error)) from None
    except (NotProved, Fatal) as error:
        raise HTTPException(409, str(error)) from None
    name = f"audit-{application.now():%Y%m%dT%H%M%SZ}.zip"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Download(first, others, headers)
