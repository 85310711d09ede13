"""Reads the configured rules file for the alert pages, and parses it again only when its text has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.alert.mute import Muting
from monitor.alert.rule import RuleSet
from monitor.alert.rules.file import DEFAULT_RULES, parse_rules, read_rules
from monitor.app.wiring.application import Application
from monitor.core.errors import MonitorError


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedRules:
    """The configured rules, or None and the problem that keeps them from being read."""

    rules: RuleSet | None
    problem: str | None = None

    def mutings(self, now: datetime) -> Mapping[str, Muting]:
        """The mutes that hold at `now`, by the name of the rule."""
        return self.rules.mutings(now) if self.rules else {}


class ConfiguredRules:
    """The rules file as it is now. Safe to use from several threads."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._parsed: tuple[str, Sequence[str], LoadedRules] | None = None

    def load(self) -> LoadedRules:
        """The rules of the file's present text."""
        settings = self._application.settings
        path = settings.rules
        try:
            text, receivers = read_rules(path), tuple(self._application.alerting.receivers)
            if self._parsed is None or self._parsed[:2] != (text, receivers):
                name = DEFAULT_RULES if path is None else path.name
                rules = parse_rules(text, name=name, receivers=receivers, docs_url=settings.docs_url)
                self._parsed = text, receivers, LoadedRules(rules=rules)
        except MonitorError as error:
            return LoadedRules(rules=None, problem=str(error).partition("\n")[0])
        return self._parsed[2]
