"""Alerts: what fires, what did, and that somebody is at it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from pydantic import Field

from monitor.app.wiring.application import Application
from monitor.privacy.masking import redact
from monitor.store.alert.list import AlertBoard, ListedAlert
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
    """One combination of labels under one rule, as of its last evaluation."""

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
    active_since: datetime
    fired_at: datetime | None
    resolved_at: datetime | None
    value: float | None
    lower: float
    upper: float
    bound: float
    below: bool = Field(description="it fires below `bound`, not above")
    unit: str
    samples: int
    window_seconds: float
    acknowledged_by: str | None
    acknowledged_at: datetime | None
    silenced_until: datetime | None
    detail: str | None
    note: str | None


class Alerts(ApiResponse):
    """Active ones the worst first, resolved ones the last first."""

    items: list[Alert]


class Event(ApiResponse):
    """A change of state."""

    at: datetime
    from_state: str
    to_state: str
    value: float | None
    samples: int
    note: str | None


class Action(ApiResponse):
    """What somebody did."""

    at: datetime
    by: str
    action: str
    comment: str


class History(Alert):
    """An alert, and what became of it."""

    events: list[Event]
    actions: list[Action]
    changed: list[str] = Field(description="what was found to have changed when it fired, in sentences")


class Comment(ApiRequest):
    """Why."""

    comment: Text = ""


class Done(ApiResponse):
    """Whether it was new, and who is at it."""

    acknowledged: bool
    acknowledged_by: str


@router.get(
    "/alerts", response_model=Alerts, operation_id="listAlerts", responses=problems(),
    summary="Alerts that are active, or were",
)  # fmt: skip
def alerts(
    request: Request,
    _: Viewer,
    state: Annotated[Literal["active", "resolved"], Query(description="Active: firing, pending, in error.")] = "active",
    since: Annotated[Moment | None, Query(description="Resolved ones: since then; default: a week ago.")] = None,
    limit: Limit = 200,
) -> Alerts:
    """`monitor alerts list` shows the same."""
    application: Application = request.app.state.application
    now, board = application.now(), AlertBoard(application.engine)
    if state == "active":
        found = board.active(now, most=limit)
    else:
        found = board.resolved(now - WEEK if since is None else since, now, most=limit)
    return Alerts(items=[_alert(its) for its in found])


@router.get(
    "/alerts/{fingerprint}", response_model=History, operation_id="getAlert", responses=problems(NOT_FOUND),
    summary="One alert with its history",
)  # fmt: skip
def alert(request: Request, _: Viewer, fingerprint: Fingerprint) -> History:
    """Over all of its episodes."""
    application: Application = request.app.state.application
    its, alerting = _found(application, fingerprint), application.alerting
    explanation = alerting.explanations.of(its.alert.episode)
    return History(
        **dict(_alert(its)),
        events=[Event(**{**row, "note": masked(row["note"])}) for row in alerting.history.events([fingerprint])],
        actions=[
            Action(**{**row, "comment": redact(row["comment"])}) for row in alerting.history.actions([fingerprint])
        ],
        changed=list(map(redact, explanation.sentences())) if explanation else [],
    )


@router.post(
    "/alerts/{fingerprint}/acknowledge", response_model=Done, operation_id="acknowledgeAlert",
    responses=problems(NOT_FOUND, CONFLICT, TOO_LARGE), summary="Say that somebody is at it",
)  # fmt: skip
def acknowledge(request: Request, who: Actor, fingerprint: Fingerprint, said: Comment) -> Done:
    """It is not repeated any more, and the messages say who."""
    application: Application = request.app.state.application
    its = _found(application, fingerprint).alert
    done = application.alerting.responses.acknowledge(
        [its], by=who.name, now=application.now(), comment=said.comment
    )  # fmt: skip
    after = _found(application, fingerprint).alert
    if not done and (after.acknowledged_by is None or not after.state.active):
        raise HTTPException(CONFLICT, "it does not fire now")
    return Done(acknowledged=done == 1, acknowledged_by=after.acknowledged_by or who.name)


def _found(application: Application, fingerprint: str) -> ListedAlert:
    its = AlertBoard(application.engine).one(fingerprint, application.now())
    if its is None:
        raise HTTPException(NOT_FOUND, "no such alert was ever pending")
    return its


def _alert(its: ListedAlert) -> Alert:
    """Foreign texts and comments masked, as on the pages."""
    a = its.alert
    names = (
        *("fingerprint", "episode", "rule", "severity", "signal", "method", "active_since", "fired_at", "resolved_at"),
        *("below", "unit", "samples", "acknowledged_by", "acknowledged_at"),
    )
    return Alert(
        **{name: getattr(a, name) for name in names},
        state=a.state,
        labels={name: redact(value) for name, value in a.labels.items()},
        annotations={name: redact(value) for name, value in a.annotations.items()},
        receivers=list(a.receivers),
        value=rounded(a.value),
        lower=round(a.lower, 6),
        upper=round(a.upper, 6),
        bound=a.bound,
        window_seconds=a.window.total_seconds(),
        silenced_until=its.silence.ends_at if its.silence else None,
        detail=None if a.detail is None else redact(a.detail),
        note=None if a.note is None else redact(a.note),
    )
