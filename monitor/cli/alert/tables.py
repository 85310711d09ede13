"""What `monitor alerts` and `monitor rules` print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median_high
from typing import Any, TypeAlias

from rich.cells import cell_len
from rich.table import Table

from monitor.alert.rule import Rule
from monitor.alert.state import Alert
from monitor.alert.window import Span
from monitor.alert.wording import UNWATCHED, amount, signal_words
from monitor.app.backtest import Rehearsed, Simulated
from monitor.cli.terminal import literal
from monitor.core.duration import format_duration
from monitor.core.text.plain import moment

Row: TypeAlias = Mapping[str, Any]
_WEEK = timedelta(days=7)
_MAX_WHOLE = 30  # of a name; a longer one is broken where the terminal is narrow


def alerts_table(rows: Sequence[Row]) -> Table:
    """One line for each alert."""
    table = Table("alert", "rule and labels", "state", "since (UTC)", "figure then", "acknowledged", box=None)
    for row in rows:
        since = row["resolved_at"] or row["fired_at"] or row["active_since"]
        table.add_row(
            row["fingerprint"][:12],
            literal(f"{row['rule']}\n{_listed(row['labels'])}"),
            row["state"] + (f"\nsilenced until {row['silenced_until']:%H:%M}" if row["silenced_until"] else ""),
            _day_and_time(since),
            f"{'–' if row['value'] is None else amount(row['value'], row['unit'])}\nof {row['samples']:,}",
            literal(row["acknowledged_by"] or ""),
        )
    return _foldable(table, whole=12)


def alert_lines(alert: Alert) -> Iterator[str]:
    """One alert in full; the first line is its heading."""
    since = alert.resolved_at or alert.fired_at or alert.active_since
    yield f"{alert.rule}: {alert.state} since {moment(since)}, {alert.severity}, episode {alert.episode[:12]}"
    if labels := _listed(alert.labels):
        yield f"  {labels}"
    value = "unknown" if alert.value is None else amount(alert.value, alert.unit)
    line = f"threshold: {'below' if alert.below else 'above'} {amount(alert.bound, alert.unit)}"
    counted = f", of {alert.samples:,} in {format_duration(alert.window)}" if alert.window else ""
    yield f"  {signal_words(alert.signal)}: {value}, {line}{counted}"
    if alert.acknowledged_by and alert.acknowledged_at:
        yield f"  acknowledged by {alert.acknowledged_by}, {moment(alert.acknowledged_at)}"
    for text in filter(None, (alert.detail, alert.note, *alert.annotations.values())):
        yield f"  {text}"


def troubles(
    rules: Sequence[Row], unsent: Sequence[Row], silences: Sequence[Row], *, now: datetime, problem: str | None = None
) -> Iterator[str]:
    """What somebody who trusts the list has to know; `problem` is that of the rules file."""
    if problem:
        yield problem
    if rules and (last := max(row["evaluated_at"] for row in rules)) < now - UNWATCHED:
        yield f"nobody has evaluated the rules since {moment(last)}: no `monitor run` is at work"
    if stale := [row for row in rules if row["stale_since"]]:
        since = min(row["stale_since"] for row in stale)
        names = ", ".join(row["rule"] for row in stale)
        yield f"held since {moment(since)}, since reading is behind (`monitor ledger`): {names}"
    for row in rules:
        if row["error"]:
            yield f"cannot be evaluated since {moment(row['error_since'])}: {row['rule']}: {row['error']}"
    for row in unsent:
        counts = ", ".join(f"{row[kind]} {kind}" for kind in ("waiting", "lost") if row[kind])
        yield f"{row['receiver']}: notifications {counts} since {moment(row['since'])}: {row['last_error'] or 'new'}"
    if silences:
        held = "1 silence holds" if len(silences) == 1 else f"{len(silences)} silences hold"
        yield f"{held}: `monitor alerts silences`"


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
        table.add_row(f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}", of, literal(what), literal(more.strip()))
    return _foldable(table, whole=19)


def silences_table(rows: Sequence[Row]) -> Table:
    """One line for each silence."""
    table = Table("silence", "of", "from (UTC)", "until (UTC)", "by and why", box=None)
    for row in rows:
        table.add_row(
            row["id"],
            literal("\n".join(row["matchers"])),
            _day_and_time(row["starts_at"]),
            _day_and_time(row["ends_at"]),
            literal("\n".join(filter(None, (row["created_by"], row["comment"])))),
        )
    return _foldable(table, whole=12)


def rules_table(rules: Sequence[Rule]) -> Table:
    """One line for each rule."""
    table = Table("rule and signal", "method", "severity", "tells", box=None)
    for rule in rules:
        wait = f", for {format_duration(rule.for_)}" if rule.for_ else ""
        over = "" if rule.signal.is_momentary else f" over {format_duration(rule.method.window)}"
        table.add_row(
            literal(f"{rule.name}\n{rule.signal}"),
            f"{rule.method.name}, {rule.method.target}{over}{wait}",
            rule.severity,
            literal("all" if rule.receivers is None else ", ".join(rule.receivers)),
        )
    return _foldable(table, whole=_longest(rule.name for rule in rules))


def rehearsed_table(rehearsed: Sequence[Rehearsed], span: Span) -> Table:
    """How often each rule would have fired, and for how long."""
    table = Table("rule", "fired", "a week", "for, in all", "longest", box=None)
    for its in rehearsed:
        if its.why_not:
            table.add_row(literal(f"{its.rule.name}\n{its.why_not}"), *"––––")
            continue
        lasted = [(e.resolved_at or span.end) - e.fired_at for e in its.episodes]
        table.add_row(
            literal(f"{its.rule.name}\n{_history(its, span)}"),
            str(len(lasted)),
            f"{len(lasted) / ((span.end - its.since) / _WEEK):.2f}" if its.since else "–",
            format_duration(sum(lasted, timedelta())),
            format_duration(max(lasted, default=timedelta())),
        )
    return _foldable(table, whole=_longest(its.rule.name for its in rehearsed))


def episodes_table(rehearsed: Sequence[Rehearsed]) -> Table:
    """When each would have fired."""
    table = Table("rule and labels", "fired (UTC)", "resolved (UTC)", "worst", box=None)
    for its in rehearsed:
        for episode in its.episodes:
            table.add_row(
                literal(f"{its.rule.name}\n{_listed(episode.labels)}"),
                _minute(episode.fired_at),
                "not yet" if episode.resolved_at is None else _minute(episode.resolved_at),
                "–" if episode.worst is None else amount(episode.worst, its.rule.unit),
            )
    return _foldable(table, whole=_longest(its.rule.name for its in rehearsed))


def simulated_table(simulated: Sequence[Simulated]) -> Table:
    """False pages, and how soon incidents were seen."""
    table = Table(
        "rule", "false pages\na week", "incidents\nseen", "median\ndelay", "longest", "pages\nagain", box=None
    )
    for its in simulated:
        if its.why_not:
            table.add_row(literal(f"{its.rule.name}\n{its.why_not}"), *"–––––")
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
    return _foldable(table, whole=_longest(its.rule.name for its in simulated))


def _history(its: Rehearsed, span: Span) -> str:
    if its.since is None:
        return "nothing counted"
    short = its.since > span.start + timedelta(hours=1)
    return f"{its.answers:,} counted" + (f", from {moment(its.since)} on only" if short else "")


def _fate(row: Row) -> str:
    if row["delivered_at"]:
        return "delivered" + (f" after {row['attempts']} failures" if row["attempts"] else "")
    if row["given_up"]:
        return f"lost: {row['last_error']}"
    return f"waiting: {row['last_error']}" if row["last_error"] else "waiting"


def _listed(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in labels.items() if value)


def _minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def _day_and_time(at: datetime) -> str:
    """On two lines, for tables with many columns."""
    return f"{at.astimezone(UTC):%Y-%m-%d\n%H:%M}"


def _longest(names: Iterable[str]) -> int:
    return min(max(map(cell_len, names), default=0), _MAX_WHOLE)


def _foldable(table: Table, *, whole: int) -> Table:
    """On a narrow terminal lines are broken and nothing is cut; `whole` characters of the first column stay in one."""
    for column in table.columns:
        column.overflow = "fold"
    table.columns[0].min_width = whole
    return table
