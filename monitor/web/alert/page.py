"""Alert: the page that a Slack message leads to. What, since when, how sure, what changed; and what to do about it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from monitor.alert.notification import MAX_EXAMPLES, Course
from monitor.alert.notify.actions import matchers_of, new_silence
from monitor.alert.notify.describe import course_of
from monitor.alert.rule import Rule
from monitor.alert.wording import facts, labels_of
from monitor.app.wiring.application import Application
from monitor.core.duration import parse_duration
from monitor.core.errors import Retriable, WrongSettings
from monitor.store.alert.list import AlertBoard, ListedAlert
from monitor.web.alert import view as alert_view
from monitor.web.alert.configured_rules import LoadedRules
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import page

router = APIRouter()
QUICK = ("1h", "4h", "1d")
NOTICES = {
    "acknowledged": "Acknowledged: it is not repeated any more.",
    "already": "Somebody had acknowledged it already.",
    "ended": "This is over: it does not fire any more.",
    "silenced": "Silenced: nobody is told of it.",
    "unsilenced": "The silence has ended.",
    "over": "That silence had ended already.",
}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Actor = Annotated[Identity, Depends(Needs(Permission.ACT))]


@router.get("/alerts/episodes/{episode}")
def by_episode(request: Request, who: Viewer, episode: str) -> Response:  # noqa: ARG001  who may
    """On to the alert that had this episode."""
    found = AlertBoard(request.app.state.application.engine).of_episode(episode)
    if found is None:
        raise HTTPException(404, "There is no alert with this episode.")
    return RedirectResponse(f"/alerts/{found}", 303)


@router.get("/alerts/{fingerprint}")
def alert(request: Request, who: Viewer, fingerprint: str, said: str = "") -> HTMLResponse:
    """The page."""
    application: Application = request.app.state.application
    now, alerting, board = application.now(), application.alerting, AlertBoard(application.engine)
    its = _listed(board, fingerprint, now)
    in_use: LoadedRules = request.app.state.rules.load()
    rule, same = alert_view.rule_of(its.alert, in_use.rules)
    course = _course(application, rule, its, now) if same else None
    explanation = alerting.explanations.of(its.alert.episode)
    told = alert_view.told(its.alert, its.silence)
    return page(
        request,
        "alert/alert.html",
        who,
        said=NOTICES.get(said),
        view=alert_view,
        alert=its.alert,
        silence=its.silence,
        facts=facts(told),
        labels=labels_of(told),
        chart=None if course is None else Markup(alert_view.course_drawing(course)),  # noqa: S704  our own drawing
        chart_words="" if course is None else alert_view.course_words(course),
        explanation=explanation,
        changes=explanation.sentences() if explanation else [],
        examples=explanation.telling[:MAX_EXAMPLES] if explanation else (),
        history=alert_view.history(
            alerting.history.events([fingerprint]), alerting.history.actions([fingerprint]), board.told(fingerprint)
        ),
        rule=rule,
        same_rule=same,
        rule_text=alert_view.rule_text(in_use.rules.source, its.alert.rule) if in_use.rules and rule else None,
        rules_problem=in_use.problem,
        quick=QUICK,
    )


@router.post("/alerts/{fingerprint}/acknowledge")
def acknowledge(
    request: Request, who: Actor, fingerprint: str, comment: Annotated[str, Form(max_length=2_000)] = ""
) -> Response:
    """Somebody is at it."""
    application: Application = request.app.state.application
    now = application.now()
    its = _listed(AlertBoard(application.engine), fingerprint, now).alert
    done = application.alerting.responses.acknowledge([its], by=who.name, now=now, comment=comment.strip())
    said = "acknowledged" if done else "already" if its.state.active else "ended"
    return RedirectResponse(f"/alerts/{its.fingerprint}?notice={said}", 303)


@router.post("/alerts/{fingerprint}/silence")
def silence(
    request: Request,
    who: Actor,
    fingerprint: str,
    *,
    length: Annotated[str, Form(max_length=50)] = "",
    own: Annotated[str, Form(max_length=50)] = "",
    comment: Annotated[str, Form(max_length=2_000)] = "",
) -> Response:
    """Nobody is told of it, by rule and labels, for `length`, or the `own` one."""
    application: Application = request.app.state.application
    now = application.now()
    its = _listed(AlertBoard(application.engine), fingerprint, now).alert
    try:
        matchers = matchers_of({}, [its])
        asked = parse_duration((length or own).strip())
        made = new_silence(matchers, asked, by=who.name, now=now, comment=comment.strip())
    except ValueError as error:
        raise WrongSettings(f"not silenced: {error}") from None
    application.alerting.responses.silence(made, now=now)
    return RedirectResponse(f"/alerts/{its.fingerprint}?notice=silenced", 303)


def _listed(board: AlertBoard, fingerprint: str, now: datetime) -> ListedAlert:
    its = board.one(fingerprint, now)
    if its is None:
        raise HTTPException(404, "There is no such alert. It may be of a rule that measured something else.")
    return its


def _course(application: Application, rule: Rule | None, its: ListedAlert, now: datetime) -> Course | None:
    """Up to now, or some time after its end; None where there is none, or it takes too long to count."""
    if rule is None:
        return None
    end = now if its.alert.resolved_at is None else min(now, its.alert.resolved_at + alert_view.AFTERWARDS)
    try:
        return course_of(application.alerting.store, rule, alert_view.told(its.alert, None), end)
    except Retriable:
        return None
