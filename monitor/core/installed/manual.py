"""The documentation of this release, which is part of the package: its pages by name, and sections of them."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

from monitor.core.errors import WrongSettings

_PACKAGE = Path(__file__).resolve().parents[2]
_HEADING = re.compile(r"(#+) (.+)")
_NO_SLUG = re.compile(r"[^\w\- ]")
_INDEX = "README"


def pages() -> dict[str, Path]:
    """The pages by name, such as `operate/kafka`: in the source tree or, in an installed wheel, in the package."""
    inside = _PACKAGE / "_docs"
    root = inside if inside.is_dir() else _PACKAGE.parent / "docs"
    found = {path.relative_to(root).with_suffix("").as_posix(): path for path in root.rglob("*.md")}
    return {name.removesuffix(f"/{_INDEX}"): found[name] for name in sorted(found)}


def text_of(page: str) -> str:
    """The Markdown of a page, or of one section: `operate/kafka`, `docs/on-call/runbooks.md#negative-rate`.

    Raises:
        WrongSettings: there is no such page or section.
    """
    name, _, anchor = page.removeprefix("docs/").partition("#")
    text = _path(name.removesuffix(".md").strip("/")).read_text(encoding="utf-8")
    return _from_heading(text, anchor, name) if anchor else text


def _path(name: str) -> Path:
    known = pages()
    if name in known:
        return known[name]
    ends = [page for page in known if page.rpartition("/")[2] == name]
    similar = ends or get_close_matches(name, known)
    hint = f"did you mean {' or '.join(similar)}?" if similar else "`monitor docs` lists them"
    raise WrongSettings(f"there is no page {name!r}; {hint}")


def _from_heading(text: str, anchor: str, name: str) -> str:
    """The section under the heading with that anchor, up to the next one of its level."""
    lines, start, level, anchors = text.splitlines(keepends=True), None, 0, []
    for number, line in enumerate(lines):
        if not (heading := _HEADING.fullmatch(line.rstrip())):
            continue
        if start is not None and len(heading[1]) <= level:
            return "".join(lines[start:number])
        anchors.append(_NO_SLUG.sub("", heading[2].lower()).replace(" ", "-"))
        if start is None and anchors[-1] == anchor:
            start, level = number, len(heading[1])
    if start is None:
        raise WrongSettings(f"{name} has no section {anchor!r}; it has: {', '.join(anchors)}")
    return "".join(lines[start:])
