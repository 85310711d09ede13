"""Receivers: a notification comes in, a message to one service goes out.

A new receiver takes one file and one line in `RECEIVERS`, or an entry point of a package (docs/develop/extend.md).
"""

from __future__ import annotations

from collections.abc import Mapping

from monitor.alert.ports import Receiver
from monitor.alert.receivers import alertmanager, console, email, pagerduty, teams, webhook
from monitor.alert.receivers.receiver import Builder, Draw
from monitor.alert.receivers.slack import bot as slack
from monitor.core import plugins
from monitor.core.settings.load import Settings

RECEIVERS: Mapping[str, Builder] = {
    "console": console.from_settings,
    "slack": slack.from_settings,
    "alertmanager": alertmanager.from_settings,
    "pagerduty": pagerduty.from_settings,
    "teams": teams.from_settings,
    "webhook": webhook.from_settings,
    "email": email.from_settings,
}


def receivers() -> dict[str, Builder]:
    """Ours, and those that installed packages add, by name.

    Raises:
        WrongSettings: a package's receiver cannot be used.
    """
    return plugins.with_plugins(plugins.RECEIVERS, RECEIVERS, problem=plugins.function_of("the settings"))


def configured(settings: Settings, draw: Draw | None = None) -> dict[str, Receiver]:
    """The receivers that `settings` configure, by the name that rules use; `draw` makes charts for some of them.

    Raises:
        WrongSettings: the settings of a receiver are incomplete, or a package's receiver cannot be used.
    """
    built = ((name, build(settings, draw)) for name, build in receivers().items())
    return {name: receiver for name, receiver in built if receiver is not None}
