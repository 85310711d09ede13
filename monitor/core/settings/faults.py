"""Faults in the settings, told with the name in the environment that caused them, or with their line in the file."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from pathlib import Path

from pydantic import BaseModel

from monitor.core.settings.file import line_of
from monitor.core.yaml.problems import UNKNOWN_KEY, KeyPath, keys_at, written

PREFIX = "MONITOR_"
SECRET_FILE = "_FILE"  # noqa: S105  how a name ends that names a file with a setting


def told(path: KeyPath, problem: str, file: Path | None, form: type[BaseModel]) -> str:
    """A problem at `path` of the settings, which have this `form`, with its place."""
    given_names = {name.upper() for name in os.environ}
    for length in range(len(path), 0, -1):
        name = in_environment(path[:length])
        given = given_names & {name, name + SECRET_FILE}
        if not given:
            continue
        if length < len(path):  # a value in JSON
            return f"{min(given)}: {written(path[length:])}: {problem}"
        if problem.startswith(UNKNOWN_KEY):
            similar = get_close_matches(str(path[-1]), keys_at(form, path[:-1]), n=1)
            problem = f"is not a setting; {hint(in_environment((*path[:-1], *similar)) if similar else None)}"
        return f"{min(given)}: {problem}"
    section = in_environment(path) + "__"
    if any(name.startswith(section) for name in given_names):  # several settings of it contradict each other
        return f"{section}…: {_in_capitals(problem, path, form)}"
    line = None if file is None else line_of(file, path)
    return f"{written(path)}: {problem}" if line is None else f"{file}:{line}: {written(path)}: {problem}"


def in_environment(path: KeyPath) -> str:
    return PREFIX + "__".join(map(str, path)).upper()


def hint(name: str | None) -> str:
    return f"did you mean {name}?" if name else "`monitor settings` lists all settings"


def _in_capitals(problem: str, section: KeyPath, form: type[BaseModel]) -> str:
    """`problem` with the names of the section's settings as the environment has them."""
    keys = keys_at(form, section)
    single = {key for key in keys if keys_at(form, (*section, key)) == keys}  # no section of its own
    return re.sub(r"\w+", lambda word: word[0].upper() if word[0] in single else word[0], problem)
