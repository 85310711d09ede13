"""The parts that report pages are made of. All texts are plain; the renderer escapes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Rows: TypeAlias = tuple[tuple[str, ...], ...]
Item: TypeAlias = Mapping[str, Any]  # an object of a report's content
Columns: TypeAlias = Mapping[str, Callable[[Item], str]]  # heading to what its cells show of an item


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The first cell of a row names the row; the cells after the first `texts` columns are figures.

    `links` has for each row the page that its first cell leads to: a path of the installation, an address, or None.
    `more` stands below the table: what it does not show.
    """

    caption: str
    headings: tuple[str, ...]
    rows: Rows
    texts: int = 1
    links: tuple[str | None, ...] = ()
    more: str = ""

    def link(self, row: int, base: str | None) -> str | None:
        """The address that a row leads to, in the installation at `base`; None if that is not known."""
        link = self.links[row] if self.links else None
        if link is None or not link.startswith("/"):
            return link
        return None if base is None else f"{base}{link}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One answer as an example. `url` is the page of the answer, None without a public address."""

    heading: str
    question: str
    answer: str
    facts: tuple[tuple[str, str], ...]
    url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """`svg` draws the chart; `caption` describes it, also for readers who cannot see it."""

    caption: str
    svg: Callable[[], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a report: `words` explain its figures, `notes` say what they show, or why there are none."""

    title: str
    words: str
    notes: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    cards: Sequence[Card] = ()

    @property
    def anchor(self) -> str:
        """The section's name in a link."""
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())


def table_of(
    items: Iterable[Item], columns: Columns, *, caption: str, texts: int = 1, links: Sequence[str | None] = ()
) -> Table:
    """A table with one row for each item, and a link for each if there are any."""
    rows = tuple(tuple(cell(item) for cell in columns.values()) for item in items)
    return Table(caption=caption, headings=tuple(columns), rows=rows, texts=texts, links=tuple(links))
