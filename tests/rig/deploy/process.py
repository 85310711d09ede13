"""What the files of a deployment tell the program: settings and commands, as the program itself reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from typer.main import get_command

from monitor.cli.app import app
from monitor.core.settings.load import Settings, load_settings, unknown_names

SECRETS = {
    "database-url": "postgresql://monitor:secret@postgres/monitor",
    "kafka-password": "secret",
    "slack-bot-token": "xoxb-secret",
}


def settings_under(environment: Mapping[str, str | None], folder: Path, *, toml: str = "") -> Settings:
    """The settings of a process with that environment, and `monitor.toml` beside it, all of whose names are known.

    A secret file is one of `SECRETS` by its name, wherever it is mounted. A name without a value is left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "monitor.toml").write_text(toml, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in environment.items():
            if value is None or not name.startswith("MONITOR_"):
                continue
            given = value
            if (content := SECRETS.get(Path(value).name)) is not None:
                (folder / Path(value).name).write_text(content, encoding="utf-8")
                given = str(folder / Path(value).name)
            patch.setenv(name, given)
        settings = load_settings()
        assert unknown_names() == []
    return settings


def wrong_use(words: Sequence[str]) -> str | None:
    """Why `monitor WORDS` is no command that exists, with these options and arguments; None if it is one."""
    command = get_command(app)
    context = command.context_class(command, info_name="monitor")
    rest = list(words)
    try:
        while hasattr(command, "resolve_command"):
            if not rest:
                return f"monitor {' '.join(words)}: names no command"
            _, command, rest = command.resolve_command(context, rest)
        command.make_context("monitor", rest, parent=context)
    except Exception as error:  # noqa: BLE001  whatever Typer's copy of Click raises says what is wrong
        return f"monitor {' '.join(words)}: {getattr(error, 'message', None) or type(error).__name__}"
    return None
