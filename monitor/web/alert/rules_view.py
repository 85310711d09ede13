"""What the pages of rules show: excerpts around errors, lines of a difference, and how often rules would have fired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.alert.rules.file import MarkedProblem
from monitor.alert.rules.version import digest_of
from monitor.app.backtest import Rehearsed
from monitor.app.wiring.application import Application
from monitor.store.audit.list import AuditList
from monitor.store.audit_queue import Kind
from monitor.web.alert.configured_rules import LoadedRules

_SIGNS = {"+": "added", "-": "removed", "@": "place"}
MOST_EPISODES = 5  # of a rule that are listed one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenUp:
    """Since when `monitor run` evaluates its rules, by the audit trail, and whether those are in force."""

    since: datetime | None
    same: bool


def taken_up(application: Application, loaded: LoadedRules) -> TakenUp | None:
    """None before any rules were evaluated."""
    acts = AuditList(application.engine).acts(kind=Kind.RULES).acts
    if not acts or loaded.rules is None:
        return None
    return TakenUp(since=acts[0].at, same=acts[0].body.get("digest") == digest_of(loaded.rules.source))


def excerpts(text: str, problems: Sequence[MarkedProblem]) -> Iterator[tuple[MarkedProblem, str]]:
    """Each problem with the line that it is in."""
    lines = text.splitlines()
    for problem in problems:
        yield problem, lines[problem.line - 1] if problem.line <= len(lines) else ""


def difference_lines(difference: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each line of a difference with the name of its style."""
    return ((_SIGNS.get(line[:1], ""), line) for line in difference)


def fired(rehearsed: Rehearsed | None) -> str:
    """How often a rule would have fired."""
    if rehearsed is None:
        return "–"
    if rehearsed.why_not is not None:
        return rehearsed.why_not
    number = len(rehearsed.episodes)
    return "never" if number == 0 else "once" if number == 1 else f"{number:,} times"
