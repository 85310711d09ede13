"""The settings file: a TOML document with the names of the settings, in which the sections nest.

`MONITOR_CONFIG` names it, which `monitor --config` sets for the command and every process it starts; without a name it
is `monitor.toml` in the working directory, if there is one. Relative paths in it begin at its folder.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from monitor.core.errors import WrongSettings
from monitor.core.settings.sections import from_home, split
from monitor.core.yaml.problems import KeyPath, models_in, written

NAMED_BY: Final = "MONITOR_CONFIG"
IN_WORKING_DIRECTORY: Final = Path("monitor.toml")
_TEXT: Final = "utf-8-sig"  # Windows editors begin a file with a byte order mark
_PROFILE: Final = ".toml"  # a profile is a path with this ending, or else the name of one that ships


def settings_file() -> Path | None:
    """The file that is read, or None if none is named and there is no `monitor.toml` here."""
    if named := os.environ.get(NAMED_BY):
        return from_home(Path(named))
    return IN_WORKING_DIRECTORY if IN_WORKING_DIRECTORY.is_file() else None


def read_settings_file(path: Path, form: type[BaseModel]) -> dict[str, Any]:
    """What the file sets, to be validated as a `form`; its relative paths begin at its folder.

    Raises:
        WrongSettings: it cannot be read, or is not TOML.
    """
    values = _parsed(path)
    for _, table, key, field in _settings_in(values, form):
        table[key] = _from_folder(table[key], field, path.parent)
    profile = values.get("profile")
    if isinstance(profile, str) and profile.endswith(_PROFILE):
        values["profile"] = _at(path.parent, profile)
    return values


def exposed_secrets(path: Path, form: type[BaseModel]) -> list[str]:
    """The secrets that the file sets, if every user of this machine can read it.

    Raises:
        WrongSettings: as `read_settings_file`.
    """
    values = _parsed(path)
    secrets = [written(place) for place, _, _, field in _settings_in(values, form) if _holds(SecretStr, field)]
    return secrets if path.stat().st_mode & stat.S_IROTH else []


def line_of(path: Path, place: KeyPath) -> int | None:
    """The number of the line that sets `place`, or else opens the table that it is missing from; None without one."""
    names = tuple(part for part in place if isinstance(part, str))
    table: tuple[str, ...] = ()
    found: tuple[int, int] | None = None  # how many of the names the line has, and its number
    for number, line in enumerate(path.read_text(encoding=_TEXT).splitlines(), start=1):
        if line.lstrip().startswith("["):
            here = _names(f"{line}\n")
            table = here or table
        else:
            here = (*table, *_names(f"{line.partition('=')[0]} = 0"))
        if here and names[: len(here)] == here and (found is None or len(here) > found[0]):
            found = len(here), number
    return found[1] if found else None


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding=_TEXT))
    except OSError as error:
        raise WrongSettings(f"the settings file {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WrongSettings(f"{path}: is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise WrongSettings(f"{path}: {error}") from None


def _names(toml: str) -> tuple[str, ...]:
    """The keys, from the outermost on, of a document with one; none if it is none, as the inside of a long text."""
    try:
        value: Any = tomllib.loads(toml)
    except tomllib.TOMLDecodeError:
        return ()
    names = []
    while value and isinstance(value, dict | list):
        if isinstance(value, list):
            (value,) = value
        else:
            ((name, value),) = value.items()
            names.append(name)
    return tuple(names)


def _settings_in(
    table: dict[str, Any], form: type[BaseModel], place: KeyPath = ()
) -> Iterator[tuple[KeyPath, dict[str, Any], str, FieldInfo]]:
    """Yields (place, table that holds it, key, field) of every setting that is given, and none that is unknown."""
    for key, field in form.model_fields.items():
        if key not in table:
            continue
        value, forms = table[key], models_in(field.annotation)
        if not forms or not isinstance(value, dict):
            yield (*place, key), table, key, field
        elif forms[0] is field.annotation:
            yield from _settings_in(value, forms[0], (*place, key))
        else:  # a section for each name that the user gives, as for each topic
            for name, inner in value.items():
                if isinstance(inner, dict):
                    yield from _settings_in(inner, forms[0], (*place, key, name))


def _from_folder(value: Any, field: FieldInfo, folder: Path) -> Any:
    """`value` with each relative path in it from `folder` on."""
    if isinstance(value, str) and value and _holds(Path, field):
        paths = split(value) if _is_list(field) else value
        return _from_folder(paths, field, folder) if isinstance(paths, list) else _at(folder, value)
    if isinstance(value, list) and _holds(Path, field):
        return [_at(folder, one) if isinstance(one, str) else one for one in value]
    return value


def _at(folder: Path, path: str) -> str:
    return str(folder / from_home(Path(path)))


def _is_list(field: FieldInfo) -> bool:
    return Ellipsis in get_args(field.annotation)


def _holds(kind: type, field: FieldInfo) -> bool:
    """Whether a setting is a `kind`, or may be one, or is a list of them."""
    return kind is field.annotation or kind in get_args(field.annotation)
