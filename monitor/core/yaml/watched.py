"""Reads a file anew when its text changes, and keeps what it last said while it is wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from monitor.core.errors import WrongSettings
from monitor.core.yaml.form import read_text

Content = TypeVar("Content")
log = logging.getLogger(__name__)


class WatchedFile(Generic[Content]):
    """What the file at `path` says, as `parse` reads it from a text; messages say that it holds `of`, of which `count`.

    Not thread-safe.

    Raises:
        WrongSettings: the file is wrong at the start. A later error is only logged, once for each new text.
    """

    def __init__(
        self, path: Path, parse: Callable[[str], Content], *, of: str, count: Callable[[Content], int]
    ) -> None:
        self._path = path
        self._parse = parse
        self._of = of
        self._count = count
        text = read_text(path, of=f"the {of}")
        self._text: str | None = text
        self._content = parse(text)

    def current(self) -> Content:
        """What the file says, or last said if it is wrong."""
        text: str | None
        problem = ""
        try:
            text = read_text(self._path, of=f"the {self._of}")
        except WrongSettings as error:
            text, problem = None, str(error)
        if text == self._text:
            return self._content
        self._text = text
        if text is not None:
            try:
                self._content = self._parse(text)
            except WrongSettings as error:
                problem = str(error)
        if problem:  # logged once, until the text changes again
            log.error("the file of the %s is wrong; the previous ones stay in force. Fix it:\n%s", self._of, problem)
        else:
            log.info("%s has changed; %s in force: %d", self._path, self._of, self._count(self._content))
        return self._content
