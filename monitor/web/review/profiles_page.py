"""The profile pages: their list, one measured against people's labels, and two compared on the same answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import HTMLResponse
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
from monitor.web.base.page import own_drawing, page
from monitor.web.review.profiles_view import MAX_CHANGED, compare_profiles, feature_weights, label_figures

router = APIRouter()
MAX_PROFILES = 100
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Parameter = Annotated[str, Query(max_length=100)]


@router.get("/profiles")
def profiles(request: Request, who: Viewer) -> HTMLResponse:
    application: Application = request.app.state.application
    found = ProfileList(application.engine)
    sampled = ProfileUse(application.engine).sampled()
    return page(
        request,
        "review/profiles.html",
        who,
        profiles=[(row, _read(row["definition"])) for row in found.defined(MAX_PROFILES)],
        uses={use.profile_hash: use for use in sampled.uses},
        share=sampled.share,
    )


@router.get("/profiles/compare")
def compare(
    request: Request, who: Viewer, first: Parameter = "", second: Parameter = "", until: Parameter = ""
) -> HTMLResponse:
    """Compares two profiles on the newest answers that both have assessed, up to `until` or their last common time."""
    application: Application = request.app.state.application
    use, known = ProfileUse(application.engine), ProfileList(application.engine).listed(MAX_PROFILES)
    error, moment, both = None, application.now(), None
    try:
        if until:
            moment = instant(until, "up to").astimezone(UTC)
        elif first and second:
            moment = _common(use, first, second, moment)
        both = compare_profiles(use.compared(first, second, moment)) if first and second else None
    except (InvalidMessage, TakesTooLong) as failure:
        error = str(failure)
    return page(
        request,
        "review/profiles_compare.html",
        who,
        profiles=known,
        first=first,
        second=second,
        until=until,
        moment=moment,
        both=both,
        error=error,
        verdicts=list(Verdict),
        most=COMPARED,
        max_changed=MAX_CHANGED,
    )


@router.get("/profiles/{profile_hash}")
def profile(request: Request, who: Viewer, profile_hash: str) -> HTMLResponse:
    """Shows a profile with its charts."""
    application: Application = request.app.state.application
    row = ProfileList(application.engine).profile(profile_hash)
    if row is None:
        raise HTTPException(404, "No verdict was given under a profile with this hash.")
    definition, use = _read(row["definition"]), ProfileUse(application.engine)
    found = label_figures(use.judged(profile_hash))
    others = [other for other in ProfileList(application.engine).listed(MAX_PROFILES) if other["hash"] != profile_hash]
    return page(
        request,
        "review/profile.html",
        who,
        row=row,
        profile=definition,
        weights=feature_weights(definition) if definition else [],
        measured=found,
        roc=own_drawing(found.roc),
        reliability=own_drawing(found.reliability),
        enough=ENOUGH,
        of_each=ENOUGH_OF_EACH,
        max_labels=LABELS,
        others=others,
    )


def _read(definition: object) -> Profile | None:
    """The profile; None when another release has written it in another format."""
    try:
        return Profile.model_validate(definition)
    except ValidationError:
        return None


def _common(use: ProfileUse, first: str, second: str, now: datetime) -> datetime:
    """The time up to which both profiles have assessed answers, as far as the sample shows."""
    last = {sample.profile_hash: sample.last for sample in use.sampled().uses}
    known = [last[name] for name in (first, second) if name in last]
    return min(known, default=now)
