"""Alerts: what is on fire, what was, the rules as they are evaluated, and who is told of nothing for how long."""

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
from monitor.alert.silence import Silence, parse_matcher
from monitor.alert.wording import UNWATCHED
from monitor.app.wiring.application import Application
from monitor.core.duration import parse_duration
from monitor.core.errors import WrongSettings
from monitor.store.alert.list import AlertBoard, ListedAlert
from monitor.web.alert import view as alert_view
from monitor.web.alert.configured_rules import LoadedRules
from monitor.web.alert.rule_figures import Latest, latest
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import page

router = APIRouter()
MOST, MOST_RESOLVED = 200, 50  # alerts of a list
LOOKED_BACK = timedelta(days=7)
SENDING = timedelta(minutes=2)  # for which a message may wait before it is worth an alarm
LENGTHS = ("1h", "4h", "1d", "7d")
NOTICES = {
    "silenced": "Silenced: nobody is told of what matches.",
    "unsilenced": "The silence has ended.",
    "over": "That silence had ended already.",
}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Actor = Annotated[Identity, Depends(Needs(Permission.ACT))]
Typed = Annotated[str, Query(max_length=2_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """A rule, what the last evaluation said of it, and its signal now."""

    rule: Rule
    state: dict[str, Any] | None
    otherwise_at: datetime | None  # when a rule of that name that measures something else was evaluated
    latest: Latest | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A silence that somebody writes: the silence, or what is wrong with it."""

    matchers: str
    length: str
    comment: str
    silence: Silence | None = None
    wrong: str | None = None


@router.get("/alerts")
def alerts(request: Request, who: Viewer, said: str = "") -> HTMLResponse:
    """The page."""
    application: Application = request.app.state.application
    now, alerting, board = application.now(), application.alerting, AlertBoard(application.engine)
    states = {row["rule_digest"]: dict(row) for row in alerting.history.rules()}
    by_name = {row["rule"]: row["evaluated_at"] for row in sorted(states.values(), key=itemgetter("evaluated_at"))}
    in_use: LoadedRules = request.app.state.rules.load()
    evaluated = [
        Evaluated(
            rule=rule,
            state=states.get(rule.digest),
            otherwise_at=by_name.get(rule.name),
            latest=latest(rule, alerting.store, now),
        )
        for rule in (in_use.rules.rules if in_use.rules else ())
    ]
    active = board.active(now, most=MOST)
    last = max((state["evaluated_at"] for state in states.values()), default=None)
    return page(
        request,
        "alert/alerts.html",
        who,
        said=NOTICES.get(said),
        view=alert_view,
        active=active,
        number=len(active),
        resolved=board.resolved(now - LOOKED_BACK, now, most=MOST_RESOLVED),
        most_resolved=MOST_RESOLVED,
        rules=evaluated,
        rules_problem=in_use.problem,
        last_evaluated=last,
        these_evaluated=max((its.state["evaluated_at"] for its in evaluated if its.state), default=None),
        unwatched=last is not None and last < now - UNWATCHED,
        unsent=[row for row in alerting.history.unsent() if row["lost"] or row["since"] < now - SENDING],
        silences=alerting.history.silences(now),
        draft=Draft(matchers="", length="4h", comment=""),
        lengths=LENGTHS,
    )


@router.get("/alerts/silence")
def draft_page(
    request: Request, who: Actor, matchers: Typed = "", length: Typed = "4h", comment: Typed = ""
) -> HTMLResponse:
    """What a silence would match now, and the button that begins it."""
    application: Application = request.app.state.application
    now = application.now()
    found = draft(matchers, length, comment, by=who.name, now=now)
    active = AlertBoard(application.engine).active(now, most=MOST)
    quiet = caught(found, active, now)
    return page(
        request,
        "alert/silence.html",
        who,
        draft=found,
        caught=quiet,
        number=len(quiet),
        firing=len(active),
        lengths=LENGTHS,
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
    """Begins it."""
    application: Application = request.app.state.application
    now = application.now()
    found = draft(matchers, length, comment, by=who.name, now=now)
    if found.silence is None:
        raise WrongSettings(f"not silenced: {found.wrong}")
    application.alerting.responses.silence(found.silence, now=now)
    return RedirectResponse("/alerts?notice=silenced", 303)


@router.post("/alerts/silences/{silence_id}/end")
def unsilence(
    request: Request, who: Actor, silence_id: str, back: Annotated[str, Form(max_length=32)] = ""
) -> Response:
    """Ends one now; `back` is the fingerprint of the alert whose page it is done from."""
    application: Application = request.app.state.application
    ended = application.alerting.responses.unsilence(silence_id, by=who.name, now=application.now())
    path = f"/alerts/{back}" if back.isalnum() else "/alerts"
    return RedirectResponse(f"{path}?notice={'unsilenced' if ended else 'over'}", 303)


def draft(matchers: str, length: str, comment: str, *, by: str, now: datetime) -> Draft:
    """The silence that was written, one matcher a line."""
    lines = [line for line in matchers.splitlines() if line.strip()]
    written = Draft(matchers="\n".join(lines), length=length, comment=comment)
    if not lines:
        return replace(written, wrong="Write at least one matcher, such as app=shop." if matchers else None)
    try:
        parsed = [parse_matcher(line) for line in lines]
        made = new_silence(parsed, parse_duration(length.strip()), by=by, now=now, comment=comment.strip())
    except ValueError as error:
        return replace(written, wrong=str(error))
    return replace(written, silence=made)


def caught(found: Draft, active: Sequence[ListedAlert], now: datetime) -> list[ListedAlert]:
    """Those of `active` that the silence would keep quiet."""
    if found.silence is None:
        return []
    return [its for its in active if found.silence.holds(its.alert.matched, now)]
