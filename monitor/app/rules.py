"""Changes of the alert rules before they are saved: what differs, and what old and new rules would have done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum

from monitor.alert.rule import Rule, RuleSet
from monitor.alert.window import Span
from monitor.app.backtest import Past, Rehearsed, on_history
from monitor.core.errors import Retriable

_CONTEXT = 3  # lines around a difference


class Change(StrEnum):
    """What becomes of a rule."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "as before"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedRule:
    """A rule on the stored answers: as it would be `now`, and as it was `before`; each None where there is none."""

    name: str
    change: Change
    now: Rehearsed | None
    before: Rehearsed | None


def try_rules(
    new: RuleSet,
    old: RuleSet | None,
    past: Past,
    span: Span,
    *,
    progress: Callable[[str], None],
    out_of_time: Callable[[], bool],
) -> list[TriedRule]:
    """Tries the rules of `new`, and those of `old` that differ or are gone, on what is stored of `span`.

    Once `out_of_time` no further rule is begun; those that are left say so, as does one that cannot be tried.
    """
    before = {rule.name: rule for rule in old.rules} if old else {}
    gone = [rule for rule in before.values() if rule.name not in {each.name for each in new.rules}]
    number = len(new.rules) + len(gone)

    def tried(rule: Rule) -> Rehearsed:
        if out_of_time():
            return Rehearsed(rule=rule, why_not="not tried: the time was up")
        try:
            return on_history(rule, past, span)
        except Retriable as error:
            return Rehearsed(rule=rule, why_not=f"not tried: {error}")

    found = []
    for place, rule in enumerate(new.rules, 1):
        progress(f"rule {place} of {number}: {rule.name}")
        earlier, now = before.get(rule.name), tried(rule)
        if earlier is None:
            found.append(TriedRule(name=rule.name, change=Change.NEW, now=now, before=None))
        elif earlier == rule:
            found.append(TriedRule(name=rule.name, change=Change.SAME, now=now, before=now))
        else:
            found.append(TriedRule(name=rule.name, change=Change.CHANGED, now=now, before=tried(earlier)))
    for place, rule in enumerate(gone, len(new.rules) + 1):
        progress(f"rule {place} of {number}: {rule.name}")
        found.append(TriedRule(name=rule.name, change=Change.REMOVED, now=None, before=tried(rule)))
    return found


def difference(old: str, new: str) -> Sequence[str]:
    """The lines that differ, with some around them, as `diff -u` shows them without its first two lines."""
    lines = list(unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=_CONTEXT))
    return lines[2:]


def normal_text(text: str) -> str:
    """The text as it is saved: lines end with a line feed, also the last one. Forms send other line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip() + "\n"
