"""Caches rendered weekly reports: the frame, the download and the print view ask for the same bytes."""

from __future__ import annotations

from threading import Lock

from cachetools import LRUCache

from monitor.app.report import Format, Written, reporting
from monitor.app.wiring.application import Application

_MAX_REPORTS = 30


class RenderedReports:
    """The last 30 reports that were asked for, by digest and format. Safe to use from several threads."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._lock = Lock()
        self._cache: LRUCache[tuple[str, Format], bytes] = LRUCache(_MAX_REPORTS)

    def body(self, report: Written, format_: Format) -> bytes:
        """The bytes of `report` in `format_`."""
        key = report.digest, format_
        with self._lock:
            cached = self._cache.get(key)
        if cached is None:
            cached = reporting(self._application).rendered(report, format_, served=True)
            with self._lock:
                self._cache[key] = cached
        return cached
