"""The command `monitor docs`: the documentation of this release, which is part of the package."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from monitor.core.installed.manual import pages, text_of


def docs(
    page: Annotated[
        str | None, typer.Argument(help="Such as operate/kafka, on-call/runbooks#negative-rate, or a folder.")
    ] = None,
) -> None:
    """Show a page of the documentation, as it is for this release; without a name, list the pages."""
    if page is None:
        for name, path in pages().items():
            typer.echo(f"{name:30} {_title(path)}")
        return
    text = text_of(page)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        console = Console()
        with console.pager(styles=True):
            console.print(Markdown(text))
    else:
        sys.stdout.write(text)


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next((line[2:].strip() for line in lines if line.startswith("# ")), "")
