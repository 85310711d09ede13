"""The commands `monitor alerts …`."""

from __future__ import annotations

import getpass
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.errors import Fatal, OutOfReach, Retriable, WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.alert.silence import Matcher
    from monitor.alert.state import Alert
    from monitor.app.wiring.application import Application

alerts_app = typer.Typer(name="alerts", no_args_is_help=True, help="What the alert rules say now, and said before.")

By = Annotated[str | None, typer.Option("--by", help="Who does it; default: the user of this terminal.")]
Comment = Annotated[str, typer.Option("--comment", help="Why.")]
Name = Annotated[str, typer.Argument(help="Its id, of an episode too, also its first 6 digits; or a rule's name.")]


@alerts_app.command("list")
def alerts_list(
    *,
    active: Annotated[bool, typer.Option("--active", help="Only what fires, pends or is in error.")] = False,
    as_json: AsJson = False,
) -> None:
    """Every alert, what is active first; then what keeps rules from being evaluated and people from being told."""
    from monitor.cli.alert.tables import alerts_table, troubles

    with opened() as application:
        now, history = application.now(), application.alerting.history
        rows, rules, unsent = history.alerts(now), history.rules(), history.unsent()
        silences, problem = history.silences(now), _problem(application)
    if active:
        rows = [row for row in rows if row["state"] not in ("inactive", "resolved")]
    if as_json:
        print_json({"alerts": rows, "rules": rules, "unsent": unsent, "silences": silences, "rules_problem": problem})
        return
    console = Console(highlight=False, emoji=False)
    console.print(alerts_table(rows) if rows else "no alert is active" if active else "no alert was ever pending")
    for line in troubles(rules, unsent, silences, now=now, problem=problem):
        console.print(literal(line), style="yellow")


@alerts_app.command("show")
def alerts_show(name: Name, *, as_json: AsJson = False) -> None:
    """One alert, or all of a rule: what changed, what became of it, who was told and who did what."""
    from monitor.cli.alert.tables import alert_lines, history_table

    with opened() as application:
        alerting, alerts = application.alerting, _named(application, name)
        identities = [alert.fingerprint for alert in alerts]
        events = alerting.history.events(identities)
        actions = alerting.history.actions(identities)
        told = alerting.history.notifications(identities)
        explanations = {alert.episode: alerting.explanations.of(alert.episode) for alert in alerts}
        rows = (
            [row for row in alerting.history.alerts(application.now()) if row["fingerprint"] in identities]
            if as_json
            else []
        )
    if as_json:
        explained = {episode: its.to_json() for episode, its in explanations.items() if its}
        print_json({
            "alerts": rows, "events": events, "actions": actions, "notifications": told, "explanations": explained,
        })  # fmt: skip
        return
    console = Console(highlight=False, emoji=False)
    for alert in alerts:
        heading, *lines = alert_lines(alert)
        console.print(literal(heading), style="bold")
        for line in lines:
            console.print(literal(line))
        explanation = explanations[alert.episode]
        for sentence in explanation.sentences() if explanation else ():
            console.print(literal(f"  {sentence}"))
    console.print(history_table(events, actions, told))


@alerts_app.command("ack")
def alerts_ack(name: Name, *, by: By = None, comment: Comment = "") -> None:
    """Say that somebody is at it: it is not repeated any more, and the messages say who."""
    with opened() as application:
        alerts = [alert for alert in _named(application, name) if alert.state.active]
        done = application.alerting.responses.acknowledge(alerts, by=_who(by), now=application.now(), comment=comment)
    if not alerts:
        typer.echo(f"nothing of {name!r} fires now", err=True)
        raise typer.Exit(1)
    others = ", ".join(sorted({alert.acknowledged_by for alert in alerts if alert.acknowledged_by}))
    before = f"{len(alerts) - done} already by {readable(others)}" if others else ""
    typer.echo("; ".join(filter(None, (f"{done} acknowledged" if done or not before else "", before))))


@alerts_app.command("silence")
def alerts_silence(
    matchers: Annotated[
        list[str], typer.Argument(help='Such as app=shop, severity!=info, topic=~"refund.*"; all have to match.')
    ],
    *,
    length: Annotated[str, typer.Option("--for", help="How long, as 30m, 4h or 2d.")] = "1h",
    by: By = None,
    comment: Comment = "",
    as_json: AsJson = False,
) -> None:
    """Tell nobody of the alerts that match; they are evaluated on, and `rule` and `severity` are labels too."""
    from monitor.alert.notify.actions import new_silence
    from monitor.core.duration import parse_duration
    from monitor.core.text.plain import moment

    wanted = _matchers(matchers)
    with opened() as application:
        try:
            silence = new_silence(wanted, parse_duration(length), by=_who(by), now=application.now(), comment=comment)
        except ValueError as error:
            raise WrongSettings(str(error)) from None
        application.alerting.responses.silence(silence, now=application.now())
        quiet = [alert for alert in application.alerting.store.alerts() if alert.state.active]
    caught = sorted({alert.rule for alert in quiet if silence.holds(alert.matched, silence.starts_at)})
    if as_json:
        print_json({"id": silence.id, "ends_at": silence.ends_at, "silences": caught})
        return
    matched = readable(", ".join(map(str, silence.matchers)))
    typer.echo(f"{silence.id} until {moment(silence.ends_at)}: {matched}")
    typer.echo(f"of what fires now it silences {', '.join(caught) or 'nothing'}")


@alerts_app.command("silences")
def alerts_silences(
    *,
    ended: Annotated[bool, typer.Option("--all", help="Also those that have ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """The silences that hold."""
    from monitor.cli.alert.tables import silences_table

    with opened() as application:
        rows = application.alerting.history.silences(application.now(), ended=ended)
    if as_json:
        print_json(rows)
    else:
        Console(highlight=False, emoji=False).print(silences_table(rows) if rows else "no silence")


@alerts_app.command("unsilence")
def alerts_unsilence(
    silence_id: Annotated[str, typer.Argument(metavar="ID", help="As `alerts silences` shows it.")], *, by: By = None
) -> None:
    """End a silence now."""
    with opened() as application:
        now = application.now()
        ended = application.alerting.responses.unsilence(silence_id, by=_who(by), now=now)
    if not ended:
        raise WrongSettings(f"no silence {silence_id!r} holds; `monitor alerts silences` names them all")
    typer.echo(f"{silence_id} has ended")


@alerts_app.command("test")
def alerts_test(
    receiver: Annotated[str, typer.Argument(help="As rules name it: slack, email, webhook, …")],
) -> None:
    """Send a made-up alert to a receiver, and then that it is resolved; both say that they are a test."""
    from monitor.alert.receivers.sample_alert import trial

    with opened(migrated=False) as application:
        receivers = application.alerting.receivers
        if receiver not in receivers:
            known = ", ".join(receivers)
            see = "docs/on-call/receivers.md"
            raise WrongSettings(f"{receiver!r} is not configured; configured: {known}. See {see}")
        try:
            typer.echo(f"{receiver}: {receivers[receiver].check()}")
            receipt = None
            for notification in trial(receiver, application.now(), url=application.settings.public_url):
                receipt = receivers[receiver].send(replace(notification, previous=receipt))
                typer.echo(f"{notification.news} was taken" + (f": {dict(receipt)}" if receipt else ""))
        except Retriable as error:
            raise OutOfReach(f"{error}; a running monitor would try again") from None
        except Fatal as error:
            typer.echo(f"refused: {error}", err=True)
            raise typer.Exit(1) from None


@alerts_app.command("forget")
def alerts_forget(
    source: Annotated[str, typer.Argument(help="A topic, or the path of a file that was followed.")],
) -> None:
    """Forget how far a topic or file was read that nobody is to read any more, so that it holds no rule up."""
    from monitor.store.ledger.progress import ReadingStore

    with opened() as application:
        forgotten = ReadingStore(application.engine).forget(source)
    if not forgotten:
        raise WrongSettings(f"nobody has read {source!r} lately; `monitor ledger` names what was read")
    typer.echo(f"{readable(source)} is forgotten, until somebody reads it again")


def _problem(application: Application) -> str | None:
    """What is wrong with the rules file as it is now; a running monitor goes on with what it had."""
    try:
        application.alerting.rules  # noqa: B018  reading it is the question
    except WrongSettings as error:
        return f"the rules file is wrong, and what it said before holds on: {str(error).splitlines()[0]}"
    return None


def _named(application: Application, name: str) -> list[Alert]:
    alerts = application.alerting.history.named(name.rstrip("…"))
    if not alerts:
        raise WrongSettings(f"no alert {name!r}; `monitor alerts list` names them all")
    return alerts


def _who(by: str | None) -> str:
    """The name given, or the user's; a container may run under a uid that has none."""
    try:
        return by or getpass.getuser()
    except (KeyError, OSError):  # KeyError before Python 3.13
        return f"uid {os.getuid()}"


def _matchers(texts: list[str]) -> list[Matcher]:
    from monitor.alert.silence import parse_matcher

    try:
        return [parse_matcher(text) for text in texts]
    except ValueError as error:
        raise WrongSettings(str(error)) from None
