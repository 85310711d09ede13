"""API routes of alerts: the active and resolved ones, the history of one, and its acknowledgement."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import isfinite
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from pydantic import Field

from monitor.alert.explain.cause import Broken
from monitor.alert.explain.explanation import Explanation
from monitor.alert.mute import Muting
from monitor.app.wiring.application import Application
from monitor.privacy.masking import redact
from monitor.store.alert.list import AlertBoard, ListedAlert
from monitor.web.alert import view as alert_view
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiRequest, ApiResponse, masked, rounded
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import Limit, Moment, Text
from monitor.web.base.problem import CONFLICT, NOT_FOUND, TOO_LARGE, problems

router = APIRouter(tags=["alerts"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Actor = Annotated[Identity, Depends(Needs(Permission.ACT))]
Fingerprint = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
WEEK = timedelta(days=7)


class Alert(ApiResponse):
    """A combination of labels under a rule, as of its last evaluation."""

    fingerprint: str
    episode: str
    rule: str
    state: str
    severity: str
    signal: str
    method: str
    labels: dict[str, str]
    annotations: dict[str, str]
    receivers: list[str]
    active_since: datetime = Field(description="when it began to breach")
    fired_at: datetime | None = Field(
        description="when it had breached for the rule's `for`: the start that pages and messages give"
    )
    resolved_at: datetime | None
    value: float | None
    lower: float | None = Field(description="of the interval at 95 %; null: it has no end there; so is upper")
    upper: float | None
    bound: float
    below: bool = Field(description="true: the alert fires below `bound`; false: above it")
    unit: str
    samples: int
    window_seconds: float
    acknowledged_by: str | None
    acknowledged_at: datetime | None
    silenced_until: datetime | None
    runbook: str | None = Field(description="what to do: a URL, or where in the documentation")
    owner: str | None
    muted_by: str | None = Field(description="the time interval that keeps it from being notified now")
    muted_until: datetime | None
    detail: str | None
    note: str | None
    quiet_since: datetime | None = Field(description="nothing was counted since then; the figures are from before")


class Alerts(ApiResponse):
    """Active alerts with the worst first, or resolved ones with the latest first."""

    items: list[Alert]
    more: bool = Field(description="whether there are more than `limit`")


class StateChange(ApiResponse):
    at: datetime
    from_state: str
    to_state: str
    value: float | None
    samples: int
    note: str | None


class Action(ApiResponse):
    """What a person did about the alert."""

    at: datetime
    by: str
    action: str
    comment: str


class CauseValue(ApiResponse):
    dimension: str
    value: str


class Cause(ApiResponse):
    """Which part of the chatbot broke, from the reasons, documents and questions of bad answers."""

    named: Broken | None = Field(description="null: it is open which part broke, or nothing stands out")
    suspects: list[Broken] = Field(description="the parts that cannot be told apart; empty: nothing stands out")
    where: CauseValue | None = Field(description="the topic, model … to which it is confined; null: everywhere")
    p: float = Field(description="chance of such a rise anywhere without a change")
    answers: int
    bad: int
    before_answers: int
    before_bad: int
    conclusion: list[str] = Field(description="what messages lead with: the part, how sure, and what would tell")


class AlertHistory(Alert):
    """An alert with its changes of state and what people did about it."""

    events: list[StateChange]
    actions: list[Action]
    cause: Cause | None = Field(description="null: the alert was not explained")
    changed: list[str] = Field(description="sentences that say what had changed when the alert fired")


class Comment(ApiRequest):
    """The reason for an action."""

    comment: Text = ""


class Acknowledgement(ApiResponse):
    """Whether this request acknowledged the alert, and who has acknowledged it."""

    acknowledged: bool
    acknowledged_by: str


@router.get(
    "/alerts",
    response_model=Alerts,
    operation_id="listAlerts",
    responses=problems(),
    summary="List active or resolved alerts",
)
def alerts(
    request: Request,
    _: Viewer,
    state: Annotated[Literal["active", "resolved"], Query(description="Active: firing, pending, in error.")] = "active",
    since: Annotated[
        Moment | None, Query(description="For resolved alerts: the earliest time; default: a week ago.")
    ] = None,
    limit: Limit = 200,
) -> Alerts:
    """Returns the alerts that `monitor alerts list` shows."""
    application: Application = request.app.state.application
    now, board = application.now(), AlertBoard(application.engine)
    if state == "active":
        listed = board.active(now, most=limit + 1)
    else:
        listed = board.resolved(now - WEEK if since is None else since, now, most=limit + 1)
    mutings = request.app.state.rules.load().mutings(now)
    return Alerts(items=[_alert(one, mutings) for one in listed[:limit]], more=len(listed) > limit)


@router.get(
    "/alerts/{fingerprint}",
    response_model=AlertHistory,
    operation_id="getAlert",
    responses=problems(NOT_FOUND),
    summary="Get an alert with its history",
)
def alert(request: Request, _: Viewer, fingerprint: Fingerprint) -> AlertHistory:
    """Returns the history over all episodes of the alert."""
    application: Application = request.app.state.application
    listed, alerting = _listed(application, fingerprint), application.alerting
    explanation = alerting.explanations.of(listed.alert.episode)
    return AlertHistory(
        **dict(_alert(listed, request.app.state.rules.load().mutings(application.now()))),
        events=[StateChange(**{**row, "note": masked(row["note"])}) for row in alerting.history.events([fingerprint])],
        actions=[
            Action(**{**row, "comment": redact(row["comment"])}) for row in alerting.history.actions([fingerprint])
        ],
        cause=_cause(explanation) if explanation else None,
        changed=list(map(redact, explanation.sentences())) if explanation else [],
    )


def _cause(explanation: Explanation) -> Cause | None:
    found = explanation.cause
    if found is None:
        return None
    where = found.where
    return Cause(
        named=found.named,
        suspects=list(found.suspects),
        where=where and CauseValue(dimension=redact(where.dimension), value=redact(where.value)),
        p=found.p,
        answers=found.answers,
        bad=found.bad,
        before_answers=found.before_answers,
        before_bad=found.before_bad,
        conclusion=list(map(redact, explanation.conclusion())),
    )


@router.post(
    "/alerts/{fingerprint}/acknowledge",
    response_model=Acknowledgement,
    operation_id="acknowledgeAlert",
    responses=problems(NOT_FOUND, CONFLICT, TOO_LARGE),
    summary="Acknowledge an alert",
)
def acknowledge(request: Request, who: Actor, fingerprint: Fingerprint, reason: Comment) -> Acknowledgement:
    """Stops the repetition of the notification; the messages name who has acknowledged the alert."""
    application: Application = request.app.state.application
    before = _listed(application, fingerprint).alert
    responses = application.alerting.responses
    done = responses.acknowledge([before], by=who.name, now=application.now(), comment=reason.comment)
    after = _listed(application, fingerprint).alert
    if not done and (after.acknowledged_by is None or not after.state.active):
        raise HTTPException(CONFLICT, "the alert does not fire now")
    return Acknowledgement(acknowledged=done == 1, acknowledged_by=after.acknowledged_by or who.name)


def _listed(application: Application, fingerprint: str) -> ListedAlert:
    listed = AlertBoard(application.engine).alert(fingerprint, application.now())
    if listed is None:
        raise HTTPException(NOT_FOUND, "there is no alert with this fingerprint")
    return listed


def _alert(listed: ListedAlert, mutings: Mapping[str, Muting]) -> Alert:
    """The alert with foreign texts and comments masked, as on the pages."""
    a = listed.alert
    muting = alert_view.muting(a, mutings)
    names = (
        *("fingerprint", "episode", "rule", "severity", "signal", "method", "active_since", "fired_at", "resolved_at"),
        *("below", "unit", "samples", "acknowledged_by", "acknowledged_at", "quiet_since"),
    )
    return Alert(
        **{name: getattr(a, name) for name in names},
        state=a.state,
        labels={name: redact(value) for name, value in a.labels.items()},
        annotations={name: redact(value) for name, value in a.annotations.items()},
        receivers=list(a.receivers),
        value=rounded(a.value),
        lower=_finite(a.lower),
        upper=_finite(a.upper),
        bound=a.bound,
        window_seconds=a.window.total_seconds(),
        silenced_until=listed.silence.ends_at if listed.silence else None,
        runbook=masked(a.annotations.get("runbook")),
        owner=masked(a.annotations.get("owner")),
        muted_by=muting.why if muting else None,
        muted_until=muting.until if muting else None,
        detail=None if a.detail is None else redact(a.detail),
        note=None if a.note is None else redact(a.note),
    )


def _finite(bound: float) -> float | None:
    """A bound as JSON, which knows no infinity: a figure that is measured once, such as the lag, has no interval."""
    return round(bound, 6) if isfinite(bound) else None
