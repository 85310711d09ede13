"""Versions of the rules that people save, and which of them is in force."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from monitor.alert.rule import RuleSet
from monitor.alert.rules.file import DEFAULT_RULES, parse_rules, read_rules
from monitor.core.errors import WrongSettings

log = logging.getLogger(__name__)
SHIPPED = 0  # what the first version is based on


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesVersion:
    """A saved version: the YAML `source`, and who saved it, when and why.

    `based_on` is the version that it replaced, `SHIPPED` for the first. Unless `authentic`, no process with the audit
    key saved it as it stands: it was changed in the database, or saved under another key.
    """

    version: int
    source: str
    based_on: int
    saved_at: datetime
    saved_by: str
    why: str
    authentic: bool

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hex."""
        return digest_of(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesInForce:
    """The rules that are evaluated. `origin` names them: a version, a file, or the rules that ship.

    `version` is None for a file. `problem` says why newer versions are passed over.
    """

    rules: RuleSet
    origin: str
    version: int | None
    problem: str | None = None


class Versions(Protocol):
    """The saved versions; every method may raise `Retriable`."""

    def newest(self) -> RulesVersion | None: ...

    def before(self, version: int) -> RulesVersion | None:
        """The newest version below that one."""


class VersionedRules:
    """The newest version that is valid; the rules that ship while there is none. Safe to use from several threads.

    What is in force follows from what is stored: every process finds the same, before and after a restart. The text is
    parsed again only when the newest version is another one.
    """

    def __init__(self, versions: Versions, parse: Callable[[str, str], RuleSet]) -> None:
        self._versions = versions
        self._parse = parse
        self._known: tuple[RulesVersion | None, RulesInForce] | None = None

    def current(self) -> RuleSet:
        """The rules in force.

        Raises:
            Retriable: the database is out of reach.
        """
        return self.in_force().rules

    def in_force(self) -> RulesInForce:
        """As `current`, with their name and what is wrong with newer versions."""
        newest, known = self._versions.newest(), self._known
        if known is not None and known[0] == newest:
            return known[1]
        found = self._valid(newest)
        self._known = newest, found
        if found.problem is not None:  # logged once, until there is another version
            log.error("%s is in force: %s", found.origin, found.problem)
        elif found.version != SHIPPED:
            log.info("%s of the alert rules is in force: %d rules", found.origin, len(found.rules.rules))
        return found

    def _valid(self, newest: RulesVersion | None) -> RulesInForce:
        problem, version = None, newest
        while version is not None:
            try:
                rules = self._rules(version)
            except WrongSettings as error:
                problem = problem or f"{name_of(version.version)} cannot be used: {error}"
                version = self._versions.before(version.version)
            else:
                name = name_of(version.version)
                return RulesInForce(rules=rules, origin=name, version=version.version, problem=problem)
        rules = self._parse(read_rules(None), DEFAULT_RULES)
        return RulesInForce(rules=rules, origin=name_of(SHIPPED), version=SHIPPED, problem=problem)

    def _rules(self, version: RulesVersion) -> RuleSet:
        if not version.authentic:
            raise WrongSettings(
                "it was changed or added past monitor, or saved under another audit key. `monitor audit verify` says "
                "more; if its text is right, save it again"
            )
        return self._parse(version.source, name_of(version.version))


def name_of(version: int) -> str:
    """A version in words."""
    return "the rules that ship" if version == SHIPPED else f"version {version}"


def digest_of(source: str) -> str:
    """SHA-256 of the text of rules, in hex."""
    return hashlib.sha256(source.encode()).hexdigest()


def parser(receivers: Callable[[], tuple[str, ...]], docs_url: str | None) -> Callable[[str, str], RuleSet]:
    """Parses the text of rules, given their name; `receivers` gives the names of the configured receivers."""
    return lambda text, name: parse_rules(text, name=name, receivers=receivers(), docs_url=docs_url)
