"""API routes of silences, which stop the notifications of matching alerts for a while."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from pydantic import AfterValidator, BeforeValidator, Field

from monitor.alert.notify.actions import LONGEST_SILENCE, new_silence
from monitor.alert.silence import LONGEST_PATTERN, Matcher
from monitor.app.wiring.application import Application
from monitor.core.assessment_json import storable
from monitor.privacy.masking import redact
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiRequest, ApiResponse
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import Flag, Name, Text, integral
from monitor.web.base.problem import CONFLICT, NOT_FOUND, TOO_LARGE, problems

router = APIRouter(tags=["silences"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Actor = Annotated[Identity, Depends(Needs(Permission.ACT))]
_MAX_SECONDS = int(LONGEST_SILENCE.total_seconds())


class LabelMatcher(ApiRequest):
    """Compares the value of a label; for `=~` and `!~` with a pattern in RE2's syntax."""

    label: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,99}$")]
    operator: Literal["=", "!=", "=~", "!~"]
    value: Annotated[str, Field(max_length=LONGEST_PATTERN), AfterValidator(storable)]


class NewSilence(ApiRequest):
    """Stops the notifications of alerts that all `matchers` match, for `seconds`."""

    matchers: Annotated[list[LabelMatcher], Field(min_length=1, max_length=20)]
    seconds: Annotated[int, Field(ge=1, le=_MAX_SECONDS), BeforeValidator(integral)]
    comment: Text = ""


class Silence(ApiResponse):
    """A silence. Matchers are written as `app="shop"`; personal data in them and in the comment is masked."""

    id: str
    matchers: list[str]
    starts_at: datetime
    ends_at: datetime
    created_by: str
    comment: str


class Silences(ApiResponse):
    """Silences; the one that ends last comes first."""

    items: list[Silence]


@router.get(
    "/silences",
    response_model=Silences,
    operation_id="listSilences",
    responses=problems(),
    summary="List the active silences",
)
def silences(
    request: Request,
    _: Viewer,
    *,
    ended: Annotated[Flag, Query(description="Include the silences that have ended.")] = False,
) -> Silences:
    """Returns each silence with who made it, and why."""
    application: Application = request.app.state.application
    rows = application.alerting.history.silences(application.now(), ended=ended)
    return Silences(items=[_masked(**row) for row in rows])


@router.post(
    "/silences",
    response_model=Silence,
    status_code=201,
    operation_id="addSilence",
    responses=problems(CONFLICT, TOO_LARGE),
    summary="Silence alerts for a while",
)
def add_silence(request: Request, who: Actor, wanted: NewSilence) -> Silence:
    """Starts a silence now. Invalid patterns are refused, and so are matchers that would match every alert."""
    application: Application = request.app.state.application
    now = application.now()
    try:
        matchers = [Matcher(label=typed.label, operator=typed.operator, value=typed.value) for typed in wanted.matchers]
        new = new_silence(matchers, timedelta(seconds=wanted.seconds), by=who.name, now=now, comment=wanted.comment)
    except ValueError as error:
        raise HTTPException(CONFLICT, f"not silenced: {error}") from None
    application.alerting.responses.silence(new, now=now)
    return _masked(
        id=new.id,
        matchers=list(map(str, new.matchers)),
        starts_at=new.starts_at,
        ends_at=new.ends_at,
        created_by=new.created_by,
        comment=new.comment,
    )


@router.delete(
    "/silences/{id}",
    status_code=204,
    operation_id="endSilence",
    responses=problems(NOT_FOUND),
    summary="End a silence now",
)
def end_silence(request: Request, who: Actor, id_: Annotated[Name, Path(alias="id")]) -> None:
    """Ends the silence; it stays in the list of those that have ended."""
    application: Application = request.app.state.application
    if not application.alerting.responses.unsilence(id_, by=who.name, now=application.now()):
        raise HTTPException(NOT_FOUND, "there is no active silence with this id")


def _masked(*, matchers: Sequence[str], comment: str, **more: Any) -> Silence:
    """A silence with what a person has typed masked, as on the pages."""
    return Silence(matchers=list(map(redact, matchers)), comment=redact(comment), **more)
