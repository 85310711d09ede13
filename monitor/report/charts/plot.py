"""A plot: marks in a rectangle, with axes and a legend around it, as one SVG element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from monitor.report.charts.scales import Scale, Tick, spaced
from monitor.report.charts.svg import (
    Element,
    Shape,
    add,
    add_line,
    add_marks,
    add_text,
    fitted,
    group,
    markup,
    svg_root,
    text_width,
)

SYMBOL = 34  # square pixels of a mark
_TICK, _GAP = 5, 4  # pixels
_SAMPLE = 22  # pixels of the line of a legend
_GRID = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Colours and sizes in pixels. An SVG takes the colour of the text around it; a picture has its own."""

    words: str = "currentColor"
    lines: str = "currentColor"
    background: str = ""
    size: float = 12
    padding: float = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An entry of a legend. Without a `shape` it shows a line, without a `line` a mark of that `area`."""

    name: str
    colour: str
    shape: Shape | None = "circle"
    line: bool = True
    dash: str = ""
    area: float = SYMBOL


class Plot:
    """`x` and `y` map values to the pixels of the rectangle; `marks` takes what is drawn in it, behind the axes."""

    _EDGE: ClassVar[float] = 0.5  # lines a pixel wide are sharp between pixels

    def __init__(
        self, width: float, height: float, *, x: tuple[float, float], y: tuple[float, float], look: Look
    ) -> None:
        self.width, self.height, self.look = width, height, look
        self.x = Scale(*x, 0, width)
        self.y = Scale(*y, height, 0)
        self._frame = group()
        self._grid = add(self._frame, "g", stroke=look.lines, opacity=_GRID)
        self.marks = add(self._frame, "g")
        self._axes = add(self._frame, "g")
        size = look.size
        self._left = self._right = self._top = self._below = size / 2

    def bottom(self, marked: Sequence[Tick], title: str = "", *, grid: bool = False) -> None:
        """The axis below. Words that would touch are left out."""
        size, foot = self.look.size, self.height
        self._rule((0, foot), (self.width, foot))
        for value, _ in marked:
            at = self.x(value)
            self._rule((at, foot), (at, foot + _TICK))
            if grid:
                add(self._grid, "path", d=f"M{at:.2f},0V{foot:g}")
        for value, text in spaced(marked, self.x, lambda text: text_width(text, size)):
            half = text_width(text, size) / 2
            at = min(max(self.x(value), half - self._left + 1), self.width - half + self._right - 1)
            self._words(text, (at, foot + _TICK + size), anchor="middle")
        self._below = _TICK + size + _GAP
        if title:
            self._words(title, (self.width / 2, foot + self._below + size), anchor="middle")
            self._below += size + _GAP

    def left(self, marked: Sequence[Tick], title: str = "") -> None:
        """The axis on the left, with a faint line across the plot at each tick. Comes before `bottom`."""
        self._rule((0, 0), (0, self.height))
        for value, _ in marked:
            at = self.y(value)
            self._rule((-_TICK, at), (0, at))
            add(self._grid, "path", d=f"M0,{at:.2f}H{self.width:g}")
        self._left = self._side(marked, title, -1, self.look.words)

    def right(self, marked: Sequence[Tick], title: str, *, scale: Scale, colour: str) -> None:
        """A second axis, on the right, with a scale of its own. Comes before `bottom`."""
        self._rule((self.width, 0), (self.width, self.height))
        for value, _ in marked:
            self._rule((self.width, scale(value)), (self.width + _TICK, scale(value)))
        self._right = self._side(marked, title, 1, colour, scale)

    def _side(self, marked: Sequence[Tick], title: str, way: int, colour: str, scale: Scale | None = None) -> float:
        """Draws words beside the plot, on the left (`way` is -1) or on the right; returns how far they reach."""
        size, place = self.look.size, scale or self.y
        edge = 0 if way < 0 else self.width
        anchor = "end" if way < 0 else "start"
        for value, text in marked:
            at = (edge + way * (_TICK + _GAP), place(value) + size * 0.36)
            self._words(text, at, anchor=anchor, colour=colour)
        reach = _TICK + _GAP + max((text_width(text, size) for _, text in marked), default=0)
        if title:
            self._words(
                title,
                (edge + way * (reach + _GAP + size * 0.25), self.height / 2),
                anchor="middle",
                turned=way * 90,
                colour=colour,
            )
            reach += _GAP + size * 1.2
        return reach

    def legend(self, keys: Sequence[Key], *, above: bool = True, title: str = "") -> None:
        """Entries from left to right, in as many rows as they need. Comes after the axes."""
        size = self.look.size
        high = size + 6
        drawn = add(self._frame, "g")
        x, row = 0.0, 0
        places: list[tuple[Key, str, float, int]] = []
        x += text_width(title, size) + _GAP if title else 0
        for key in keys:
            name = fitted(key.name, size, self.width - _SAMPLE - _GAP)
            wide = _SAMPLE + _GAP + text_width(name, size) + 2 * _GAP
            if x and x + wide > self.width + self._right:
                x, row = 0.0, row + 1
            places.append((key, name, x, row))
            x += wide
        tall = (row + 1) * high if keys else 0
        top = -tall - _GAP - size / 2 if above else self.height + self._below + _GAP
        if title:
            self._words(title, (0, top + size), anchor="start", parent=drawn)
        for key, name, left, line in places:
            middle = top + line * high + size * 0.64
            if key.line:
                add_line(
                    drawn,
                    [(left, middle), (left + _SAMPLE - 2, middle)],
                    colour=key.colour,
                    width=2 if key.shape else 3,
                    dash=key.dash,
                )
            if key.shape:
                centre = (left + _SAMPLE / 2 - 1, middle)
                add_marks(drawn, [(centre, key.area)], colour=key.colour, shape=key.shape)
            self._words(name, (left + _SAMPLE + _GAP, top + line * high + size), anchor="start", parent=drawn)
        if above:
            self._top += tall + _GAP
        else:
            self._below += tall + _GAP

    def title(self, text: str) -> None:
        """A title above the plot, cut to its width. Comes last."""
        size = self.look.size
        self._words(fitted(text, size, self.width), (-self._left, -self._top - _GAP), anchor="start")
        self._top += size + _GAP

    def markup(self, description: str) -> str:
        """The SVG element, just as large as what is in it."""
        pad = self.look.padding
        left, top = round(self._left + pad) + self._EDGE, round(self._top + pad) + self._EDGE
        wide = round(left + self.width + self._right + pad)
        high = round(top + self.height + self._below + pad)
        root = svg_root(wide, high, description)
        if self.look.background:
            add(root, "rect", width=wide, height=high, fill=self.look.background)
        self._frame.set("transform", f"translate({left:g},{top:g})")
        root.append(self._frame)
        return markup(root)

    def _rule(self, one: tuple[float, float], other: tuple[float, float]) -> None:
        add_line(self._axes, [one, other], colour=self.look.lines, width=1)

    def _words(
        self,
        text: str,
        at: tuple[float, float],
        *,
        anchor: str,
        turned: int = 0,
        colour: str = "",
        parent: Element | None = None,
    ) -> None:
        add_text(
            self._axes if parent is None else parent,
            text,
            at,
            size=self.look.size,
            colour=colour or self.look.words,
            anchor=anchor,
            turned=turned,
        )
