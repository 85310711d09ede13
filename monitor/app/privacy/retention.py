"""Removes what is past its retention: `monitor retention`, and once a day during `monitor run`.

A clock that is ahead would remove for good what is not due. So the earlier of this host's clock and the database's
counts, and where much is long overdue that earlier rounds should have removed, a person must say that it is right.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from math import inf
from threading import Event
from time import monotonic

from monitor.app.background.timers import Timers
from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.retry import Interrupted, Retry
from monitor.core.settings.privacy import RetentionSettings
from monitor.core.text.duration import parse_duration
from monitor.privacy.retention import CutOff, Keeping, Policy
from monitor.store.privacy.probe_texts import ProbeTexts
from monitor.store.privacy.retention import OVERDUE, DueRows, Retention

log = logging.getLogger(__name__)
PATIENCE = 300.0  # seconds of waiting for a database before giving up
BY = "retention"  # recorded as the person when the timer removes
MOST_OVERDUE = 0.1  # share of all stored interactions that may be overdue
SILENT = timedelta(days=2)  # without a new interaction: nothing shows then that the clock is right
_APART = timedelta(minutes=5)  # of two clocks, from which on the difference is logged
_DAY = 86_400.0
LOOKS = 300.0  # seconds between two looks at whether what a round refused is confirmed by now
_SHARE = 0.05  # of the time, which these looks take at most: each one counts all that is stored


def due(retention: Retention, policy: Policy, now: datetime) -> list[DueRows]:
    """The rows that are due for removal now, by month, app and verdict."""
    cut_offs = policy.cut_offs(retention.apps(), now)
    return [part for month in retention.parts(cut_offs) for part in _gone(retention.due(month, cut_offs))]


def trusted_time(retention: Retention, now: datetime) -> datetime:
    """`now`, or the time of the database's clock if that is earlier."""
    there = retention.clock()
    if now - there > _APART:
        log.warning(
            "this host's clock (%s) is ahead of the database's (%s): set it right; retention goes by the database's",
            f"{now:%Y-%m-%d %H:%M}",
            f"{there:%Y-%m-%d %H:%M}",
        )
    return min(now, there)


def doubt(retention: Retention, parts: Sequence[DueRows], now: datetime) -> str | None:
    """Why the rows in `parts` should not go at `now` unless a person confirms it; None if nothing speaks against it.

    Rows are overdue if they have been due, and stored, for `OVERDUE`: rounds run once a day, so there are none unless
    rounds were missed, a retention period was shortened, or a clock has jumped ahead. More than `MOST_OVERDUE` of what
    is stored is in doubt, and any at all where nothing new was stored for `SILENT`.
    """
    overdue = sum(part.overdue for part in parts)
    if not overdue:
        return None
    stored, newest = retention.stored()
    silent = newest is None or now - newest > SILENT
    if overdue <= MOST_OVERDUE * stored and not silent:
        return None
    since = f", and nothing was stored since {newest:%Y-%m-%d %H:%M}" if silent and newest is not None else ""
    return (
        f"{overdue} of {stored} interactions have been due for more than {OVERDUE.days} days{since}: rounds were "
        f"missed, a retention period was shortened, or a clock is ahead. If {now:%Y-%m-%d %H:%M} UTC is the right time "
        "and `monitor retention --dry-run` lists what is to go, run `monitor retention --yes`"
    )


def due_probe_texts(texts: ProbeTexts, policy: Policy, now: datetime) -> int:
    """The number of runs of probes whose texts are due for removal now."""
    return texts.due(policy.cut_offs(texts.apps(), now))


def remove_probe_texts(texts: ProbeTexts, policy: Policy, *, by: str, now: datetime, again: Retry) -> int:
    """Removes the texts that are due, and returns of how many runs; raises as `remove` does."""
    cut_offs = again(lambda: policy.cut_offs(texts.apps(), now))
    removed = 0
    while not again.stop.is_set() and (number := again(lambda: texts.remove(cut_offs, by=by, now=now))):
        removed += number
    return removed


def remove(retention: Retention, policy: Policy, *, by: str, now: datetime, again: Retry) -> list[DueRows]:
    """Removes the rows that are due, month by month, and returns them; `again.stop` ends it after the batch in flight.

    Raises:
        OutOfReach, Fatal: the database stayed down or refused; removed rows stay removed.
    """
    cut_offs = again(lambda: policy.cut_offs(retention.apps(), now))
    removed: list[DueRows] = []
    for month in again(lambda: retention.parts(cut_offs)):
        if not again.stop.is_set():
            removed += _of_part(retention, month, cut_offs, by=by, now=now, again=again)
    again(retention.blank_quotations)  # also for rows removed by an earlier run that stopped before this step
    return removed


@contextmanager
def scheduled_retention(application: Application) -> Iterator[None]:
    """Removes what is due once a day while the block runs, on one of all replicas; nothing if everything is kept.

    Raises:
        WrongSettings: a retention setting is wrong.
    """
    policy = policy_of(application.settings.retention)
    if not policy.limited:
        yield
        return
    stop = Event()
    rounds = Rounds(application, policy, stop)
    with Timers() as timers:
        again = timers.every(_DAY, rounds.remove_due, name="retention")
        timers.every(LOOKS, lambda: rounds.look_again(again), name="retention that was refused", at_once=False)
        try:
            yield
        finally:
            stop.set()


class Rounds:
    """The rounds of retention in this process; each removes what is due, or refuses to."""

    def __init__(self, application: Application, policy: Policy, stop: Event) -> None:
        self._application = application
        self._policy = policy
        self._stop = stop
        self._retention, self._texts = Retention(application.engine), ProbeTexts(application.engine)
        self._look_at = -inf  # of `monotonic`, as is the next one
        self._say_at = -inf

    def remove_due(self) -> None:
        with self._retention.holding() as ours, suppress(Interrupted):
            if ours:
                self._remove_due()
            else:
                self._application.retention_refused = False  # the replica whose round it is says so

    def look_again(self, remove_due: Callable[[], None]) -> None:
        """Has the next round begin now if the last one refused: by now somebody may have confirmed what is to go."""
        if self._application.retention_refused and monotonic() >= self._look_at:
            remove_due()

    def _remove_due(self) -> None:
        begun = monotonic()
        retention, policy, again = self._retention, self._policy, Retry(stop=self._stop, patience=PATIENCE)
        now = again(lambda: trusted_time(retention, self._application.now()))
        why = again(lambda: doubt(retention, due(retention, policy, now), now))
        self._application.retention_refused = why is not None
        if why is not None:
            self._look_at = monotonic() + (monotonic() - begun) / _SHARE
            self._say(why)
            return
        self._say_at = -inf
        removed = remove(retention, policy, by=BY, now=now, again=again)
        if removed:
            log.info("retention removed %d interactions", sum(part.due for part in removed))
        if runs := remove_probe_texts(self._texts, policy, by=BY, now=now, again=again):
            log.info("retention removed the texts of %d runs of probes", runs)

    def _say(self, why: str) -> None:
        """Logs why nothing was removed, once a day."""
        if monotonic() >= self._say_at:
            self._say_at = monotonic() + _DAY - LOOKS
            log.error("retention removed nothing: %s", why)


def whole_months(parts: Sequence[DueRows]) -> set[date]:
    """The months that are removed entirely; `parts` covers every month that loses anything."""
    kept: Mapping[date | None, int] = Counter()
    for part in parts:
        kept[part.month] += part.stored - part.due  # type: ignore[index]
    return {month for month, number in kept.items() if month is not None and not number}


def _gone(found: Sequence[DueRows]) -> list[DueRows]:
    """All counts if any of them has rows to remove, else none."""
    return list(found) if any(part.due for part in found) else []


def _of_part(
    retention: Retention, month: date | None, cut_offs: Sequence[CutOff], *, by: str, now: datetime, again: Retry
) -> list[DueRows]:
    found = _gone(again(lambda: retention.due(month, cut_offs)))
    if not found:
        return []
    if month is not None and month in whole_months(found):
        dropped = again(lambda: retention.drop(month, cut_offs, by=by, now=now))
        if dropped:
            return dropped
    numbers: Counter[tuple[str, str | None]] = Counter()
    after = ("", "")
    while not again.stop.is_set():
        removed, after = again(lambda after=after: retention.remove(month, cut_offs, after, by=by, now=now))  # type: ignore[misc]
        if not removed:
            break
        for part in removed:
            numbers[part.app, part.verdict] += part.due
    return [replace(part, due=numbers[part.app, part.verdict]) for part in found]


FOREVER = "forever"
_LONGEST = timedelta(days=36_500)


def policy_of(settings: RetentionSettings) -> Policy:
    """The policy of the settings: an app overrides the default, and a verdict overrides `keep`.

    Raises:
        WrongSettings: a length of time is not valid, or is 0.
    """
    where = "MONITOR_RETENTION__"
    keep = _length(f"{where}KEEP", settings.keep)
    by_verdict = {v: _length(f"{where}BY_VERDICT: {v}", text) for v, text in settings.by_verdict.items()}
    by_app = {}
    for app, own in settings.by_app.items():
        place = f"{where}BY_APP: {app}"
        own_verdicts = {v: _length(f"{place}: {v}", text) for v, text in own.by_verdict.items()}
        if own.keep is None:
            by_app[app] = Keeping(keep=keep, by_verdict={**by_verdict, **own_verdicts})
        else:
            by_app[app] = Keeping(keep=_length(f"{place}: keep", own.keep), by_verdict=own_verdicts)
    return Policy(others=Keeping(keep=keep, by_verdict=by_verdict), by_app=by_app)


def _length(name: str, text: str | None) -> timedelta | None:
    if text is None or text == FOREVER:
        return None
    try:
        length = parse_duration(text, longest=_LONGEST)
    except ValueError as error:
        raise WrongSettings(f"{name}: {error}; or write {FOREVER}") from None
    if not length:
        raise WrongSettings(f"{name}: would keep nothing at all")
    return length
