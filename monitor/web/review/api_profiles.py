"""API routes of the profiles that verdicts were given under."""

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


class StoredProfile(ApiResponse):
    """A profile; its hash identifies its content."""

    hash: str
    name: str
    embedding_model: str
    stored_at: datetime


class ProfileDefinition(StoredProfile):
    """A profile with its thresholds and weights."""

    definition: dict[str, Any] = Field(
        description="as `monitor profiles` and `monitor docs quality/calibration` describe it"
    )


class Profiles(ApiResponse):
    """Profiles, newest first."""

    items: list[StoredProfile]


@router.get(
    "/profiles",
    response_model=Profiles,
    operation_id="listProfiles",
    responses=problems(),
    summary="List the profiles that verdicts were given under",
)
def profiles(request: Request, _: Viewer) -> Profiles:
    """Returns the newest profiles."""
    application: Application = request.app.state.application
    return Profiles(items=[StoredProfile(**row) for row in ProfileList(application.engine).listed(MAX_PAGE)])


@router.get(
    "/profiles/{hash}",
    response_model=ProfileDefinition,
    operation_id="getProfile",
    responses=problems(NOT_FOUND),
    summary="Get a profile with its thresholds and weights",
)
def profile(request: Request, _: Viewer, hash_: Annotated[Name, Path(alias="hash")]) -> ProfileDefinition:
    """Returns the profile as it was stored at its first use."""
    application: Application = request.app.state.application
    row = ProfileList(application.engine).profile(hash_)
    if row is None:
        raise HTTPException(NOT_FOUND, "no verdict was given under a profile with this hash")
    return ProfileDefinition(**row)
