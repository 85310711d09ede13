"""The alerts page: active and resolved alerts, silences, and the rules with their last evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from monitor.alert.notify.actions import new_silence
from monitor.alert.rule import Rule
from monitor.alert.rules.words import fires_when
from monitor.alert.silence import Silence, parse_matcher
from monitor.alert.wording import UNWATCHED
from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.text.duration import parse_duration
from monitor.store.alert.list import AlertBoard, ListedAlert
from monitor.web.alert import view as alert_view
from monitor.web.alert.configured_rules import LoadedRules
from monitor.web.alert.rule_figures import RuleFigure, rule_figure
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import page

router = APIRouter()
MAX_ACTIVE, MAX_RESOLVED = 200, 50  # alerts of a list
MAX_TRIED = 5_000  # active alerts that a new silence is tried on
RESOLVED_SPAN = timedelta(days=7)
SENDING_GRACE = timedelta(minutes=2)  # a message that waits for longer is reported
SILENCE_LENGTHS = ("1h", "4h", "1d", "7d")
NOTICES = {
    "silenced": "Silenced: alerts that match send no notifications.",
    "unsilenced": "The silence has ended.",
    "over": "This silence had already ended.",
}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Actor = Annotated[Identity, Depends(Needs(Permission.ACT))]
Typed = Annotated[str, Query(max_length=2_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """A rule, the result of its last evaluation, and its present signal."""

    rule: Rule
    state: dict[str, Any] | None
    otherwise_at: datetime | None  # the last evaluation of a rule of this name that measures something else
    latest: RuleFigure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SilenceDraft:
    """A silence as written in the form: parsed, or the error in it."""

    matchers: str
    length: str
    comment: str
    silence: Silence | None = None
    error: str | None = None


@router.get("/alerts")
def alerts(request: Request, who: Viewer, notice: str = "") -> HTMLResponse:
    application: Application = request.app.state.application
    now, alerting, board = application.now(), application.alerting, AlertBoard(application.engine)
    states = {row["rule_digest"]: dict(row) for row in alerting.history.rules()}
    by_name = {row["rule"]: row["evaluated_at"] for row in sorted(states.values(), key=itemgetter("evaluated_at"))}
    loaded: LoadedRules = request.app.state.rules.load()
    rules = [
        RuleRow(
            rule=rule,
            state=states.get(rule.digest),
            otherwise_at=by_name.get(rule.name),
            latest=rule_figure(rule, alerting.store, now),
        )
        for rule in (loaded.rules.rules if loaded.rules else ())
    ]
    active = board.active(now, most=MAX_ACTIVE)
    resolved = [listed.alert for listed in board.resolved(now - RESOLVED_SPAN, now, most=MAX_RESOLVED)]
    resolved += board.resolved_before(now - RESOLVED_SPAN, most=MAX_RESOLVED)
    resolved.sort(key=lambda alert: alert.resolved_at or now, reverse=True)
    last = max((state["evaluated_at"] for state in states.values()), default=None)
    return page(
        request,
        "alert/alerts.html",
        who,
        message=NOTICES.get(notice),
        view=alert_view,
        active=active,
        mutings=loaded.mutings(now),
        number=len(active) if len(active) < MAX_ACTIVE else board.active_number(),
        resolved=resolved[:MAX_RESOLVED],
        max_active=MAX_ACTIVE,
        max_resolved=MAX_RESOLVED,
        rules=rules,
        fires_when=fires_when,
        rules_problem=loaded.problem,
        rules_origin=loaded.origin,
        last_evaluated=last,
        these_evaluated=max((row.state["evaluated_at"] for row in rules if row.state), default=None),
        unwatched=last is not None and last < now - UNWATCHED,
        unsent=[row for row in alerting.history.unsent() if row["lost"] or row["since"] < now - SENDING_GRACE],
        silences=alerting.history.silences(now),
        draft=SilenceDraft(matchers="", length="4h", comment=""),
        lengths=SILENCE_LENGTHS,
    )


@router.get("/alerts/silence")
def draft_page(
    request: Request, who: Actor, matchers: Typed = "", length: Typed = "4h", comment: Typed = ""
) -> HTMLResponse:
    """Previews which active alerts a silence would match, with the button that starts it."""
    application: Application = request.app.state.application
    now = application.now()
    draft = parse_draft(matchers, length, comment, by=who.name, now=now)
    active = AlertBoard(application.engine).active(now, most=MAX_TRIED)
    matched = silenced_by(draft, active, now)
    return page(
        request,
        "alert/silence.html",
        who,
        draft=draft,
        matched=matched[:MAX_ACTIVE],
        number=len(matched),
        active=len(active),
        all_tried=len(active) < MAX_TRIED,
        most=MAX_ACTIVE,
        lengths=SILENCE_LENGTHS,
        view=alert_view,
    )


@router.post("/alerts/silences")
def silence(
    request: Request,
    who: Actor,
    matchers: Annotated[str, Form(max_length=2_000)],
    length: Annotated[str, Form(max_length=50)],
    comment: Annotated[str, Form(max_length=2_000)] = "",
) -> Response:
    application: Application = request.app.state.application
    now = application.now()
    draft = parse_draft(matchers, length, comment, by=who.name, now=now)
    if draft.silence is None:
        raise WrongSettings(f"not silenced: {draft.error}")
    application.alerting.responses.silence(draft.silence, now=now)
    return RedirectResponse("/alerts?notice=silenced", 303)


@router.post("/alerts/silences/{silence_id}/end")
def unsilence(
    request: Request, who: Actor, silence_id: str, back: Annotated[str, Form(max_length=32)] = ""
) -> Response:
    """Ends a silence now; `back` is the fingerprint of the alert whose page has the button."""
    application: Application = request.app.state.application
    ended = application.alerting.responses.unsilence(silence_id, by=who.name, now=application.now())
    path = f"/alerts/{back}" if back.isalnum() else "/alerts"
    return RedirectResponse(f"{path}?notice={'unsilenced' if ended else 'over'}", 303)


def parse_draft(matchers: str, length: str, comment: str, *, by: str, now: datetime) -> SilenceDraft:
    """Parses a silence as written in the form, one matcher per line."""
    lines = [line for line in matchers.splitlines() if line.strip()]
    written = SilenceDraft(matchers="\n".join(lines), length=length, comment=comment)
    if not lines:
        return replace(written, error="Write at least one matcher, such as app=shop." if matchers else None)
    try:
        parsed = [parse_matcher(line) for line in lines]
        made = new_silence(parsed, parse_duration(length.strip()), by=by, now=now, comment=comment.strip())
    except ValueError as error:
        return replace(written, error=str(error))
    return replace(written, silence=made)


def silenced_by(draft: SilenceDraft, active: Sequence[ListedAlert], now: datetime) -> list[ListedAlert]:
    """The active alerts that the silence would match."""
    if draft.silence is None:
        return []
    return [listed for listed in active if draft.silence.holds(listed.alert.matched, now)]
