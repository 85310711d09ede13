"""Who is notified of a rule's alerts and when, in words, for `monitor rules check` and `monitor rules list`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from rich.table import Table

from monitor.alert.rule import Rule
from monitor.alert.wording import muted_words
from monitor.cli.terminal import literal
from monitor.core.text.duration import format_duration


def addressed(rule: Rule, now: datetime) -> Iterator[str]:
    """Yields who is notified at first, who after which time without acknowledgement, and when nobody is."""
    yield "all" if rule.receivers is None else ", ".join(rule.receivers)
    for step in rule.escalation:
        yield f"after {format_duration(step.after)} unacknowledged: {', '.join(step.receivers)}"
    if rule.mute.muted:
        yield f"not during {', '.join(rule.mute.muted)}"
    if rule.mute.active:
        yield f"only during {', '.join(rule.mute.active)}"
    if muting := rule.mute.at(now):
        yield f"now {muted_words(muting)}"


def addressed_json(rule: Rule, now: datetime) -> dict[str, Any]:
    """The same for programs; `receivers` null means every configured one."""
    muting = rule.mute.at(now)
    return {
        "severity": rule.severity,
        "owner": rule.owner,
        "runbook": rule.described.get("runbook"),
        "receivers": None if rule.receivers is None else list(rule.receivers),
        "escalation": [
            {"after_seconds": step.after.total_seconds(), "receivers": list(step.receivers)} for step in rule.escalation
        ],
        "mute_time_intervals": list(rule.mute.muted),
        "active_time_intervals": list(rule.mute.active),
        "muted_by": muting.why if muting else None,
        "muted_until": muting.until if muting else None,
    }


def list_table(rules: Sequence[Rule], now: datetime) -> Table:
    """Each rule with its owner, its runbook, and whom it notifies when."""
    table = Table("rule", "owner and runbook", "notified", box=None)
    for rule in rules:
        described = rule.described
        whose = "\n".join(text for name in ("owner", "runbook") if (text := described.get(name)))
        notified = "\n".join(addressed(rule, now))
        table.add_row(literal(f"{rule.name}\n{rule.severity}"), literal(whose or "none"), literal(notified))
    for column in table.columns:
        column.overflow = "fold"
    return table
