"""The file of the key that signs the audit trail: made once, for a trail that nobody has signed yet."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

from monitor.audit.key import Signer
from monitor.core.errors import WrongSettings
from monitor.core.files import create

log = logging.getLogger(__name__)


def key_at(path: Path, origin: str, *, before_new: Callable[[], None]) -> Signer:
    """The key in the file. A missing file is created, readable by its owner only, unless `before_new` raises.

    Raises:
        WrongSettings: the file cannot be read or written, others may know it, or it holds no key of this log.
    """
    try:
        if not path.exists():
            before_new()
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if create(path, Signer.generate(origin).private_key + "\n", mode=0o600):
                log.warning(
                    "created a new audit key: %s. Keep a copy of this file, "
                    "and somewhere else what `monitor audit key` prints",
                    path,
                )
    except OSError as error:
        raise WrongSettings(f"{path}: cannot create the audit key: {error}") from None
    signer = stored_key(path)
    if signer.name != origin:
        raise WrongSettings(f"{path}: is the key of {signer.name}, but MONITOR_AUDIT__ORIGIN is {origin}")
    return signer


def _refusal(found: os.stat_result, path: Path) -> str | None:
    """Why the file may not hold the key, and what to do about it; None if only this user and root know what is in it.

    A file of root's may be readable by its group, as PostgreSQL has it for keys of TLS: that is how Kubernetes and
    systemd give a secret to a process that is not root.
    """
    me = os.geteuid()
    if found.st_uid not in {0, me}:
        return (
            f"{path}: belongs to another user ({found.st_uid}), who can read the audit key. If that is the user of "
            f"monitor, run this as that user; if you made the key yourself, run chown {me} {path} as root; otherwise "
            "remove the file"
        )
    given = found.st_uid == 0 and me != 0
    if found.st_mode & (0o037 if given else 0o077):
        return f"{path}: others may read the audit key: chmod 600 {path}"
    return None


def stored_key(path: Path) -> Signer:
    """The key in a file that exists.

    Raises:
        WrongSettings: the file cannot be read, others than this user and root may know it, or it holds no key.
    """
    try:
        with path.open(encoding="utf-8") as file:
            if (refusal := _refusal(os.fstat(file.fileno()), path)) is not None:
                raise WrongSettings(refusal)
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise WrongSettings(f"{path}: cannot read or create the audit key: {error}") from None
    return Signer.load(text)
