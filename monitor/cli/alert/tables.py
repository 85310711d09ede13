"""Tables and lines that `monitor alerts` and `monitor rules` print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median_high
from typing import Any, TypeAlias

from rich.cells import cell_len
from rich.table import Table

from monitor.alert.figures import amount, capital, figure
from monitor.alert.mute import Muting
from monitor.alert.notify.notified import described
from monitor.alert.receivers.text import lines_of
from monitor.alert.rule import Rule
from monitor.alert.rules.words import fires_when
from monitor.alert.state import Alert
from monitor.alert.window import Span
from monitor.alert.wording import UNWATCHED, escalated_words, muted_words, name_of
from monitor.app.backtest import Rehearsed, Simulated
from monitor.cli.alert.addressed import addressed
from monitor.cli.terminal import literal, plural
from monitor.core.text.duration import format_duration
from monitor.core.text.plain import moment

Row: TypeAlias = Mapping[str, Any]
_DAY, _WEEK = timedelta(days=1), timedelta(days=7)
_NAMED = ("owner", "runbook")  # annotations whose text does not say what it is
_MAX_WHOLE = 30  # characters of a name; a longer name wraps if the terminal is narrow


def alerts_table(rows: Sequence[Row]) -> Table:
    table = Table("alert", "rule and labels", "state", "started (UTC)", "figure then", box=None)
    for row in rows:
        counted = f"of {row['samples']:,}"
        if row["quiet_since"]:
            counted = f"nothing since {row['quiet_since'].astimezone(UTC):%H:%M}"
        table.add_row(
            row["fingerprint"][:12],
            literal("\n".join((row["rule"], *(f"{name}={value}" for name, value in row["labels"].items() if value)))),
            literal("\n".join(filter(None, (row["state"], _quiet(row), _acknowledged(row))))),
            _day_and_time(row["fired_at"] or row["active_since"]),
            f"{'–' if row['value'] is None else amount(row['value'], row['unit'])}\n{counted}",
        )
    return _foldable(table, whole=12)


def alert_lines(alert: Alert, muting: Muting | None = None) -> Iterator[str]:
    """Yields one alert in full; the first line is its heading."""
    notified = described(alert)
    state = "resolved" if alert.resolved_at else f"{alert.state.replace('_', ' ')} since {moment(alert.started_at)}"
    yield f"{name_of(notified)}: {state}, {alert.severity}, episode {alert.episode[:12]}"
    if notified.status == "error" or alert.quiet_since:
        yield f"  {capital(figure(notified))}"
    if muting:
        yield f"  {capital(muted_words(muting))}"
    yield from (f"  {name}: {value}" for name, value in lines_of(notified))


def troubles(
    rules: Sequence[Row], unsent: Sequence[Row], silences: Sequence[Row], *, now: datetime, problem: str | None = None
) -> Iterator[str]:
    """Yields why the list of alerts may not be trusted; `problem` is what is wrong with the rules file."""
    if problem:
        yield problem
    if rules:
        last = max(row["evaluated_at"] for row in rules)
        if last < now - UNWATCHED:
            yield f"no process has evaluated the rules since {moment(last)}: start `monitor run` or `monitor collect`"
        rules = [row for row in rules if row["evaluated_at"] >= last - UNWATCHED]  # others are no longer in force
    if stale := [row for row in rules if row["stale_since"]]:
        since = min(row["stale_since"] for row in stale)
        names = ", ".join(row["rule"] for row in stale)
        yield f"not evaluated since {moment(since)}, because reading is behind (see `monitor ledger`): {names}"
        yield "a source that nobody reads any more holds them back until `monitor alerts forget SOURCE`"
    for row in rules:
        if held := row.get("held"):
            known = "until the usual level is known (a day and 200 answers)"
            yield f"{row['rule']}: not judged {known}, for {plural(held, 'combination')} of labels"
        if row["error"]:
            yield f"cannot be evaluated since {moment(row['error_since'])}: {row['rule']}: {row['error']}"
    for row in unsent:
        counts = ", ".join(f"{row[kind]} {kind}" for kind in ("waiting", "lost") if row[kind])
        since, why = moment(row["since"]), row["last_error"] or "not tried yet"
        yield f"{row['receiver']}: undelivered notifications ({counts}) since {since}: {why}"
    if silences:
        yield f"{plural(len(silences), 'silence')} in force: see `monitor alerts silences`"


def history_table(events: Sequence[Row], actions: Sequence[Row], notifications: Sequence[Row]) -> Table:
    """Transitions, actions and notifications of alerts, in the order of time."""
    lines: list[tuple[datetime, str, str, str]] = []
    for row in events:
        note = " ".join(filter(None, (f"{row['samples']:,} counted", row["note"])))
        lines.append((row["at"], row["fingerprint"][:12], f"{row['from_state']} → {row['to_state']}", note))
    lines += [
        (row["at"], row["fingerprint"][:12], row["action"], f"by {row['by']} {row['comment']}") for row in actions
    ]
    for row in notifications:
        after, receiver = row["escalated_after"], row["receiver"]
        what = f"escalated to {receiver}: {escalated_words(after)}" if after else f"to {receiver}: {row['news']}"
        lines.append((row["made_at"], row["episode"][:12], what, _delivery(row)))
    table = Table("at (UTC)", "alert", "event", "", box=None)
    for at, alert, event, more in sorted(lines, key=lambda line: line[0]):
        table.add_row(f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}", alert, literal(event), literal(more.strip()))
    return _foldable(table, whole=19)


def silences_table(rows: Sequence[Row]) -> Table:
    table = Table("silence", "alerts", "from (UTC)", "until (UTC)", "by and why", box=None)
    for row in rows:
        table.add_row(
            row["id"],
            literal("\n".join(row["matchers"])),
            _day_and_time(row["starts_at"]),
            _day_and_time(row["ends_at"]),
            literal("\n".join(filter(None, (row["created_by"], row["comment"])))),
        )
    return _foldable(table, whole=12)


def rules_table(rules: Sequence[Rule], now: datetime) -> Table:
    table = Table("rule and signal", "method, and what its pages rest on", "severity", "notified", box=None)
    for rule in rules:
        table.add_row(
            literal(f"{rule.name}\n{rule.signal}"),
            f"{rule.method.name}: {fires_when(rule)}\n{rule.method.promise}",
            rule.severity,
            literal("\n".join(addressed(rule, now))),
        )
    return _foldable(table, whole=_longest(rule.name for rule in rules))


def rehearsed_table(rehearsed: Sequence[Rehearsed], span: Span) -> Table:
    """How often each rule would have fired in `span`, and for how long.

    A number per week is given from a day of answers on: less says nothing of a week.
    """
    table = Table("rule", "fired", "per week", "in total", "longest", box=None)
    for rehearsal in rehearsed:
        if rehearsal.why_not:
            table.add_row(literal(f"{rehearsal.rule.name}\n{rehearsal.why_not}"), *"––––")
            continue
        lasted = [(e.resolved_at or span.end) - e.fired_at for e in rehearsal.episodes]
        table.add_row(
            literal(f"{rehearsal.rule.name}\n{_history(rehearsal, span)}"),
            str(len(lasted)),
            _per_week(len(lasted), rehearsal, span),
            format_duration(sum(lasted, timedelta())),
            format_duration(max(lasted, default=timedelta())),
        )
    if any(each.since and span.end - each.since < _DAY for each in rehearsed):
        table.caption, table.caption_justify = "Less than a day of answers gives no number per week.", "left"
    return _foldable(table, whole=_longest(rehearsal.rule.name for rehearsal in rehearsed))


def episodes_table(rehearsed: Sequence[Rehearsed]) -> Table:
    """When each rule would have fired."""
    table = Table("rule and labels", "fired (UTC)", "resolved (UTC)", "worst", box=None)
    for rehearsal in rehearsed:
        for episode in rehearsal.episodes:
            table.add_row(
                literal(f"{rehearsal.rule.name}\n{_listed(episode.labels)}"),
                _minute(episode.fired_at),
                "not yet" if episode.resolved_at is None else _minute(episode.resolved_at),
                "–" if episode.worst is None else amount(episode.worst, rehearsal.rule.unit),
            )
    return _foldable(table, whole=_longest(rehearsal.rule.name for rehearsal in rehearsed))


def simulated_table(simulated: Sequence[Simulated]) -> Table:
    """False pages, and how soon each rule saw the incidents."""
    table = Table(
        "rule", "false pages\nper week", "incidents\nseen", "median\ndelay", "longest", "repeated\npages", box=None
    )
    for simulation in simulated:
        if simulation.why_not:
            table.add_row(literal(f"{simulation.rule.name}\n{simulation.why_not}"), *"–––––")
            continue
        seen = sorted(delay for delay in simulation.delays if delay is not None)
        table.add_row(
            literal(simulation.rule.name),
            f"{simulation.false_pages / simulation.weeks:.2f}",
            f"{len(seen)} of {len(simulation.delays)}" if simulation.delays else "–",
            format_duration(median_high(seen)) if seen else "–",
            format_duration(seen[-1]) if seen else "–",
            str(simulation.pages_again) if simulation.delays else "–",
        )
    return _foldable(table, whole=_longest(simulation.rule.name for simulation in simulated))


def _quiet(row: Row) -> str:
    if row["silenced_until"]:
        return f"silenced until {row['silenced_until']:%H:%M}"
    until = row.get("muted_until")
    return "" if row.get("muted_by") is None else f"muted until {until:%H:%M}" if until else "muted"


def _acknowledged(row: Row) -> str:
    return f"acknowledged by {row['acknowledged_by']}" if row["acknowledged_by"] else ""


def _history(rehearsal: Rehearsed, span: Span) -> str:
    if rehearsal.since is None:
        return "nothing counted"
    short = rehearsal.since > span.start + timedelta(hours=1)
    covered = format_duration(span.end - rehearsal.since)
    return f"{rehearsal.answers:,} counted" + (f", all in the last {covered}" if short else "")


def _per_week(number: int, rehearsal: Rehearsed, span: Span) -> str:
    if rehearsal.since is None or span.end - rehearsal.since < _DAY:
        return "–"
    return f"{number / ((span.end - rehearsal.since) / _WEEK):.2f}"


def _delivery(row: Row) -> str:
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
    """Day and time on two lines, for tables with many columns."""
    return f"{at.astimezone(UTC):%Y-%m-%d\n%H:%M}"


def _longest(names: Iterable[str]) -> int:
    return min(max(map(cell_len, names), default=0), _MAX_WHOLE)


def _foldable(table: Table, *, whole: int) -> Table:
    """Wraps cells on a narrow terminal instead of cutting them; the first column is at least `whole` wide."""
    for column in table.columns:
        column.overflow = "fold"
    table.columns[0].min_width = whole
    return table
