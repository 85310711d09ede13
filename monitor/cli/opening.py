"""Opens the application for one command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from monitor.app.logs import use_format

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application
    from monitor.core.settings.load import Settings


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
