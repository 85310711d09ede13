"""What the pages of a report are made of. All texts are plain: whoever renders them escapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Rows: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The first cell of a row names it; cells after `texts` columns are figures."""

    caption: str
    headings: tuple[str, ...]
    rows: Rows
    texts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One answer as an example. `url` is where people look at it."""

    heading: str
    question: str
    answer: str
    facts: tuple[tuple[str, str], ...]
    url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """`svg` draws it; `caption` says what it shows to whoever does not see it too."""

    caption: str
    svg: Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a report; `words` say how its figures are meant, `notes` what there is to say or why there is not."""

    title: str
    words: str
    notes: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    cards: tuple[Card, ...] = ()

    @property
    def anchor(self) -> str:
        """Its name in a link."""
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())
