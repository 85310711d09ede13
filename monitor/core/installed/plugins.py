"""What installed packages add: metrics, receivers and dialects, by entry points (docs/develop/extend.md)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from monitor.core.errors import WrongSettings

METRICS, RECEIVERS, DIALECTS = GROUPS = ("monitor.metrics", "monitor.receivers", "monitor.dialects")
T = TypeVar("T")


@cache
def _points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group; the installed packages are looked through once in a process."""
    return tuple(sorted(entry_points(group=group), key=lambda point: (point.name, _package(point))))


def announced(group: str) -> list[tuple[str, str]]:
    """Each name that installed packages announce, with the package. Loads none of them."""
    return [(point.name, _package(point)) for point in _points(group)]


def with_plugins(
    group: str, ours: Mapping[str, T], *, problem: Callable[[str, Any], str | None], reserved: Collection[str] = ()
) -> dict[str, T]:
    """Ours, and after them what installed packages add to a group, by name.

    `problem` gets the name and the value of an entry point, and says what is wrong with them. `reserved` are names
    that stand for nothing of ours, and that no package may use either.

    Raises:
        WrongSettings: one cannot be loaded, is not of the kind that it must be, or has a name that is taken.
    """
    added: dict[str, T] = {}
    packages: dict[str, str] = {}
    for point in _points(group):
        name = point.name
        if name in ours or name in reserved:
            raise _refused(point, f"the name {name!r} is monitor's own: choose another")
        if name in added:
            raise _refused(point, f"the name {name!r} is taken by {packages[name]}: uninstall one of them")
        try:
            value = point.load()
        except Exception as error:  # the package's own code runs, and may raise anything
            raise _refused(point, f"it cannot be loaded: {type(error).__name__}: {error}") from error
        if found := problem(name, value):
            raise _refused(point, found)
        added[name], packages[name] = value, _package(point)
    return {**ours, **added}


def function_of(argument: str) -> Callable[[str, Any], str | None]:
    """For `with_plugins`: the value must be callable; `argument` is what it is called with, in words."""

    def problem(_name: str, value: Any) -> str | None:
        return None if callable(value) else f"it must be a function of {argument}, and is a {type(value).__name__}"

    return problem


def choice(group: str, ours: Collection[str]) -> Callable[[str], str]:
    """Checks a setting that names one of ours or one that a package announces."""

    def checked(value: str) -> str:
        if value in ours:
            return value
        names = [*ours, *(name for name, _ in announced(group))]
        if value not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return value

    return checked


def _package(point: EntryPoint) -> str:
    return "an unknown package" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def _refused(point: EntryPoint, problem: str) -> WrongSettings:
    return WrongSettings(f"{_package(point)}, entry point {point.name!r} = {point.value!r} of {point.group}: {problem}")
