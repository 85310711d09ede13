"""API routes of the stored weekly reports."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from pydantic import Field

from monitor.app.report import Format, Written, reporting
from monitor.app.wiring.application import Application
from monitor.report.weekly.compare import change_verdict
from monitor.report.weekly.week import Week, week_named
from monitor.store.interaction.filters import PagePosition
from monitor.store.report.reports import PAGE, Reports, headlines
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiResponse
from monitor.web.base.cursor import from_cursor, to_cursor
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import Cursor, Name, Text
from monitor.web.base.problem import NOT_FOUND, problems
from monitor.web.report.page import POLICY

router = APIRouter(tags=["reports"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
_TYPES = {Format.JSON: "application/json", Format.HTML: "text/html", Format.MD: "text/markdown"}


class Report(ApiResponse):
    """A weekly report of one app."""

    app: str
    week: str = Field(description="the ISO week, such as 2026-W46")
    start: datetime
    made_at: datetime
    sent_at: datetime | None
    change: str | None = Field(description="worse, better or no clear change of negatives; null if not compared")


class ReportList(ApiResponse):
    """Weekly reports, newest week first, then by app."""

    items: list[Report]
    next: str | None


@router.get(
    "/reports",
    response_model=ReportList,
    operation_id="listReports",
    responses=problems(),
    summary="List the weekly reports",
)
def reports(
    request: Request, _: Viewer, app: Annotated[Text | None, Query()] = None, cursor: Cursor = None
) -> ReportList:
    """Returns the stored reports in pages of 30; `monitor report weekly` writes a new one."""
    application: Application = request.app.state.application
    behind = None if cursor is None else from_cursor(cursor)
    found = headlines(application.engine, app=app, behind=None if behind is None else (behind.occurred_at, behind.app))
    shown = found[:PAGE]
    last = shown[-1] if len(found) > PAGE else None
    return ReportList(
        items=[
            Report(
                app=row.app,
                week=Week(monday=row.start.date()).name,
                start=row.start,
                made_at=row.made_at,
                sent_at=row.sent_at,
                change=change_verdict(row.verdicts["rates"]["negative"]["change"]),
            )
            for row in shown
        ],
        next=None if last is None else to_cursor(PagePosition(occurred_at=last.start, app=last.app)),
    )


@router.get(
    "/reports/weekly/{app:path}/{week}",
    response_model=dict[str, Any],
    operation_id="getReport",
    responses={
        **problems(NOT_FOUND),
        200: {
            "description": "The report as it was stored.",
            "content": {kind: {"schema": {"type": "string"}} for kind in ("text/html", "text/markdown")},
        },
    },
    summary="Get a weekly report",
)
def report(
    request: Request,
    _: Viewer,
    app: Annotated[Name, Path()],
    week: Annotated[str, Path(pattern=r"^[0-9]{4}-W[0-9]{2}$")],
    format_: Annotated[Format, Query(alias="format")] = Format.JSON,
) -> Response:
    """Returns the report as JSON, HTML or Markdown; the same report always gives the same bytes."""
    application: Application = request.app.state.application
    try:
        named_week = week_named(week)
    except ValueError as error:  # the year has no such week
        raise HTTPException(NOT_FOUND, str(error)) from None
    stored = Reports(application.engine).get(app, named_week.start)
    if stored is None:
        raise HTTPException(NOT_FOUND, "no such report is stored")
    written = Written(
        app=app,
        week=named_week,
        content=stored.content,
        digest=stored.digest,
        made_at=stored.made_at,
        sent_at=stored.sent_at,
    )
    body = reporting(application).rendered(written, format_, served=True)
    headers = {"content-security-policy": POLICY} if format_ is Format.HTML else None
    return Response(body, headers=headers, media_type=_TYPES[format_])
