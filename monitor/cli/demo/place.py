"""A demo's own place: its settings, its database, and the beginning of a line that runs a command there."""

from __future__ import annotations

import fcntl
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr

from monitor.app.wiring.application import Application
from monitor.cli.demo.with_llm import with_llm
from monitor.core.errors import WrongSettings
from monitor.core.settings.audit import AuditSettings
from monitor.core.settings.file import IN_WORKING_DIRECTORY, NAMED_BY
from monitor.core.settings.load import Settings
from monitor.simulate.traffic import PRICES
from monitor.store.embedded_postgres import embedded_database

_ELSEWHERE = (
    "MONITOR_DATABASE_URL",
    "MONITOR_AUDIT",
    "MONITOR_RULES",
    NAMED_BY,
)  # settings that lead a command away from the demo


def settings_of_demo(settings: Settings, llm: str | None, *, folder: str) -> Settings:
    """The settings with `<state dir>/<folder>` as the place; without `llm`, sidecar and judge are off.

    Raises:
        MonitorError: the embedded database does not start, or the server `llm` does not answer.
    """
    own = settings.state_dir / folder
    url = SecretStr(embedded_database(own))
    off = {name: getattr(settings, name).model_copy(update={"mode": "off"}) for name in ("sidecar", "judge")}
    chosen = settings.model_copy(update=off) if llm is None else with_llm(settings, llm)
    place = {"database_url": url, "state_dir": own, "audit": AuditSettings(), "rules": None, "prices": PRICES}
    return chosen.model_copy(update=place)


@contextmanager
def alone(own: Path) -> Iterator[None]:
    """Keeps other demos out of the place `own`, which they would empty under this one.

    Raises:
        WrongSettings: one is there already.
    """
    with (own / "demo.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released when the file is closed, however we end
        except BlockingIOError:
            raise WrongSettings(
                f"another demo is at work in {own}; end it first, or let MONITOR_STATE_DIR name another folder"
            ) from None
        yield


def empty(application: Application) -> None:
    """Removes what the last demo stored in this place."""
    with application.engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    application.auditing.witness_file.unlink(missing_ok=True)  # it knows the trail of the last demo


def in_the_demo(own: Path, program: str) -> str:
    """The beginning of a line for a shell that runs `program` on the demo, whatever settings are in force."""
    away = [name for name in sorted(os.environ) if name.startswith(_ELSEWHERE)]
    unset = f"env {' '.join(f'-u {name}' for name in away)} " if away else ""
    state, folder = shlex.quote(str(own.absolute())), ""
    if IN_WORKING_DIRECTORY.exists():  # it is read from the working directory, so the line leaves that
        folder = f"cd {state} && "
        program = str(Path(program).absolute()) if "/" in program else program
    return f"{folder}{unset}MONITOR_STATE_DIR={state} {shlex.quote(program)}"
