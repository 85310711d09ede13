"""Receivers: a notification comes in, a message to one service goes out.

A new receiver takes one file and one line in `RECEIVERS`, or an entry point of a package (docs/develop/extend.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from monitor.alert.ports import Receiver
from monitor.alert.receivers.receiver import Builder, Draw
from monitor.core.installed import plugins
from monitor.core.settings.load import Settings


def _of(module: str, *, section: str | None = None) -> Builder:
    """Builds the receiver of a module; imports it only if the section has a setting, since some take long to load."""

    def build(settings: Settings, draw: Draw | None) -> Receiver | None:
        if section is not None and not getattr(settings, section).model_fields_set:
            return None
        receiver: Receiver | None = import_module(f"{__name__}.{module}").from_settings(settings, draw)
        return receiver

    return build


RECEIVERS: Mapping[str, Builder] = {
    "console": _of("console"),
    "slack": _of("slack.bot", section="slack"),
    "alertmanager": _of("alertmanager", section="alertmanager"),
    "pagerduty": _of("pagerduty", section="pagerduty"),
    "teams": _of("teams", section="teams"),
    "webhook": _of("webhook", section="webhook"),
    "email": _of("email", section="email"),
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
