"""Labels: what a person says that an answer is."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Request
from pydantic import Field

from monitor.app.review import MAX_NOTE_CHARS
from monitor.app.wiring.application import Application
from monitor.core.assessment_json import storable
from monitor.core.model import Verdict
from monitor.review.label import Label
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiRequest, ApiResponse
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import Name
from monitor.web.base.problem import CONFLICT, NOT_FOUND, TOO_LARGE, problems

router = APIRouter(tags=["labels"])
Labeller = Annotated[Identity, Depends(Needs(Permission.LABEL))]


class NewLabel(ApiRequest):
    """What the answer of one interaction is."""

    app: Name
    id: Name
    label: Literal["grounded", "refusal", "self_generated"]
    note: str | None = Field(None, max_length=MAX_NOTE_CHARS)


class Kept(ApiResponse):
    """Whether it was new: the same label and note of the same person are not stored twice."""

    stored: bool


@router.post(
    "/labels", response_model=Kept, operation_id="addLabel",
    responses=problems(NOT_FOUND, CONFLICT, TOO_LARGE), summary="Say what an answer is",
)  # fmt: skip
def add_label(request: Request, who: Labeller, said: NewLabel) -> Kept:
    """The newest label of a person counts. Labels measure and calibrate the verdicts, and are in the audit trail."""
    application: Application = request.app.state.application
    which = (said.app, said.id)
    standing = application.reviews.standing([which])
    if which not in standing:
        raise HTTPException(NOT_FOUND, "no such interaction is stored")
    stood = standing[which]
    if stood is None:
        raise HTTPException(CONFLICT, "it is stored, and not assessed yet")
    note = storable(said.note) if said.note else None
    label = Label(standing=stood, label=Verdict(said.label), by=who.name, note=note)
    return Kept(stored=application.reviews.keep([label], application.now()) == 1)
