"""The command `monitor docs`: the documentation of this release, which is part of the package."""

from __future__ import annotations

import re
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from monitor.core.errors import WrongSettings

_PACKAGE = Path(__file__).resolve().parent.parent
_HEADING = re.compile(r"(#+) (.+)")
_NO_SLUG = re.compile(r"[^\w\- ]")
INDEX = "README"


def docs(
    page: Annotated[
        str | None, typer.Argument(help="Such as operate/kafka, on-call/runbooks#negative-rate, or a folder.")
    ] = None,
) -> None:
    """Show a page of the documentation, as it is for this release; without a name, list the pages."""
    pages = _pages()
    if page is None:
        for name, path in pages.items():
            typer.echo(f"{name:30} {_title(path)}")
        return
    name, _, anchor = page.removeprefix("docs/").partition("#")
    text = _page(name.removesuffix(".md").strip("/"), pages).read_text(encoding="utf-8")
    text = _from_heading(text, anchor, name) if anchor else text
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        console = Console()
        with console.pager(styles=True):
            console.print(Markdown(text))
    else:
        sys.stdout.write(text)


def _pages() -> dict[str, Path]:
    """The pages by name, such as `operate/kafka`: in the source tree or, in an installed wheel, in the package."""
    inside = _PACKAGE / "_docs"
    root = inside if inside.is_dir() else _PACKAGE.parent / "docs"
    found = {path.relative_to(root).with_suffix("").as_posix(): path for path in root.rglob("*.md")}
    return {name.removesuffix(f"/{INDEX}"): found[name] for name in sorted(found)}


def _page(name: str, pages: dict[str, Path]) -> Path:
    if name in pages:
        return pages[name]
    ends = [known for known in pages if known.rpartition("/")[2] == name]
    similar = ends or get_close_matches(name, pages)
    hint = f"did you mean {' or '.join(similar)}?" if similar else "`monitor docs` lists them"
    raise WrongSettings(f"there is no page {name!r}; {hint}")


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next((line[2:].strip() for line in lines if line.startswith("# ")), "")


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
