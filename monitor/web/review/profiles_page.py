"""Profiles: what verdicts are given by, how they stand to people's labels, and two of them on the same answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from pydantic import ValidationError

from monitor.app.wiring.application import Application
from monitor.assess.classify.profile import Profile
from monitor.core.errors import InvalidMessage
from monitor.core.model import Verdict
from monitor.ingest.times import instant
from monitor.review.evaluate.profile_agreement import ENOUGH, ENOUGH_OF_EACH
from monitor.store.database import TakesTooLong
from monitor.store.review.profiles import COMPARED, LABELS, ProfileList, ProfileUse
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import page
from monitor.web.review.profiles_view import CHANGED, compared, measured, weights

router = APIRouter()
MOST = 100
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Asked = Annotated[str, Query(max_length=100)]


@router.get("/profiles")
def profiles(request: Request, who: Viewer) -> HTMLResponse:
    """The list."""
    application: Application = request.app.state.application
    found = ProfileList(application.engine)
    sampled = ProfileUse(application.engine).sampled()
    return page(
        request,
        "review/profiles.html",
        who,
        profiles=[(row, _read(row["definition"])) for row in found.defined(MOST)],
        uses={use.profile_hash: use for use in sampled.uses},
        share=sampled.share,
    )


@router.get("/profiles/compare")
def compare(request: Request, who: Viewer, first: Asked = "", second: Asked = "", until: Asked = "") -> HTMLResponse:
    """Two on the newest answers up to `until` that both have judged; by default up to where both have come."""
    application: Application = request.app.state.application
    use, known = ProfileUse(application.engine), ProfileList(application.engine).listed(MOST)
    wrong, moment, both = None, application.now(), None
    try:
        if until:
            moment = instant(until, "up to").astimezone(UTC)
        elif first and second:
            moment = _common(use, first, second, moment)
        both = compared(use.both(first, second, moment)) if first and second else None
    except (InvalidMessage, TakesTooLong) as error:
        wrong = str(error)
    return page(
        request, "review/profiles_compare.html", who, profiles=known, first=first, second=second, until=until, moment=moment,
        both=both, wrong=wrong, verdicts=list(Verdict), most=COMPARED, listed=CHANGED,
    )  # fmt: skip


@router.get("/profiles/{profile_hash}")
def profile(request: Request, who: Viewer, profile_hash: str) -> HTMLResponse:
    """One, with its charts."""
    application: Application = request.app.state.application
    row = ProfileList(application.engine).one(profile_hash)
    if row is None:
        raise HTTPException(404, "No verdict was ever given under a profile of this hash.")
    its, use = _read(row["definition"]), ProfileUse(application.engine)
    found = measured(use.judged(profile_hash))
    others = [one for one in ProfileList(application.engine).listed(MOST) if one["hash"] != profile_hash]
    return page(
        request,
        "review/profile.html",
        who,
        row=row,
        profile=its,
        weights=weights(its) if its else [],
        measured=found,
        roc=Markup(found.roc),  # noqa: S704  our own drawings
        reliability=Markup(found.reliability),  # noqa: S704
        enough=ENOUGH,
        of_each=ENOUGH_OF_EACH,
        most_labels=LABELS,
        others=others,
    )


def _read(definition: object) -> Profile | None:
    """None where it is not of this release's form."""
    try:
        return Profile.model_validate(definition)
    except ValidationError:
        return None


def _common(use: ProfileUse, first: str, second: str, now: datetime) -> datetime:
    """Until when both have judged answers, as far as the sample knows."""
    last = {its.profile_hash: its.last for its in use.sampled().uses}
    known = [last[name] for name in (first, second) if name in last]
    return min(known, default=now)
