"""The report pages: the list of weekly reports, one in its own frame, downloads, and writing last week's now."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Event
from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from monitor.app.report import Format, Written, reporting
from monitor.app.wiring.application import Application
from monitor.core.errors import InvalidMessage, WrongSettings
from monitor.core.text.plain import plural
from monitor.ingest.times import instant
from monitor.report.weekly.compare import change_verdict
from monitor.report.weekly.week import Week, due_at, last_week, week_named, week_of
from monitor.store.report.reports import PAGE, Reports, headlines
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.jobs import Jobs, Progress
from monitor.web.base.page import page
from monitor.web.report.rendered import RenderedReports

router = APIRouter()
JOB = "reports"
# The report contains its styles and drawings, and may load nothing else; its links open in a new window.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'; sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
)
TYPES = {Format.HTML: "text/html", Format.MD: "text/markdown", Format.JSON: "application/json"}
NOTICES = {
    "begun": "Last week's reports are being written.",
    "busy": "Last week's reports are already being written.",
}
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Reporter = Annotated[Identity, Depends(Needs(Permission.REPORT))]
Parameter = Annotated[str, Query(max_length=1_000)]


@router.get("/reports")
def reports(
    request: Request,
    who: Viewer,
    *,
    app: Parameter = "",
    week: Parameter = "",
    after: Parameter = "",
    notice: Parameter = "",
) -> HTMLResponse:
    """Lists the reports; `week` and `after` are the week's start and the app of the last report before this page."""
    application: Application = request.app.state.application
    settings, now = application.settings.report, application.now()
    running = week_of(now.astimezone(UTC).date())
    rows = headlines(application.engine, app=app or None, behind=_position(week, after))
    last = rows[PAGE - 1] if len(rows) > PAGE else None
    query = {} if last is None else {"app": app, "week": last.start.isoformat(), "after": last.app}
    return page(
        request,
        "report/reports.html",
        who,
        message=NOTICES.get(notice),
        app=app,
        reports=[(row, Week(monday=row.start.date()).name) for row in rows[:PAGE]],
        older=f"/reports?{urlencode(query, errors='replace')}" if query else None,
        change_verdict=change_verdict,
        last_week=last_week(now).name,
        running=running.name,
        due=due_at(running, weekday=settings.weekday, hour=settings.hour) if settings.weekly else None,
        job=request.app.state.jobs.latest(JOB),
    )


@router.post("/reports/make")
def make(request: Request, who: Reporter) -> Response:
    """Writes the missing reports of last week for every app, in the background."""
    application: Application = request.app.state.application

    def work(progress: Progress, stop: Event) -> str:
        writer, week = reporting(application), last_week(application.now())
        apps, skipped = writer.apps(week), 0
        if not apps:
            return (
                f"no app has answers in {week.name} or the week before, so there is no report to store; "
                "`monitor report weekly` shows the week that has begun"
            )
        for place, app in enumerate(apps, 1):
            if stop.is_set():
                return "stopped before the end"
            progress(f"{place} of {len(apps)} apps")
            try:
                writer.written(app, week)
            except WrongSettings:  # an app without answers must not stop the others
                skipped += 1
        without = f"; {plural(skipped, 'app')} had no answers" if skipped else ""
        stored = len(apps) - skipped
        return f"{plural(stored, 'report')} of {week.name} {'is' if stored == 1 else 'are'} stored{without}"

    jobs: Jobs = request.app.state.jobs
    notice = "begun" if jobs.start(JOB, work, by=who.name) else "busy"
    return RedirectResponse(f"/reports?notice={notice}", 303)


@router.get("/reports/weekly/{app:path}/{name}")
def report(
    request: Request,
    who: Viewer,
    app: str,
    name: Annotated[str, Path(pattern=r"^[0-9]{4}-W[0-9]{2}(\.(html|md|json))?$")],
) -> Response:
    """Shows a report in a frame, or sends the file when `name` ends in a format."""
    application: Application = request.app.state.application
    week_name, _, form = name.partition(".")
    try:
        week = week_named(week_name)
    except ValueError as error:
        raise HTTPException(404, str(error)) from None
    stored = Reports(application.engine).get(app, week.start)
    if stored is None:
        raise HTTPException(404, f"No report for {week.name} is stored for this app.")
    path = f"/reports/weekly/{quote(app.encode(errors='replace'), safe='')}/{week.name}"
    if not form:
        return page(request, "report/report.html", who, report=stored, week=week.name, path=path)
    written = Written(
        app=app,
        week=week,
        content=stored.content,
        digest=stored.digest,
        made_at=stored.made_at,
        sent_at=stored.sent_at,
    )
    chosen = Format(form)
    cache: RenderedReports = request.app.state.rendered_reports
    body = cache.body(written, chosen)
    headers = {"content-security-policy": POLICY}
    if "download" in request.query_params or chosen is not Format.HTML:
        file = f"weekly-{app}-{week.name}.{form}".encode(errors="replace")
        headers["content-disposition"] = f"attachment; filename*=UTF-8''{quote(file, safe='')}"
    return Response(body, headers=headers, media_type=TYPES[chosen])


def _position(week: str, after: str) -> tuple[datetime, str] | None:
    """The report before this page; None for the first page, or when the parameters cannot be read."""
    try:
        return (instant(week, "week"), after) if week and after else None
    except InvalidMessage:
        return None
