"""The folder of the embedded PostgreSQL's socket: beside the data, unless their path cannot be that of a socket."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

_LONGEST = 103  # bytes of a socket's path: macOS; Linux allows 107
_SOCKET = ".s.PGSQL.5432"
_PLAIN = re.compile(r"[\w/.~+@=-]+")  # the wheel hands the path to a shell unquoted; a comma or colon parts two of them


def socket_folder(data: Path, runtime: Path) -> Path:
    """Where the server of `data` opens its socket.

    Where `data` does not do, it is a folder in the system's folder for temporary files, which only its server's user
    may enter and to which a link in `runtime` leads; at a later start it is used again.

    Raises:
        RuntimeError: the path of the folder for temporary files does not do either.
        OSError: no folder can be made there.
    """
    if _does(data):
        return data
    link = runtime / hashlib.sha256(os.fsencode(data)).hexdigest()[:12]
    owner = data.stat().st_uid
    if not _is_ours(link, owner):
        link.unlink(missing_ok=True)
        link.symlink_to(_new_folder(owner))
    folder = link.readlink() / "socket"  # of its own, since for root the wheel opens the last folder to everyone
    folder.mkdir(exist_ok=True)
    if folder.is_symlink():  # the server's user can make one, and the wheel opens to everyone what it leads to
        raise OSError(f"{folder} is a symbolic link: remove it")
    return folder


def _does(folder: Path) -> bool:
    return bool(_PLAIN.fullmatch(str(folder))) and len(os.fsencode(folder / _SOCKET)) <= _LONGEST


def _is_ours(link: Path, owner: int) -> bool:
    """Whether the folder is still there: another user may have made one by its name after the system cleaned up."""
    if not link.is_symlink():
        return False
    folder = link.readlink()
    return folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == owner


def _new_folder(owner: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="rag-monitor-"))
    if not _does(folder / "socket"):
        folder.rmdir()
        raise RuntimeError(
            f"its socket can be neither in the state directory nor in {folder.parent}: let TMPDIR name a folder with a "
            "short path of letters and digits"
        )
    if owner != os.geteuid():
        shutil.chown(folder, owner)
    return folder
