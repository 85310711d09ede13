"""Reads the rules in force for the alert pages, and parses them again only when their text has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.alert.mute import Muting
from monitor.alert.rule import RuleSet
from monitor.alert.rules.file import read_rules
from monitor.app.wiring.application import Application
from monitor.core.errors import MonitorError, Retriable


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRules:
    """The rules in force, or None and the problem that keeps them from being read.

    `origin` names where they come from; `version` is that of saved rules, None for a file. With rules, a problem says
    why newer versions are passed over.
    """

    rules: RuleSet | None
    origin: str
    version: int | None = None
    problem: str | None = None

    def mutings(self, now: datetime) -> Mapping[str, Muting]:
        """The mutes that hold at `now`, by the name of the rule."""
        return self.rules.mutings(now) if self.rules else {}


class ConfiguredRules:
    """The rules in force as they are now. Safe to use from several threads."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._parsed: tuple[str, Sequence[str], LoadedRules] | None = None

    def load(self) -> LoadedRules:
        """The rules of the present text.

        Raises:
            Retriable: the database is out of reach.
        """
        path, alerting = self._application.settings.rules, self._application.alerting
        origin = "the rules" if path is None else path.name
        try:
            if path is None:
                found = alerting.versioned_rules.in_force()
                return LoadedRules(rules=found.rules, origin=found.origin, version=found.version, problem=found.problem)
            text, receivers = read_rules(path), tuple(alerting.receivers)
            if self._parsed is None or self._parsed[:2] != (text, receivers):
                rules = alerting.parse_rules(text, origin)
                self._parsed = text, receivers, LoadedRules(rules=rules, origin=origin)
        except Retriable:
            raise
        except MonitorError as error:
            return LoadedRules(rules=None, origin=origin, problem=str(error).partition("\n")[0])
        return self._parsed[2]
