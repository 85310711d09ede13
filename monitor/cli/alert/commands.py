"""The commands `monitor alerts …`."""

from __future__ import annotations

import getpass
import os
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from monitor.cli.alert.simulate import alerts_simulate
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.errors import Fatal, OutOfReach, Retriable, WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from monitor.alert.mute import Muting
    from monitor.alert.silence import Matcher
    from monitor.alert.state import Alert
    from monitor.app.wiring.application import Application

alerts_app = typer.Typer(name="alerts", no_args_is_help=True, help="List, acknowledge, silence and test alerts.")

By = Annotated[str | None, typer.Option("--by", help="Your name for the audit trail; default: your login.")]
Comment = Annotated[str, typer.Option("--comment", help="Why.")]
Name = Annotated[
    str, typer.Argument(metavar="ALERT", help="Id of an alert or episode, its first 6 digits, or a rule's name.")
]


@alerts_app.command("list")
def alerts_list(
    *,
    active: Annotated[bool, typer.Option("--active", help="Only alerts that are pending, firing or in error.")] = False,
    as_json: AsJson = False,
) -> None:
    """List alerts, the active ones first, and anything that keeps rules or notifications from working."""
    from monitor.alert.evaluation.reading import too_small
    from monitor.cli.alert.tables import alerts_table, troubles

    with opened() as application:
        now, alerting = application.now(), application.alerting
        history = alerting.history
        rows, rules, unsent = history.alerts(now), history.rules(), history.unsent()
        silences, (mutings, problem) = history.silences(now), _mutes(application, now)
        small = [] if problem else too_small(alerting.rules.rules, alerting.store, now)
        rows = [_with_mute(row, mutings) for row in rows]
    if active:
        rows = [row for row in rows if row["state"] not in ("inactive", "resolved")]
    if as_json:
        found = {"alerts": rows, "rules": rules, "unsent": unsent, "silences": silences}
        print_json({**found, "rules_problem": problem, "too_small": small})
        return
    console = Console(highlight=False, emoji=False)
    console.print(alerts_table(rows) if rows else "no alert is active" if active else "no alert was ever pending")
    if any(row["state"] in ("firing", "error", "no_data") for row in rows):
        console.print("`monitor alerts show ALERT` says why, and what was done")
    for line in (*troubles(rules, unsent, silences, now=now, problem=problem), *small):
        console.print(literal(line), style="yellow")


@alerts_app.command("show")
def alerts_show(name: Name, *, as_json: AsJson = False) -> None:
    """Show the history of one alert, or of all alerts of a rule: states, notifications and what people did."""
    from monitor.alert.state import State
    from monitor.cli.alert.tables import alert_lines, history_table

    with opened() as application:
        alerting, alerts = application.alerting, _named(application, name)
        identities = [alert.fingerprint for alert in alerts]
        now = application.now()
        mutings, _ = _mutes(application, now)
        events = alerting.history.events(identities)
        actions = alerting.history.actions(identities)
        notifications = alerting.history.notifications(identities)
        explanations = {alert.episode: alerting.explanations.of(alert.episode) for alert in alerts}
        rows = (
            [_with_mute(row, mutings) for row in alerting.history.alerts(now) if row["fingerprint"] in identities]
            if as_json
            else []
        )
    if as_json:
        print_json(
            {
                "alerts": rows,
                "events": events,
                "actions": actions,
                "notifications": notifications,
                "explanations": {episode: found.to_json() for episode, found in explanations.items() if found},
            }
        )
        return
    console = Console(highlight=False, emoji=False)
    for alert in alerts:
        goes_on = alert.state.active or alert.state is State.PENDING
        heading, *lines = alert_lines(alert, mutings.get(alert.rule) if goes_on else None)
        console.print(literal(heading), style="bold")
        for line in lines:
            console.print(literal(line))
        explanation = explanations[alert.episode]
        for sentence in (*explanation.conclusion(), *explanation.sentences()) if explanation else ():
            console.print(literal(f"  {sentence}"))
    console.print(history_table(events, actions, notifications))


@alerts_app.command("ack")
def alerts_ack(name: Name, *, by: By = None, comment: Comment = "") -> None:
    """Acknowledge an alert: it is not repeated any more, and its messages name you."""
    with opened() as application:
        alerts = [alert for alert in _named(application, name) if alert.state.active]
        done = application.alerting.responses.acknowledge(alerts, by=_who(by), now=application.now(), comment=comment)
    if not alerts:
        typer.echo(f"no alert of {name!r} is active", err=True)
        raise typer.Exit(1)
    others = ", ".join(sorted({alert.acknowledged_by for alert in alerts if alert.acknowledged_by}))
    earlier = f"{len(alerts) - done} already by {readable(others)}" if others else ""
    typer.echo("; ".join(filter(None, (f"{done} acknowledged" if done or not earlier else "", earlier))))


@alerts_app.command("silence")
def alerts_silence(
    matchers: Annotated[
        list[str],
        typer.Argument(
            help='Such as rule=negative-rate, severity!=info, topic=~"refund.*"; an alert has to match all.'
        ),
    ],
    *,
    length: Annotated[str, typer.Option("--for", help="How long, such as 30m, 4h or 2d.")] = "1h",
    by: By = None,
    comment: Comment = "",
    as_json: AsJson = False,
) -> None:
    """Notify nobody of the alerts that match, for a while.

    They are still evaluated. Matchers test an alert's labels, and `rule` and `severity` too; a label that no alert has
    is told.
    """
    from monitor.alert.notify.actions import new_silence
    from monitor.core.text.duration import parse_duration
    from monitor.core.text.plain import moment

    parsed = _matchers(matchers)
    with opened() as application:
        try:
            silence = new_silence(parsed, parse_duration(length), by=_who(by), now=application.now(), comment=comment)
        except ValueError as error:
            raise WrongSettings(str(error)) from None
        application.alerting.responses.silence(silence, now=application.now())
        alerts = application.alerting.store.alerts()
        known = _known_labels(application, alerts)
    if unknown := dict.fromkeys(matcher.label for matcher in parsed if matcher.label not in known):
        for label in unknown:
            near = "".join(f": did you mean {readable(name)}?" for name in get_close_matches(label, known, n=1))
            typer.echo(f"monitor: no alert has the label {readable(label)!r}, so it counts as empty{near}", err=True)
        typer.echo(f"  the labels are {', '.join(map(readable, known))}", err=True)
        typer.echo(f"  monitor alerts unsilence {silence.id} ends this silence", err=True)
    active = [alert for alert in alerts if alert.state.active]
    silenced = sorted({alert.rule for alert in active if silence.holds(alert.matched, silence.starts_at)})
    if as_json:
        print_json({"id": silence.id, "ends_at": silence.ends_at, "silences": silenced})
        return
    conditions = readable(", ".join(map(str, silence.matchers)))
    typer.echo(f"{silence.id} until {moment(silence.ends_at)}: {conditions}")
    typer.echo(f"active alerts that it silences: {', '.join(silenced) or 'none'}")


@alerts_app.command("silences")
def alerts_silences(
    *,
    ended: Annotated[bool, typer.Option("--all", help="Include silences that have ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the silences in force."""
    from monitor.cli.alert.tables import silences_table

    with opened() as application:
        rows = application.alerting.history.silences(application.now(), ended=ended)
    if as_json:
        print_json(rows)
    else:
        Console(highlight=False, emoji=False).print(silences_table(rows) if rows else "no silences")


@alerts_app.command("unsilence")
def alerts_unsilence(
    silence_id: Annotated[str, typer.Argument(metavar="ID", help="Id, as `alerts silences` shows it.")],
    *,
    by: By = None,
) -> None:
    """End a silence now."""
    with opened() as application:
        ended = application.alerting.responses.unsilence(silence_id, by=_who(by), now=application.now())
    if not ended:
        raise WrongSettings(f"no silence {silence_id!r} is in force; `monitor alerts silences` lists them")
    typer.echo(f"{silence_id} has ended")


@alerts_app.command("test")
def alerts_test(
    receiver: Annotated[str, typer.Argument(help="Receiver, as rules name it: slack, email, webhook, …")],
) -> None:
    """Send a receiver a made-up alert and its resolution, both marked as a test."""
    from monitor.alert.receivers.sample_alert import trial

    with opened(migrated=False) as application:
        receivers = application.alerting.receivers
        if receiver not in receivers:
            known = ", ".join(receivers)
            see = "`monitor docs on-call/receivers`"
            raise WrongSettings(f"{receiver!r} is not configured; configured: {known}. See {see}")
        try:
            typer.echo(f"{receiver}: {receivers[receiver].check()}")
            receipt = None
            for notification in trial(receiver, application.now(), url=application.settings.public_url):
                receipt = receivers[receiver].send(replace(notification, previous=receipt))
                typer.echo(f"{notification.news}: accepted" + (f" with {dict(receipt)}" if receipt else ""))
        except Retriable as error:
            raise OutOfReach(f"{error}; `monitor run` would try again") from None
        except Fatal as error:
            typer.echo(f"refused: {error}", err=True)
            raise typer.Exit(1) from None


@alerts_app.command("forget")
def alerts_forget(
    source: Annotated[str, typer.Argument(help="A topic, or the path of a followed file.")],
) -> None:
    """Forget how far a topic or file was read.

    Rules then no longer wait for a source that is not read any more.
    """
    from monitor.store.ledger.progress import ReadingStore

    with opened() as application:
        readings = ReadingStore(application.engine)
        if not readings.forget(source) and not readings.forget(str(Path(source).resolve())):
            raise WrongSettings(f"no reading of {source!r} is known; `monitor ledger` lists what was read")
    typer.echo(f"{readable(source)} is forgotten until it is read again")


alerts_app.command("simulate")(alerts_simulate)


def _mutes(application: Application, now: datetime) -> tuple[dict[str, Muting], str | None]:
    """The mutes that hold, by rule, or what is wrong with the rules file; a running monitor keeps the earlier rules."""
    try:
        return application.alerting.rules.mutings(now), None
    except WrongSettings as error:
        return {}, f"the rules file is wrong, so the earlier rules stay in force: {str(error).splitlines()[0]}"


def _with_mute(row: Mapping[str, Any], mutings: Mapping[str, Muting]) -> dict[str, Any]:
    goes_on = row["state"] not in ("inactive", "resolved")
    muting = mutings.get(row["rule"]) if goes_on else None
    return {**row, "muted_by": muting.why if muting else None, "muted_until": muting.until if muting else None}


def _named(application: Application, name: str) -> list[Alert]:
    alerts = application.alerting.history.named(name.rstrip("…"))
    if not alerts:
        raise WrongSettings(f"no alert {name!r}; `monitor alerts list` shows all alerts")
    return alerts


def _who(by: str | None) -> str:
    """`by`, or the login name; a container may run under a uid without a name."""
    try:
        return by or getpass.getuser()
    except (KeyError, OSError):  # KeyError before Python 3.13
        return f"uid {os.getuid()}"


def _known_labels(application: Application, alerts: Sequence[Alert]) -> list[str]:
    """The labels that an alert may have: those of every signal, of the rules in force, and of stored alerts."""
    from monitor.alert.signal import LABELS

    own: set[str] = set()
    with suppress(WrongSettings):  # a running monitor keeps the earlier rules
        own = {label for rule in application.alerting.rules.rules for label in rule.labels}
    stored = {label for alert in alerts for label in alert.labels}
    return sorted({*LABELS, "rule", "severity"} | own | stored)


def _matchers(texts: list[str]) -> list[Matcher]:
    from monitor.alert.silence import parse_matcher

    try:
        return [parse_matcher(text) for text in texts]
    except ValueError as error:
        raise WrongSettings(str(error)) from None
