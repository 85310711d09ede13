"""The commands `monitor rules …`: they try rules out before these are in force."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from monitor.cli.alert.rules_versions import rules_export, rules_save, rules_show, rules_versions
from monitor.cli.alert.simulate import RulesFile
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, duration, print_json
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.alert.rule import Rule, RuleSet
    from monitor.alert.window import Span
    from monitor.app.backtest import Rehearsed

rules_app = typer.Typer(
    name="rules", no_args_is_help=True, help="Check the alert rules, and save and compare versions of them."
)
rules_app.command("versions")(rules_versions)
rules_app.command("show")(rules_show)
rules_app.command("export")(rules_export)
rules_app.command("save")(rules_save)


@rules_app.command("check")
def rules_check(
    file: RulesFile = None,
    *,
    against: Annotated[
        str | None, typer.Option(metavar="30d", help="Replay this much stored history and count how often each fires.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a rules file, report each error with its line, and say who is notified when.

    Works without any receiver configured.
    """
    from monitor.cli.alert.tables import episodes_table, rehearsed_table, rules_table

    rules, now = rules_of(file), datetime.now(UTC)
    if against is None:
        if as_json:
            print_json([_rule_json(rule, now) for rule in rules.rules])
        else:
            Console(highlight=False, emoji=False).print(rules_table(rules.rules, now))
            if missing := _not_configured(rules):
                typer.echo(
                    f"not configured here: {', '.join(missing)}; `monitor run` and `rules save` refuse these rules "
                    "where that is so",
                    err=True,
                )
            for line in _unknown_probes(rules):
                typer.echo(line, err=True)
        return
    span, rehearsed = _against(rules, against)
    if as_json:
        print_json([_rehearsed_json(rehearsal) for rehearsal in rehearsed])
        return
    console = Console(highlight=False, emoji=False)
    console.print(rehearsed_table(rehearsed, span))
    if any(rehearsal.episodes for rehearsal in rehearsed):
        console.print(episodes_table(rehearsed))


@rules_app.command("list")
def rules_list(file: RulesFile = None, *, as_json: AsJson = False) -> None:
    """List the rules with owner, runbook, and who is notified when: at first, by escalation, and when nobody is."""
    from monitor.cli.alert.addressed import addressed_json, list_table

    rules, now = rules_of(file).rules, datetime.now(UTC)
    if as_json:
        print_json([{"name": rule.name, **addressed_json(rule, now)} for rule in rules])
    else:
        Console(highlight=False, emoji=False).print(list_table(rules, now))


def _rule_json(rule: Rule, now: datetime) -> dict[str, Any]:
    from monitor.cli.alert.addressed import addressed_json

    return {
        **addressed_json(rule, now),
        "name": rule.name,
        "signal": str(rule.signal),
        "method": rule.method.name,
        "target": str(rule.method.target),
        "rests_on": rule.method.promise,
        "window_seconds": rule.method.window.total_seconds(),
    }


def _rehearsed_json(rehearsed: Rehearsed) -> dict[str, Any]:
    return {
        "name": rehearsed.rule.name,
        "counted": rehearsed.answers,
        "since": rehearsed.since,
        "why_not": rehearsed.why_not,
        "episodes": [
            {"labels": e.labels, "fired_at": e.fired_at, "resolved_at": e.resolved_at, "worst": e.worst}
            for e in rehearsed.episodes
        ],
    }


def rules_of(file: Path | None) -> RuleSet:
    """The rules of a file, or those in force: in the configured file, or in the database."""
    from monitor.alert.receivers import receivers
    from monitor.alert.rules.file import load_rules
    from monitor.alert.rules.version import VersionedRules, parser

    settings = load_settings()
    path = file or settings.rules
    if path is not None:
        return load_rules(path, receivers=tuple(receivers()), docs_url=settings.docs_url)
    with opened(settings) as application:
        parse = parser(lambda: tuple(receivers()), settings.docs_url)
        return VersionedRules(application.alerting.rules_versions, parse).current()


def _not_configured(rules: RuleSet) -> list[str]:
    """The receivers that rules name and that the settings do not configure."""
    from monitor.alert.receivers import configured
    from monitor.app.wiring.alert import course_chart

    named = {name for rule in rules.rules for name in rule.receivers or ()}
    named |= {name for rule in rules.rules for step in rule.escalation for name in step.receivers}
    return sorted(named - set(configured(load_settings(), course_chart)))


def _unknown_probes(rules: RuleSet) -> list[str]:
    """What selects a probe that the configured file of probes does not have, so that the rule never fires."""
    from monitor.probe.file import load_probes

    selected = [(rule.name, name) for rule in rules.rules for name in rule.selector.get("probe", ())]
    path = load_settings().probes
    if path is None or not selected:
        return []
    try:
        known = load_probes(path)
    except WrongSettings as error:
        return [f"the probes that rules select are not checked: {error}"]
    has = ", ".join(map(readable, known))
    return [
        f"{rule}: {path} has no probe {readable(name)!r}; it has: {has}" for rule, name in selected if name not in known
    ]


def _against(rules: RuleSet, length: str) -> tuple[Span, list[Rehearsed]]:
    from monitor.alert.window import MINUTE, window_at
    from monitor.app.backtest import on_history

    whole_minutes = duration(length, "--against") // MINUTE * MINUTE
    if whole_minutes < MINUTE:
        raise WrongSettings("--against must be at least a minute, such as 30d")
    with opened() as application:
        span = window_at(application.now(), whole_minutes, timedelta())
        return span, [on_history(rule, application.alerting.past, span) for rule in rules.rules]
