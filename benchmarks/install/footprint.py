"""What a package brings with it: every distribution that it needs, with the bytes of its files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
NAME = "rag-monitor"
GOAL_MB, GOAL_PACKAGES = 300, 65
_OWN = ("monitor", "migrations")  # what of the repository is in the wheel


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A distribution as installed; compiled bytecode does not count."""

    name: str
    version: str
    bytes: int


def footprint(site_packages: Path | None = None) -> list[Package]:
    """`rag-monitor` with all that it needs without an extra, largest first.

    They are looked for in a folder of packages, or in the running environment, where `rag-monitor` is the repository.
    """
    found = distributions() if site_packages is None else distributions(path=[str(site_packages)])
    known = {_canonical(dist.name): dist for dist in found}
    requires = {name: dist.requires or [] for name, dist in known.items()}
    if site_packages is None:  # an editable installation does not notice when pyproject.toml changes
        requires[NAME] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    packages = [
        Package(
            name=name,
            version=known[name].version,
            bytes=_own_bytes() if name == NAME and site_packages is None else _bytes(known[name]),
        )
        for name in _needed(requires)
    ]
    return sorted(packages, key=lambda package: -package.bytes)


def _needed(requires: Mapping[str, Sequence[str]]) -> set[str]:
    """The names of those that are there and needed. An extra counts only if another package asks for it."""
    extras: dict[str, set[str]] = {}
    waiting: list[tuple[str, set[str]]] = [(NAME, {""})]
    while waiting:
        name, asked = waiting.pop()
        if name in requires and not asked <= extras.get(name, set()):
            extras.setdefault(name, set()).update(asked)
            needs = map(Requirement, requires[name])
            waiting += [(_canonical(it.name), {"", *it.extras}) for it in needs if _holds(it, extras[name])]
    return set(extras)


def _holds(need: Requirement, extras: Iterable[str]) -> bool:
    return need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras)


def _bytes(dist: Distribution) -> int:
    return _sum(Path(str(file.locate())) for file in dist.files or ())


def _own_bytes() -> int:
    return _sum(file for folder in _OWN for file in (ROOT / folder).rglob("*"))


def _sum(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.suffix != ".pyc" and file.is_file())


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
