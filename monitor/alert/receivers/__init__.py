"""Who is told. Adding a receiver is one file and one line in `RECEIVERS`; `app.py` calls `configured`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from monitor.alert.receivers import console, slack
from monitor.ports import Receiver
from monitor.settings import Settings

# Builds the receiver from the settings, or None where they do not ask for it.
Builder: TypeAlias = Callable[[Settings], Receiver | None]

RECEIVERS: Mapping[str, Builder] = {
    "console": console.from_settings,
    "slack": slack.from_settings,
}


def configured(settings: Settings) -> dict[str, Receiver]:
    """The receivers that `settings` ask for, by the name that rules use.

    Raises:
        WrongSettings: a receiver is set up by half.
    """
    built = ((name, build(settings)) for name, build in RECEIVERS.items())
    return {name: receiver for name, receiver in built if receiver is not None}
