"""Silences: alerts that nobody is told of for a while."""

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
_LONGEST = int(LONGEST_SILENCE.total_seconds())


class Match(ApiRequest):
    """A label and what its value has to be; for `=~` and `!~` the value is a pattern in RE2's syntax."""

    label: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]{0,99}$")]
    operator: Literal["=", "!=", "=~", "!~"]
    value: Annotated[str, Field(max_length=LONGEST_PATTERN), AfterValidator(storable)]


class NewSilence(ApiRequest):
    """Alerts that all of `matchers` match, told of to nobody for so long."""

    matchers: Annotated[list[Match], Field(min_length=1, max_length=20)]
    seconds: Annotated[int, Field(ge=1, le=_LONGEST), BeforeValidator(integral)]
    comment: Text = ""


class Held(ApiResponse):
    """A silence; matchers are written as `app="shop"`, and masked, as its comment is."""

    id: str
    matchers: list[str]
    starts_at: datetime
    ends_at: datetime
    created_by: str
    comment: str


class Silences(ApiResponse):
    """The last to end first."""

    items: list[Held]


@router.get(
    "/silences", response_model=Silences, operation_id="listSilences", responses=problems(),
    summary="The silences that hold",
)  # fmt: skip
def silences(
    request: Request,
    _: Viewer,
    ended: Annotated[Flag, Query(description="Also those that have ended.")] = False,  # noqa: FBT002
) -> Silences:
    """With who made each, and why."""
    application: Application = request.app.state.application
    rows = application.alerting.history.silences(application.now(), ended=ended)
    return Silences(items=[_held(**row) for row in rows])


@router.post(
    "/silences", response_model=Held, status_code=201, operation_id="addSilence",
    responses=problems(CONFLICT, TOO_LARGE), summary="Tell nobody of some alerts for a while",
)  # fmt: skip
def add_silence(request: Request, who: Actor, wanted: NewSilence) -> Held:
    """From now on. One that would match every alert is refused, and so is a pattern that is none."""
    application: Application = request.app.state.application
    now = application.now()
    try:
        matchers = [Matcher(label=one.label, operator=one.operator, value=one.value) for one in wanted.matchers]
        made = new_silence(matchers, timedelta(seconds=wanted.seconds), by=who.name, now=now, comment=wanted.comment)
    except ValueError as error:
        raise HTTPException(CONFLICT, f"not silenced: {error}") from None
    application.alerting.responses.silence(made, now=now)
    return _held(
        id=made.id, matchers=list(map(str, made.matchers)), starts_at=made.starts_at, ends_at=made.ends_at,
        created_by=made.created_by, comment=made.comment,
    )  # fmt: skip


@router.delete(
    "/silences/{id}", status_code=204, operation_id="endSilence", responses=problems(NOT_FOUND),
    summary="End a silence now",
)  # fmt: skip
def end_silence(request: Request, who: Actor, id: Annotated[Name, Path()]) -> None:  # noqa: A002  its name in the path
    """It stays in the list of those that have ended."""
    application: Application = request.app.state.application
    if not application.alerting.responses.unsilence(id, by=who.name, now=application.now()):
        raise HTTPException(NOT_FOUND, "no such silence holds")


def _held(*, matchers: Sequence[str], comment: str, **more: Any) -> Held:
    """As on the pages: what somebody typed is masked."""
    return Held(matchers=list(map(redact, matchers)), comment=redact(comment), **more)
