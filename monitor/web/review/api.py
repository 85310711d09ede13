"""The API routes that store a person's label of an answer, and what an end user says of it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from pydantic import Field

from monitor.app.review.labels import MAX_NOTE_CHARS
from monitor.app.wiring.application import Application
from monitor.core.assessment_json import storable
from monitor.core.model import Verdict
from monitor.ingest.dialects.feedback import MAX_COMMENT_CHARS
from monitor.review.label import Label
from monitor.store.interaction.feedback import add_feedback
from monitor.store.review.shortage import shortage
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiRequest, ApiResponse
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import Name, Text
from monitor.web.base.problem import CONFLICT, NOT_FOUND, TOO_LARGE, problems

router = APIRouter(tags=["labels"])
Labeller = Annotated[Identity, Depends(Needs(Permission.LABEL))]


class NewLabel(ApiRequest):
    """A person's label for the answer of one interaction."""

    app: Name
    id: Name
    label: Literal["grounded", "refusal", "self_generated"]
    note: str | None = Field(None, max_length=MAX_NOTE_CHARS)


class LabelResult(ApiResponse):
    """Whether the label was new: the same label and note of one person are not stored twice."""

    stored: bool


@router.post(
    "/labels",
    response_model=LabelResult,
    operation_id="addLabel",
    responses=problems(NOT_FOUND, CONFLICT, TOO_LARGE),
    summary="Label an answer",
)
def add_label(request: Request, who: Labeller, new: NewLabel) -> LabelResult:
    """Stores a label; a person's newest label counts. Labels measure and calibrate the verdicts, and are audited."""
    application: Application = request.app.state.application
    key = (new.app, new.id)
    standings = application.reviews.standing([key])
    if key not in standings:
        raise HTTPException(NOT_FOUND, "no such interaction is stored")
    standing = standings[key]
    if standing is None:
        raise HTTPException(CONFLICT, "the interaction is stored but not assessed yet")
    note = storable(new.note) if new.note else None
    label = Label(standing=standing, label=Verdict(new.label), by=who.name, note=note)
    return LabelResult(stored=application.reviews.keep([label], application.now()) == 1)


class ClassShortage(ApiResponse):
    """The usable labels of one class, and how many more it takes at the present rate; null if that is unknown."""

    class_: Literal["self_generated", "grounded"] = Field(alias="class")
    usable: int
    needed: int
    missing: int
    more_labels: int | None


class LabelShortage(ApiResponse):
    """What labels calibration still lacks."""

    labels: int = Field(description="labelled answers")
    classes: list[ClassShortage]
    lacks: Literal["self_generated", "grounded"] | None = Field(description="the class that the queue prefers")
    words: str


@router.get(
    "/labels/shortage",
    response_model=LabelShortage,
    operation_id="getLabelShortage",
    responses=problems(),
    summary="Get what labels calibration lacks",
)
def label_shortage(
    request: Request,
    _: Annotated[Identity, Depends(Needs(Permission.VIEW))],
    app: Annotated[Text | None, Query()] = None,
) -> dict[str, Any]:
    """Counts usable labels of the app, or of all apps, by class. Calibration is refused while one of them is short."""
    application: Application = request.app.state.application
    return shortage(application.engine, app).as_json()


class NewFeedback(ApiRequest):
    """An end user's word on the answer of one interaction."""

    app: Name
    id: Name
    thumb: Literal["up", "down"]
    comment: str | None = Field(None, max_length=MAX_COMMENT_CHARS)


@router.post(
    "/feedback",
    status_code=HTTPStatus.NO_CONTENT,
    operation_id="addFeedback",
    responses=problems(NOT_FOUND, TOO_LARGE),
    summary="Store an end user's thumb and comment",
)
def add_thumb(request: Request, _: Labeller, new: NewFeedback) -> None:
    """Stores the newest word on an answer. It is shown and counted; no label, verdict or rate depends on it."""
    application: Application = request.app.state.application
    if not add_feedback(application.engine, new.app, new.id, new.thumb, application.now(), comment=new.comment):
        raise HTTPException(NOT_FOUND, "no such interaction is stored")
