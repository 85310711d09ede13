"""Runs probes when they are due."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event, Lock
from typing import Final

from monitor.alert.window import CLOCKS_APART, gone_by
from monitor.app.background.timers import Timers, survive
from monitor.app.probe.run import run_probe
from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.pool import Pool
from monitor.core.text.duration import format_duration
from monitor.core.text.plain import readable
from monitor.probe.file import Probe
from monitor.probe.run import GRACE

log = logging.getLogger(__name__)
_LOOK_EVERY: Final = 20.0  # seconds
_AT_ONCE: Final = 4  # probes that run at the same time
_ENDING: Final = GRACE + 5.0  # seconds
_DAY: Final = timedelta(days=1)


@contextmanager
def scheduled_probes(application: Application) -> Iterator[None]:
    """Runs the probes of the configured file when they are due, while the block runs.

    The file is read anew at each look; while it is wrong, the probes that it last named stay in force.
    Leaving the block ends the runs that are under way as stopped.

    Raises:
        WrongSettings: the file is wrong, or there is no language model to judge with.
    """
    if application.settings.probes is None:
        yield
        return
    due = DueProbes(application)
    try:
        if scheduled := due.scheduled():
            judge = application.language_models.probing_model.model  # refuses now what no run could do without
            log.info("probes on schedule: %s; judged by %s", ", ".join(map(_when, scheduled)), readable(judge))
        with Timers() as timers:
            timers.every(_LOOK_EVERY, due.look, name="probes")
            yield
    finally:
        due.stop()


def _when(probe: Probe) -> str:
    """`support every 6h`, or `support at 06:30 UTC`."""
    when = f"every {format_duration(probe.every)}" if probe.every else f"at {probe.at:%H:%M} UTC"
    return f"{readable(probe.name)} {when}"


class DueProbes:
    """Begins the probes that are due, each on a thread of its own, and none twice at the same time."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._probes = application.probing.watched()
        self._since = application.now()
        self._stop = Event()
        self._pool = Pool(_AT_ONCE, "probe run")
        self._lock = Lock()
        self._running: dict[str, Future[None]] = {}
        self._problems: dict[str, str | None] = {}  # why a probe does not run, by its name

    def scheduled(self) -> list[Probe]:
        """The probes in force that run by themselves."""
        return [probe for probe in self._probes().values() if probe.scheduled]

    def look(self) -> None:
        """Begins what is due.

        Raises:
            Retriable: the database is out of reach.
        """
        for probe in self.scheduled():
            with self._lock:
                if probe.name in self._running:
                    continue
            if self._due(probe):
                with self._lock:
                    self._running[probe.name] = self._pool.submit(partial(self._run, probe))

    def stop(self) -> None:
        """Ends the runs that are under way as stopped, and waits for that, but not for long."""
        self._stop.set()
        self._pool.close()
        with self._lock:
            ending = [*self._running.values()]
        wait(ending, timeout=_ENDING)

    def _run(self, probe: Probe) -> None:
        try:
            survive(lambda: self._one(probe), f"probe {readable(probe.name)}")
        finally:
            with self._lock:
                self._running.pop(probe.name, None)

    def _one(self, probe: Probe) -> None:
        try:
            ended = run_probe(self._application, probe, stop=self._stop, check=lambda: self._refuse_unless_due(probe))
        except _NotDue:
            return
        except WrongSettings as error:
            self._tell(probe.name, str(error))
            return
        self._tell(probe.name, None)
        run = ended.run
        why = run.error and readable(run.error)
        if why is None and not self._application.probing.runs.figures([run.number])[run.number].unsure.count:
            why = f"no answer could be judged: monitor probe show {run.number} tells why"
        level, more = (logging.INFO, "") if why is None else (logging.WARNING, f": {why}")
        known = {"app": run.app, "probe": probe.name, "run": run.number}
        log.log(level, "probe %s: run %d: %s%s", readable(probe.name), run.number, run.state, more, extra=known)
        for line in ended.unfound:
            log.warning("probe %s: run %d: %s", readable(probe.name), run.number, readable(line), extra=known)

    def _due(self, probe: Probe) -> bool:
        last = self._application.probing.runs.last_begin(probe.name)
        return is_due(probe, last=last, since=self._since, now=self._application.now())

    def _refuse_unless_due(self, probe: Probe) -> None:
        if not self._due(probe):
            raise _NotDue

    def _tell(self, name: str, problem: str | None) -> None:
        """Logs why a probe does not run: once, and not at every look, until the reason is another one."""
        with self._lock:
            known = self._problems.get(name)
            self._problems[name] = problem
        if problem is not None and problem != known:
            log.warning("the probe %s did not run: %s", readable(name), problem, extra={"probe": name})


class _NotDue(Exception):
    """Another process has run the probe since it was found due."""


def is_due(probe: Probe, *, last: datetime | None, since: datetime, now: datetime) -> bool:
    """Whether a probe should begin at `now`; `last` is when it last began, `since` when this process started.

    A time in the future (the clock was set back) counts as long ago, unless it is that of another process whose clock
    is a little ahead. One that never ran begins at once if it runs at
    intervals, and at its time of day otherwise.
    """
    if probe.every is not None:
        return last is None or gone_by(last, now) >= probe.every
    if probe.at is None:
        return False
    at = datetime.combine(now.astimezone(UTC).date(), probe.at, tzinfo=UTC)
    newest = at if at <= now else at - _DAY
    return newest > (since if last is None else last) or (last is not None and last > now + CLOCKS_APART)
