"""Profiles: what verdicts are given under."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from pydantic import Field

from monitor.app.wiring.application import Application
from monitor.store.review.profiles import ProfileList
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiResponse
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import MAX_PAGE, Name
from monitor.web.base.problem import NOT_FOUND, problems

router = APIRouter(tags=["profiles"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]


class Stored(ApiResponse):
    """One profile; its hash names its content."""

    hash: str
    name: str
    embedding_model: str
    stored_at: datetime


class Defined(Stored):
    """With its thresholds and weights."""

    definition: dict[str, Any] = Field(description="as `monitor profiles` and docs/quality/calibration.md describe it")


class Profiles(ApiResponse):
    """The newest first."""

    items: list[Stored]


@router.get(
    "/profiles", response_model=Profiles, operation_id="listProfiles", responses=problems(),
    summary="Profiles that verdicts were given under",
)  # fmt: skip
def profiles(request: Request, _: Viewer) -> Profiles:
    """The newest of them."""
    application: Application = request.app.state.application
    return Profiles(items=[Stored(**row) for row in ProfileList(application.engine).listed(MAX_PAGE)])


@router.get(
    "/profiles/{hash}", response_model=Defined, operation_id="getProfile", responses=problems(NOT_FOUND),
    summary="One profile with its thresholds and weights",
)  # fmt: skip
def profile(request: Request, _: Viewer, hash: Annotated[Name, Path()]) -> Defined:  # noqa: A002  its name in the path
    """As it was stored when it was first used."""
    application: Application = request.app.state.application
    row = ProfileList(application.engine).one(hash)
    if row is None:
        raise HTTPException(NOT_FOUND, "no verdict was given under a profile of this hash")
    return Defined(**row)
