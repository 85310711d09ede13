"""The texts of rules that people have checked lately: only such a text can be saved.

A check parses the text, compares it with the rules in force, and tries both on the stored answers in the background.
This process remembers the last ones. The forms carry the text too, so that nothing is lost with the process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event, Lock

from cachetools import LRUCache

from monitor.alert.rule import RuleSet
from monitor.alert.window import MINUTE, Span, window_at
from monitor.app.rules import TriedRule, difference, normal_text, try_rules
from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.store.alert.rules_versions import MOST_CHARACTERS
from monitor.store.stopping import ended_on
from monitor.web.alert.configured_rules import LoadedRules
from monitor.web.base.jobs import Jobs, Progress
from monitor.web.base.limit import RateLimit

JOB = "back-test of rules"
DAYS = (1, 7, 30)  # of stored answers that rules are tried on
MOST_TIME = timedelta(minutes=1)  # afterwards no further rule is begun
_KEPT = 20  # checks
_MOST_CHECKS, _WINDOW = 20, timedelta(minutes=1)  # by one person


@dataclass(slots=True, kw_only=True)
class RulesCheck:
    """A valid text of rules: how it differs from `against`, which was in force, and how both would have fired.

    `based_on` is the version that the text was edited from. `tried` is None until the back-test has ended, and stays
    so if it `failed`.
    """

    id: str
    text: str
    based_on: int
    against: str
    difference: Sequence[str]
    span: Span
    begun_by: str
    begun_at: datetime
    rules: RuleSet = field(repr=False)
    tried: Sequence[TriedRule] | None = None
    failed: bool = False


class RulesBusy(Exception):
    """Another check runs, or this person has begun too many; the message says what to do."""


class RulesChecks:
    """The checks of this process. Safe to use from several threads."""

    def __init__(self, application: Application, jobs: Jobs, loaded: Callable[[], LoadedRules]) -> None:
        self._application = application
        self._jobs = jobs
        self._loaded = loaded
        self._checks: LRUCache[str, RulesCheck] = LRUCache(_KEPT)
        self._limit = RateLimit(most=_MOST_CHECKS, window=_WINDOW)
        self._lock = Lock()

    def get(self, id_: str) -> RulesCheck | None:
        """The check of that id; None when this process does not remember it."""
        with self._lock:
            return self._checks.get(id_)

    def begin(self, text: str, *, based_on: int, days: int, by: str) -> RulesCheck:
        """Parses the text, and tries its rules on the answers of the last `days` in the background.

        Raises:
            WrongRules: the text is wrong.
            WrongSettings: it is too long.
            RulesBusy: one back-test runs already, or `by` has begun too many.
        """
        application = self._application
        now, alerting = application.now(), application.alerting
        wait = self._limit.attempt(by, now)
        if wait is not None:
            raise RulesBusy(f"You have begun many checks; try again in {wait.total_seconds():.0f} s.")
        text = normal_text(text)
        if len(text) > MOST_CHARACTERS:
            raise WrongSettings(f"the text may have {MOST_CHARACTERS:,} characters, and this one has {len(text):,}")
        new, old = alerting.parse_rules(text, "rules"), self._loaded()
        span = window_at(now, timedelta(days=days) // MINUTE * MINUTE, timedelta())
        check = RulesCheck(
            id=hashlib.sha256(f"{based_on} {days} {text}".encode()).hexdigest()[:32],
            text=text,
            based_on=based_on,
            against=old.origin,
            difference=difference(old.rules.source if old.rules else "", text),
            span=span,
            begun_by=by,
            begun_at=now,
            rules=new,
        )

        def work(progress: Progress, stop: Event) -> str:
            try:
                with ended_on(stop, application.engine):
                    check.tried = try_rules(
                        new,
                        old.rules,
                        alerting.past,
                        span,
                        progress=progress,
                        out_of_time=lambda: stop.is_set() or application.now() - now > MOST_TIME,
                    )
            finally:
                check.failed = check.tried is None
            return f"{len(new.rules)} rules tried on the stored answers of {days} days"

        if not self._jobs.start(JOB, work, by=by):
            running = self._jobs.latest(JOB)
            who = running.by if running else "somebody"
            raise RulesBusy(f"A back-test begun by {who} is still running; check again when it has ended.")
        with self._lock:
            self._checks[check.id] = check
        return check
