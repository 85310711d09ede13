"""API routes of the audit trail: how far it is sealed, the signed checkpoint, and the proofs of an interaction."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import PlainTextResponse
from pydantic import Field

from monitor.app.wiring.application import Application
from monitor.audit.export import Stored
from monitor.audit.note import NotProved
from monitor.audit.proof import record_json
from monitor.audit.stamp import StampKind
from monitor.core.errors import Fatal, WrongSettings
from monitor.store.audit.proofs import Proofs
from monitor.store.database import TakesTooLong
from monitor.web.audit.jobs import public_keys
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiResponse
from monitor.web.base.disclosure import record_look, require_unmask
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import AppAndId, Flag
from monitor.web.base.problem import NOT_FOUND, problems

router = APIRouter(tags=["audit"])
Auditor = Annotated[Identity, Depends(Needs(Permission.AUDIT))]
PREFIX = "/api/v1/audit/proofs/"


class Trail(ApiResponse):
    """How far the audit trail is sealed."""

    size: int = Field(description="leaves of the tree")
    signed: int = Field(description="leaves under the last checkpoint")
    signed_at: datetime | None
    waiting: int = Field(description="rows and acts that wait to be sealed")
    waiting_since: datetime | None
    backfilling: bool = Field(description="rows from before the trail existed are still being sealed")


class StampOfLeaf(ApiResponse):
    """A time stamp of a checkpoint that holds the leaf; `verify.py --tsa` checks its signature."""

    at: datetime | None = Field(description="the time that it says; null for a receipt of OpenTimestamps")
    by: str
    size: int = Field(description="leaves under the checkpoint")


class Leaf(ApiResponse):
    """A leaf and its inclusion proof as in RFC 6962: hashes in base64, the lowest first."""

    index: int
    occurred_at: datetime | None = Field(description="when the answer was given, by the chatbot's clock; null for acts")
    sealed_at: datetime | None = Field(
        description="when the leaf was sealed, by the clock of the sealer; null where its body was replaced"
    )
    signed_at: datetime | None = Field(
        description="when the first checkpoint that holds the leaf was signed; null: it does not say"
    )
    stamped: list[StampOfLeaf]
    body: str = Field(description="canonical JSON; the leaf's hash is the SHA-256 of a zero byte and this text")
    proof: list[str]
    stored: Stored | None = Field(
        description="whether the stored row still matches; null when the leaf is about no row"
    )
    differs: list[str] = Field(description="how the stored row differs from what was sealed")
    disclosed: dict[str, dict[str, Any]] | None = Field(description="by field: the key and value of its commitment")


class Step(ApiResponse):
    """Proof, as in RFC 6962, that the tree of the first checkpoint grew into that of the second."""

    from_: int = Field(alias="from")
    to: int
    proof: list[str]


class TimeStamp(ApiResponse):
    """A time stamp of a checkpoint, in base64."""

    size: int
    witness: str
    kind: StampKind
    token: str


class Proof(ApiResponse):
    """All leaves about an interaction, and the signed checkpoint to check their proofs against.

    `verify.py` takes the whole answer as a file.
    """

    format: str
    checkpoint: str
    leaves: list[Leaf]
    checkpoints: list[str] = Field(description="the first that hold the leaves, and the last one")
    consistency: list[Step]
    stamps: list[TimeStamp]


@router.get(
    "/audit",
    response_model=Trail,
    operation_id="getAuditTrail",
    responses=problems(),
    summary="Get the state of the audit trail",
)
def audit(request: Request, _: Auditor) -> Trail:
    """Returns how far the audit trail is sealed, as `monitor audit status` shows it."""
    application: Application = request.app.state.application
    status = Proofs(application.engine).status_in_time()
    if status.waiting is None:
        raise TakesTooLong("this would take too long: more rows wait to be sealed than can be counted in a second")
    return Trail(**{name: getattr(status, name) for name in Trail.model_fields})


@router.get(
    "/audit/checkpoint",
    response_class=PlainTextResponse,
    operation_id="getCheckpoint",
    responses=problems(NOT_FOUND),
    summary="Get the newest signed checkpoint",
)
def checkpoint(request: Request, _: Auditor) -> str:
    """Returns a signed note in C2SP's tlog-checkpoint format; `monitor audit key` prints the key to check it with."""
    application: Application = request.app.state.application
    try:
        with Proofs(application.engine).snapshot() as trail:
            return trail.note
    except NotProved as error:
        raise HTTPException(NOT_FOUND, str(error)) from None


@router.get(
    "/audit/proofs/{app}/{id:path}",
    response_model=Proof,
    operation_id="proveInteraction",
    responses=problems(NOT_FOUND),
    summary="Prove an interaction",
)
def prove(
    request: Request,
    who: Auditor,
    app_and_id: Annotated[tuple[str, str], Depends(AppAndId(PREFIX))],
    *,
    disclose: Annotated[Flag, Query(description="Include the texts; the audit trail records who looks.")] = False,
) -> Proof:
    """Returns the leaves with their proofs; without `disclose` they reveal nothing about the texts."""
    application: Application = request.app.state.application
    app, id_ = app_and_id
    if disclose:
        require_unmask(request, who)
        record_look(request, who, app=app, subject=id_, fields=("proof",))
    keys: list[str] = []
    with suppress(WrongSettings):  # this machine may have no key: whoever checks the answer has it
        keys = public_keys(application)
    try:
        with Proofs(application.engine).snapshot() as trail:
            proof = trail.prove(id_, app, keys, disclose=disclose)
    except (NotProved, Fatal) as error:  # Fatal: leaves are missing
        raise HTTPException(NOT_FOUND, str(error)) from None
    if not proof.records:
        raise HTTPException(
            NOT_FOUND, "no leaf under the last checkpoint is about this interaction; it may wait to be sealed"
        )
    leaves = [{**proof.known_by(record), **record_json(record)} for record in proof.records]
    return Proof.model_validate({"checkpoint": proof.notes[-1], "leaves": leaves, **proof.trail()})
