"""Secrets of targets: `${file:/run/secrets/key}` and `${env:NAME}`, read when it is opened, and never quoted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from monitor.core.errors import WrongSettings

_SECRET = re.compile(r"\$\{(file|env):([^}]+)\}")
_NAMES_A_SECRET = re.compile("(?:key|token|secret|passw|credential)(?!.*(?:file|path|dir)$)", re.IGNORECASE)
_SHORTEST = 6  # characters; shorter ones are words such as Bearer


def with_secrets(text: str, *, of: str) -> str:
    """`text` with its secrets in place; `of` names it in messages.

    Raises:
        WrongSettings: a file cannot be read, or a variable is not set. The message holds no secret.
    """

    def read(match: re.Match[str]) -> str:
        kind, name = match.groups()
        if kind == "env":
            if name not in os.environ:
                raise WrongSettings(f"{of}: the environment has no {name}: set it")
            return os.environ[name]
        try:
            return Path(name).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise WrongSettings(f"{of}: cannot read {name}: {reason}") from None

    return _SECRET.sub(read, text)


def secrets_of_environment() -> list[str]:
    """The values of variables whose names say that they hold a secret, such as `OPENAI_API_KEY`."""
    return [value for name, value in os.environ.items() if _NAMES_A_SECRET.search(name)]


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """`text`, which comes from a chatbot, with `[secret]` for each of the secrets and for each of their words."""
    parts = {part for value in secrets for part in (value, *value.split())}
    for part in sorted(parts, key=len, reverse=True):
        if len(part) > _SHORTEST:
            text = text.replace(part, "[secret]")
    return text


def header_value(text: str, *, of: str) -> str:
    """Like `with_secrets`, for the value of a header.

    Raises:
        WrongSettings: also if the value cannot be sent in a header.
    """
    value = with_secrets(text, of=of)
    if not (value.isascii() and value.isprintable()):
        raise WrongSettings(f"{of}: has characters that are not allowed in a header")
    return value
