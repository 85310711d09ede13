"""Weekly reports: builds, stores, renders and sends them, on command and when they are due."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from monitor.alert.receivers.slack.report import SlackReports, reports_from_settings
from monitor.app.background.timers import Timers
from monitor.app.wiring.application import Application
from monitor.core.errors import MonitorError, WrongSettings
from monitor.core.model import Json
from monitor.core.settings.report import ReportSettings
from monitor.core.stage import stage
from monitor.report.weekly.content import canonical, content, differing, digest
from monitor.report.weekly.html import page
from monitor.report.weekly.markdown import markdown
from monitor.report.weekly.slack import slack_message
from monitor.report.weekly.week import FIRST_MONDAY, Week, due_week, last_week, week_named, week_of
from monitor.store.report.reports import Reports
from monitor.store.report.weekly import WeeklyFacts

log = logging.getLogger(__name__)
_DAY, _SUNDAY = timedelta(days=1), 6
_LOOK_EVERY = 600.0  # seconds between looks at whether a report is due


class Format(StrEnum):
    HTML = "html"
    MD = "md"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A report. `made_at` is None while its week is not over, since it is not stored then.

    `differs` names the sections that differ from the report that was stored before; None without one.
    """

    app: str
    week: Week
    content: Mapping[str, Json]
    digest: str
    made_at: datetime | None
    sent_at: datetime | None
    differs: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """Makes weekly reports for commands and for the timer; every method may raise `Retriable`."""

    settings: ReportSettings
    weekly: WeeklyFacts
    reports: Reports
    slack: SlackReports | None
    link: Callable[[str, str], str | None]
    now: Callable[[], datetime]
    address: str = ""  # of the installation

    def apps(self, week: Week) -> list[str]:
        """The configured apps, or all that were probed in the week or have answers in it or the week before.

        The latter may have fallen silent.
        """
        return sorted(self.settings.apps) or self.weekly.apps(week)

    def or_this_week(self, week: Week, app: str | None) -> Week:
        """The last complete week, or the one that has begun where it alone has answers: of the app, or of any.

        So a new installation has a report from its first day on.
        """
        this = week_of(self.now().astimezone(UTC).date())
        lately = set(self.weekly.apps(this))
        earlier = {*self.weekly.apps(week), *self.weekly.apps(week.before.before)}
        names = set(self.settings.apps or lately) if app is None else {app}
        return this if names & lately and not names & earlier else week

    def written(self, app: str, week: Week, *, again: bool = False) -> Written:
        """The stored report, or a new one, stored once its week is over; with `again`, always a new one.

        Raises:
            WrongSettings: the app has no answers in the week and the three before, and no probe of it ran.
        """
        stored = self.reports.get(app, week.start)
        if stored is not None and not again:
            return Written(
                app=app,
                week=week,
                content=stored.content,
                digest=stored.digest,
                made_at=stored.made_at,
                sent_at=stored.sent_at,
            )
        with stage("report", app=app, week=week.name):
            facts = self.weekly.facts(app, week)
        if not facts.days and not facts.probes:
            raise WrongSettings(
                f"{app!r} has no answers in {week.name} nor in the three weeks before; `monitor explain --app "
                f"{shlex.quote(app)}` lists its newest ones, --week names another week"
            )
        now = self.now()
        over = week.end <= now
        found = content(replace(facts, running=not over))
        if over:
            found = self.reports.keep(found, app=app, start=week.start, end=week.end, now=now)
        return Written(
            app=app,
            week=week,
            content=found,
            digest=digest(found),
            made_at=now if over else None,
            sent_at=None if stored is None else stored.sent_at,
            differs=None if stored is None else tuple(differing(stored.content, found)),
        )

    def rendered(self, written: Written, form: Format, *, served: bool = False) -> bytes:
        """The report in that format; the same content and public URL give the same bytes.

        `served` by the installation itself, its page needs no public URL for its links.
        """
        match form:
            case Format.HTML:
                return page(written.content, self.link, self.address or ("" if served else None)).encode()
            case Format.MD:
                return markdown(written.content, self.link, self.address).encode()
            case Format.JSON:
                return canonical(written.content) + b"\n"

    def send(self, written: Written) -> None:
        """Posts the report to Slack, with the page as a file, and records that.

        Raises:
            WrongSettings: Slack is not set up.
            Retriable, Fatal: as `SlackReports.send` does.
        """
        if self.slack is None:
            raise WrongSettings("Slack is not set up: MONITOR_SLACK__BOT_TOKEN and …_CHANNEL, or …_WEBHOOK_URL")
        name = f"{file_name(written)}.html"
        attached = self.rendered(written, Format.HTML)
        with stage("notify", receiver="slack", app=written.app, week=written.week.name):
            self.slack.send(slack_message(written.content), name=name, content=attached)
        if written.made_at is not None:
            self.reports.sent(written.app, written.week.start, self.now())

    def write_due(self, now: datetime) -> int:
        """Writes and sends the reports of the last week that is due; returns how many were new.

        Weeks that were missed before are not made up for. A failure for one app does not affect the others. Does
        nothing while another replica does it.
        """
        week, new = due_week(now, weekday=self.settings.weekday, hour=self.settings.hour), 0
        with self.reports.reporting() as ours:
            if not ours:
                return 0
            for app in self.apps(week):
                try:
                    new += self._due(app, week)
                except WrongSettings as error:
                    log.debug("no weekly report: %s", error, extra={"app": app})  # a configured app without answers
                except MonitorError as error:
                    log.warning(
                        "the report of %s for %s failed: %s; trying again later",
                        app,
                        week.name,
                        error,
                        extra={"app": app},
                    )
        return new

    def _due(self, app: str, week: Week) -> bool:
        new = self.reports.get(app, week.start) is None
        written = self.written(app, week)
        if new:
            log.info("wrote the report of %s for %s", app, week.name, extra={"app": app})
        if self.settings.slack and written.sent_at is None:
            self.send(written)
        return new


def reporting(application: Application) -> Reporting:
    """The application's reporting.

    Raises:
        WrongSettings: Slack's settings are wrong.
    """

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return application.assessing.embedder.embed(texts)  # loaded when it is first needed

    return Reporting(
        settings=application.settings.report,
        weekly=WeeklyFacts(application.engine, embed),
        reports=Reports(application.engine),
        slack=reports_from_settings(application.settings),
        link=application.alerting.answer_link,
        now=application.now,
        address=(application.settings.public_url or "").rstrip("/"),
    )


@contextmanager
def scheduled_reports(application: Application) -> Iterator[None]:
    """Writes reports when they are due while the block runs, if enabled.

    Raises:
        WrongSettings: reports are to be posted, but Slack is not set up.
    """
    settings = application.settings.report
    if not settings.weekly:
        yield
        return
    reports = reporting(application)
    if settings.slack and reports.slack is None:
        raise WrongSettings("MONITOR_REPORT__SLACK needs MONITOR_SLACK__BOT_TOKEN and …_CHANNEL, or …_WEBHOOK_URL")
    with Timers() as timers:
        timers.every(_LOOK_EVERY, lambda: reports.write_due(application.now()), name="weekly reports")
        yield


def chosen_week(now: datetime, *, name: str | None, ending: date | None) -> Week:
    """The week called `name`, or the week whose last day is `ending`, or the last complete week.

    Raises:
        WrongSettings: both are given, there is no such week, or it has not begun.
    """
    if name is not None and ending is not None:
        raise WrongSettings("give either --week or --ending")
    try:
        week = last_week(now) if name is None else week_named(name)
    except ValueError as error:
        raise WrongSettings(f"--week: {error}") from None
    if ending is not None:
        week = week_of(ending)
    if week.start > now:
        raise WrongSettings(f"{week.name} has not begun")
    if week.monday < FIRST_MONDAY:
        raise WrongSettings(f"{week.name}: no answer can be that old")
    if ending is not None and ending.weekday() != _SUNDAY:
        raise WrongSettings(f"--ending: {ending} is not a Sunday, the last day of a week; try {week.end.date() - _DAY}")
    return week


def file_name(written: Written) -> str:
    """A name from app and week, without characters that a file system or Slack might interpret."""
    app = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in written.app)[:60]
    return f"{app}-{written.week.name}"
