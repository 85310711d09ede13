"""The parts that evaluation pages are made of. All texts are plain; the renderer escapes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from monitor.review.evaluate.figures import XY, Figure, ReliabilityPoint

Cell: TypeAlias = Figure | str | int
MISSING = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table: headings and rows of as many cells; the first `labels` cells name the row.

    On a terminal a `dense` table has no room for intervals.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    labels: int = 1
    dense: bool = False

    @property
    def reasons(self) -> list[str]:
        """Why figures are missing, each reason once."""
        cells = chain.from_iterable(self.rows)
        return [*dict.fromkeys(c.reason for c in cells if isinstance(c, Figure) and c.value is None and c.reason)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RocDrawing:
    """ROC curves by name, and the points of the present decisions."""

    caption: str
    curves: Mapping[str, Sequence[XY]]
    here: Mapping[str, XY]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityDrawing:
    """Probabilities against the shares observed."""

    caption: str
    points: tuple[ReliabilityPoint, ...]


Drawing: TypeAlias = RocDrawing | ReliabilityDrawing


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading, an explanation of the figures, tables and charts."""

    title: str
    words: str
    grids: tuple[Grid, ...]
    drawings: tuple[Drawing, ...] = ()
