"""Opens the application for one command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from monitor.app.logs import use_format
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application
    from monitor.core.settings.load import Settings

_MOST_NAMED = 10  # apps in a message


@contextmanager
def opened(settings: Settings | None = None, *, migrated: bool = True, traces: bool = True) -> Iterator[Application]:
    """Yields the application and closes it when the block ends.

    Without `settings` it reads those in force. It brings the database to this release's tables first; `migrated=False`
    leaves the database alone, for a command that needs none or migrates it by itself; `traces=False` sends none. The
    imports are inside, so that `monitor --help` does not wait for them.
    """
    from monitor.app.wiring.application import Application
    from monitor.core.settings.load import load_settings

    settings = load_settings() if settings is None else settings
    settings = settings.model_copy(update={"log_format": use_format(settings.log_format)})
    with Application(settings, traces=traces) as application:
        if migrated:
            application.migrate()
        yield application


def only_app(application: Application, named: str | None) -> str:
    """The app that the command names, or the only one that has answers.

    Raises:
        WrongSettings: none is named, and none or several have answers.
    """
    if named is not None:
        return named
    stored = application.overview.labels("app")["app"]
    if len(stored) == 1:
        return stored[0]
    if not stored:
        raise WrongSettings("no answers are stored; `monitor replay FILE` stores some")
    names = ", ".join(readable(name) for name in stored[:_MOST_NAMED])
    names += f" and {len(stored) - _MOST_NAMED} more" if len(stored) > _MOST_NAMED else ""
    raise WrongSettings(f"several apps have answers: {names}; name one with --app")
