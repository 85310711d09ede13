"""Opens the dashboard on what the demo has stored."""

from __future__ import annotations

import os
import sys
import webbrowser

from rich.console import Console

from monitor.app.wiring.application import Application
from monitor.cli.terminal import stopping
from monitor.core.settings.load import Settings
from monitor.core.settings.web import WebSettings
from monitor.web.connections import listening
from monitor.web.server import serve


def settings_of_dashboard(settings: Settings) -> Settings:
    """The settings with a dashboard for this machine alone, at the configured port.

    Raises:
        WrongSettings: the port is taken, which nobody should learn only when the demo has been played.
    """
    web = WebSettings(port=settings.web.port)
    listening(web.host, web.port, "MONITOR_WEB__PORT").close()
    return settings.model_copy(update={"web": web, "public_url": None})


def show_dashboard(application: Application, console: Console) -> None:
    """Serves until Ctrl-C or SIGTERM; opens a browser if a person is there who has one."""

    def tell_link(link: str) -> None:
        console.print("\nThe dashboard; this link signs you in, once. Ctrl-C ends it.", markup=False)
        console.print(link, markup=False, soft_wrap=True)
        if console.is_terminal and _has_desktop():
            webbrowser.open(link)

    with stopping() as stop:
        serve(application, stop, tell_link=tell_link)


def _has_desktop() -> bool:
    """Whether a window can open here. Without one, a browser for terminals would take the terminal."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
