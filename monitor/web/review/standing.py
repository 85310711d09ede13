"""Keeps what the labels come to, all together, until another is given: to read them takes longer than a page may."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Lock
from typing import Final, NamedTuple

from cachetools import LRUCache

from monitor.app.review.labels import Report, agreement_report
from monitor.review.shortage import Shortage
from monitor.store.review.labels import Reviews

WEEKS: Final = 8  # of the agreement
_MAX_AGE = timedelta(minutes=1)  # what else changes, such as an answer that was erased, is seen by then
_MAX_APPS = 100


class Standing(NamedTuple):
    """What calibration lacks, and how far verdicts and people agree."""

    lacking: Shortage
    report: Report


class StandingCache:
    """The standing by app (None: all). Safe to use from several threads."""

    def __init__(self, shortage: Callable[[str | None], Shortage], reviews: Reviews) -> None:
        self._shortage = shortage
        self._reviews = reviews
        self._lock = Lock()
        self._cache: LRUCache[str | None, tuple[datetime, int, Standing]] = LRUCache(_MAX_APPS)

    def of(self, app: str | None, now: datetime) -> Standing:
        """The standing with every label that is stored now.

        Raises:
            Retriable: the database is out of reach, or busy.
        """
        newest = self._reviews.newest_label()
        with self._lock:
            held = self._cache.get(app)
        if held is not None:
            read_at, with_label, standing = held
            if with_label == newest and read_at <= now < read_at + _MAX_AGE:
                return standing
        standing = Standing(
            lacking=self._shortage(app),
            report=agreement_report(self._reviews, app=app, weeks=WEEKS, now=now),
        )
        with self._lock:
            self._cache[app] = now, newest, standing
        return standing
