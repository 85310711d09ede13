"""Reloads the rules file when it changes, and keeps the last valid rules while the file is wrong."""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path

from monitor.alert.rule import RuleSet
from monitor.alert.rules.file import parse_rules, read_rules
from monitor.core.errors import WrongSettings

log = logging.getLogger(__name__)


class WatchedRules:
    """The current rules of the file at `path`. Not thread-safe.

    Raises:
        WrongSettings: the file is wrong at the start. A later error is only logged, once for each new text.
    """

    def __init__(self, path: Path, *, receivers: Collection[str], docs_url: str | None = None) -> None:
        self._path = path
        self._docs_url = docs_url
        self._receivers = tuple(receivers)
        text = read_rules(path)
        self._text: str | None = text
        self._rules = self._parsed(text)

    def current(self) -> RuleSet:
        """The rules in the file, or the last valid ones if the file is wrong."""
        text: str | None
        problem = ""
        try:
            text = read_rules(self._path)
        except WrongSettings as error:
            text, problem = None, str(error)
        if text == self._text:
            return self._rules
        self._text = text
        if text is not None:
            try:
                self._rules = self._parsed(text)
            except WrongSettings as error:
                problem = str(error)
        if problem:  # logged once, until the text changes again
            log.error("the alert rules file is wrong; the previous rules stay in force. Fix it:\n%s", problem)
        else:
            log.info("%s has changed: %d rules are in force", self._path, len(self._rules.rules))
        return self._rules

    def _parsed(self, text: str) -> RuleSet:
        return parse_rules(text, name=str(self._path), receivers=self._receivers, docs_url=self._docs_url)
