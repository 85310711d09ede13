"""The page of one alert, to which Slack messages link: what, since when, how bad, what changed, and what to do."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from monitor.alert.notification import MAX_EXAMPLES, Course
from monitor.alert.notify.actions import matchers_of, new_silence
from monitor.alert.notify.describe import course_of
from monitor.alert.notify.notified import described
from monitor.alert.rule import Rule
from monitor.alert.signal import Signal
from monitor.alert.state import Alert
from monitor.alert.wording import facts, labels_of, without_next_step
from monitor.app.wiring.application import Application
from monitor.assess.reference import rank_words
from monitor.core.errors import Retriable, WrongSettings
from monitor.core.text.duration import parse_duration
from monitor.store.alert.list import AlertBoard, ListedAlert
from monitor.web.alert import view as alert_view
from monitor.web.alert.configured_rules import LoadedRules
from monitor.web.alert.runbook import runbook_html
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import own_drawing, page

router = APIRouter()
SILENCE_BUTTONS = ("1h", "4h", "1d")
NOTICES = {
    "acknowledged": "Acknowledged: the notification is not repeated any more.",
    "already": "This alert was already acknowledged.",
    "ended": "This alert does not fire any more.",
    "silenced": "Silenced: it sends no notifications.",
    "unsilenced": "The silence has ended.",
    "over": "This silence had already ended.",
}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Actor = Annotated[Identity, Depends(Needs(Permission.ACT))]


@router.get("/alerts/episodes/{episode}", dependencies=[Depends(Needs(Permission.VIEW))])
def by_episode(request: Request, episode: str) -> Response:
    """Redirects to the alert that had this episode."""
    fingerprint = AlertBoard(request.app.state.application.engine).of_episode(episode)
    if fingerprint is None:
        raise HTTPException(404, "There is no alert with this episode.")
    return RedirectResponse(f"/alerts/{fingerprint}", 303)


@router.get("/alerts/{fingerprint}")
def alert(request: Request, who: Viewer, fingerprint: str, notice: str = "") -> HTMLResponse:
    application: Application = request.app.state.application
    now, alerting, board = application.now(), application.alerting, AlertBoard(application.engine)
    listed = _listed(board, fingerprint, now)
    loaded: LoadedRules = request.app.state.rules.load()
    rule, same = alert_view.configured_rule(listed.alert, loaded.rules)
    course = _course(application, rule if same else None, listed.alert, now)
    explanation = alerting.explanations.of(listed.alert.episode)
    notified = described(listed.alert, listed.silence)
    cause, next_step = without_next_step(explanation.conclusion() if explanation else ())
    return page(
        request,
        "alert/alert.html",
        who,
        message=NOTICES.get(notice),
        view=alert_view,
        alert=listed.alert,
        silence=listed.silence,
        muting=alert_view.muting(listed.alert, loaded.mutings(now)),
        facts=facts(notified),
        labels=labels_of(notified),
        chart=None if course is None else own_drawing(alert_view.course_drawing(course)),
        chart_words="" if course is None else alert_view.course_words(course),
        explanation=explanation,
        cause=cause,
        next_step=next_step,
        runbook=runbook_html(listed.alert.annotations.get("runbook")),
        changes=explanation.sentences() if explanation else [],
        rank_words=rank_words,
        examples=explanation.telling[:MAX_EXAMPLES] if explanation else (),
        history=alert_view.history(
            alerting.history.events([fingerprint]),
            alerting.history.actions([fingerprint]),
            board.notifications(fingerprint),
        ),
        rule=rule,
        same_rule=same,
        counted_as_known=same or listed.alert.selector is not None,
        rule_text=alert_view.rule_text(loaded.rules.source, listed.alert.rule) if loaded.rules and rule else None,
        rules_problem=loaded.problem,
        silence_buttons=SILENCE_BUTTONS,
    )


@router.post("/alerts/{fingerprint}/acknowledge")
def acknowledge(
    request: Request, who: Actor, fingerprint: str, comment: Annotated[str, Form(max_length=2_000)] = ""
) -> Response:
    application: Application = request.app.state.application
    now = application.now()
    acknowledged = _listed(AlertBoard(application.engine), fingerprint, now).alert
    done = application.alerting.responses.acknowledge([acknowledged], by=who.name, now=now, comment=comment.strip())
    notice = "acknowledged" if done else "already" if acknowledged.state.active else "ended"
    return RedirectResponse(f"/alerts/{acknowledged.fingerprint}?notice={notice}", 303)


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
    """Silences the alert's rule and labels for the `length` of a button, or for `own`, which the user has typed."""
    application: Application = request.app.state.application
    now = application.now()
    silenced = _listed(AlertBoard(application.engine), fingerprint, now).alert
    try:
        matchers = matchers_of({}, [silenced])
        duration = parse_duration((length or own).strip())
        new = new_silence(matchers, duration, by=who.name, now=now, comment=comment.strip())
    except ValueError as error:
        raise WrongSettings(f"not silenced: {error}") from None
    application.alerting.responses.silence(new, now=now)
    return RedirectResponse(f"/alerts/{silenced.fingerprint}?notice=silenced", 303)


def _listed(board: AlertBoard, fingerprint: str, now: datetime) -> ListedAlert:
    listed = board.alert(fingerprint, now)
    if listed is None:
        raise HTTPException(404, "There is no such alert. Its rule may measure something else now.")
    return listed


def _course(application: Application, rule: Rule | None, alert: Alert, now: datetime) -> Course | None:
    """The signal until now, or until some time after the alert's end; None when it takes too long to count.

    It is counted as stored with the alert, or by `rule` if an earlier release stored the alert.
    """
    selector, by = alert.selector, alert.by
    if rule is not None:
        selector, by = rule.selector, rule.by
    if selector is None or by is None:
        return None
    end = now if alert.resolved_at is None else min(now, alert.resolved_at + alert_view.AFTER_END)
    notified, store = described(alert), application.alerting.store
    try:
        return course_of(store, notified, end, signal=Signal.parse(alert.signal), selector=selector, by=by)
    except (Retriable, ValueError):  # ValueError: a later release has stored the alert
        return None
