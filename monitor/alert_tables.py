"""What `monitor alerts` and `monitor rules` print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median_high
from typing import Any, TypeAlias

from rich.table import Table

from monitor.alert.duration import format_duration
from monitor.alert.rule import Rule
from monitor.alert.window import Span
from monitor.alert.wording import amount
from monitor.rehearsing import Rehearsed, Simulated
from monitor.terminal import literal

Row: TypeAlias = Mapping[str, Any]


def alerts_table(rows: Sequence[Row]) -> Table:
    """One line for each alert."""
    table = Table("alert", "rule and labels", "state", "since (UTC)", "figure then", "acknowledged", box=None)
    for row in rows:
        since = row["resolved_at"] or row["fired_at"] or row["active_since"]
        labels = ", ".join(f"{name}={value}" for name, value in row["labels"].items())
        table.add_row(
            row["fingerprint"][:12],
            literal(f"{row['rule']}\n{labels}"),
            row["state"],
            _moment(since),
            f"{'–' if row['value'] is None else amount(row['value'], row['unit'])}\nof {row['samples']:,}",
            literal(row["acknowledged_by"] or ""),
        )
    for column in table.columns:
        column.overflow = "fold"  # never cut: the id is there to be copied
        column.no_wrap = column is not table.columns[1]
    return table


def troubles(rules: Sequence[Row], unsent: Sequence[Row], silences: Sequence[Row]) -> Iterator[str]:
    """What somebody who trusts the list has to know."""
    if stale := [row for row in rules if row["stale_since"]]:
        since = min(row["stale_since"] for row in stale)
        names = ", ".join(row["rule"] for row in stale)
        yield f"held since {_moment(since)}, since reading is behind (`monitor ledger`): {names}"
    for row in rules:
        if row["error"]:
            yield f"cannot be evaluated since {_moment(row['error_since'])}: {row['rule']}: {row['error']}"
    for row in unsent:
        counts = ", ".join(f"{row[kind]} {kind}" for kind in ("waiting", "lost") if row[kind])
        yield f"{row['receiver']}: notifications {counts} since {_moment(row['since'])}: {row['last_error'] or 'new'}"
    if silences:
        yield f"{len(silences)} silences hold or will: `monitor alerts silences`"


def history_table(events: Sequence[Row], actions: Sequence[Row], told: Sequence[Row]) -> Table:
    """What became of alerts, in the order in which it happened."""
    lines: list[tuple[datetime, str, str, str]] = [
        (
            row["at"], row["fingerprint"][:12], f"{row['from_state']} → {row['to_state']}",
            " ".join(filter(None, (f"{row['samples']:,} counted", row["note"]))),
        )
        for row in events
    ]  # fmt: skip
    lines += [
        (row["at"], row["fingerprint"][:12], row["action"], f"by {row['by']} {row['comment']}") for row in actions
    ]
    lines += [
        (row["made_at"], row["episode"][:12], f"told {row['receiver']}: {row['news']}", _fate(row)) for row in told
    ]
    table = Table("at (UTC)", "of", "what", "", box=None)
    for at, of, what, more in sorted(lines, key=lambda line: line[0]):
        table.add_row(f"{at.astimezone(UTC):%m-%d %H:%M:%S}", of, literal(what), literal(more.strip()))
    return table


def silences_table(rows: Sequence[Row]) -> Table:
    """One line for each silence."""
    table = Table("silence", "of", "from (UTC)", "until", "by", "why", box=None)
    for row in rows:
        table.add_row(
            row["id"],
            literal(", ".join(row["matchers"])),
            _moment(row["starts_at"]),
            _moment(row["ends_at"]),
            literal(row["created_by"]),
            literal(row["comment"]),
        )
    return table


def rules_table(rules: Sequence[Rule]) -> Table:
    """One line for each rule."""
    table = Table("rule", "signal", "method", "for", "severity", "tells", box=None)
    for rule in rules:
        table.add_row(
            literal(rule.name),
            str(rule.signal),
            f"{rule.method.name}, {rule.method.target} over {format_duration(rule.method.window)}",
            format_duration(rule.for_),
            rule.severity,
            "all configured" if rule.receivers is None else ", ".join(rule.receivers),
        )
    return table


def rehearsed_table(rehearsed: Sequence[Rehearsed], span: Span) -> Table:
    """How often each rule would have fired, and for how long."""
    weeks = span.length / timedelta(days=7)
    table = Table("rule", "fired", "a week", "for, in all", "longest", "", box=None)
    for its in rehearsed:
        lasted = [(e.resolved_at or span.end) - e.fired_at for e in its.episodes]
        if its.why_not:
            table.add_row(literal(its.rule.name), "–", "–", "–", "–", its.why_not)
            continue
        table.add_row(
            literal(its.rule.name),
            str(len(lasted)),
            f"{len(lasted) / weeks:.2f}",
            format_duration(sum(lasted, timedelta())),
            format_duration(max(lasted, default=timedelta())),
            f"{its.answers:,} counted",
        )
    return table


def episodes_table(rehearsed: Sequence[Rehearsed]) -> Table:
    """When each would have fired."""
    table = Table("rule", "labels", "fired (UTC)", "resolved", "worst", box=None)
    for its in rehearsed:
        for episode in its.episodes:
            table.add_row(
                literal(its.rule.name),
                literal(", ".join(f"{name}={value}" for name, value in episode.labels.items())),
                _moment(episode.fired_at),
                "not yet" if episode.resolved_at is None else _moment(episode.resolved_at),
                "–" if episode.worst is None else amount(episode.worst, its.rule.unit),
            )
    return table


def simulated_table(simulated: Sequence[Simulated]) -> Table:
    """False pages, and how soon incidents were seen."""
    table = Table("rule", "false pages a week", "incidents seen", "median delay", "longest", "pages again", box=None)
    for its in simulated:
        if its.why_not:
            table.add_row(literal(its.rule.name), "–", "–", "–", "–", its.why_not)
            continue
        seen = sorted(delay for delay in its.delays if delay is not None)
        table.add_row(
            literal(its.rule.name),
            f"{its.false_pages / its.weeks:.2f}",
            f"{len(seen)} of {len(its.delays)}" if its.delays else "–",
            format_duration(median_high(seen)) if seen else "–",
            format_duration(seen[-1]) if seen else "–",
            str(its.pages_again) if its.delays else "–",
        )
    return table


def _fate(row: Row) -> str:
    if row["delivered_at"]:
        return "delivered" + (f" after {row['attempts']} failures" if row["attempts"] else "")
    if row["given_up"]:
        return f"lost: {row['last_error']}"
    return f"waiting: {row['last_error']}" if row["last_error"] else "waiting"


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%m-%d %H:%M}"
