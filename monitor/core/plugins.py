"""What installed packages add: metrics, receivers and dialects, by entry points (docs/develop/extend.md)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from monitor.core.errors import WrongSettings

METRICS, RECEIVERS, DIALECTS = GROUPS = ("monitor.metrics", "monitor.receivers", "monitor.dialects")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """Something that a package adds to `group` under `name`."""

    group: str
    name: str
    package: str  # with its version
    value: Any


@cache
def _points(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group; the installed packages are looked through once in a process."""
    return tuple(sorted(entry_points(group=group), key=lambda point: (point.name, _package(point))))


def announced(group: str) -> list[tuple[str, str]]:
    """Each name that installed packages announce, with the package. Loads none of them."""
    return [(point.name, _package(point)) for point in _points(group)]


def plugins(group: str, *, ours: Collection[str], fits: Callable[[str, Any], str | None]) -> Sequence[Plugin]:
    """What installed packages add to a group. `fits` gets name and value, and says what is wrong with them.

    Raises:
        WrongSettings: one cannot be loaded, is not of the kind that it must be, or has a name that is taken.
    """
    loaded: dict[str, Plugin] = {}
    for point in _points(group):
        if point.name in ours:
            raise _refused(point, f"the name {point.name!r} is monitor's own: choose another")
        if (other := loaded.get(point.name)) is not None:
            raise _refused(point, f"the name {point.name!r} is taken by {other.package}: uninstall one of them")
        try:
            value = point.load()
        except Exception as error:  # the package's own code runs, and may raise anything
            raise _refused(point, f"it cannot be loaded: {type(error).__name__}: {error}") from error
        if problem := fits(point.name, value):
            raise _refused(point, problem)
        loaded[point.name] = Plugin(group=group, name=point.name, package=_package(point), value=value)
    return tuple(loaded.values())


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
