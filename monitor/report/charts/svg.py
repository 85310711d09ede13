"""Writes SVG elements: attributes are plain numbers and our own words, and every text is made plain and escaped.

There is no style, script, link or font in it, so a page with the strictest policy shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import pi, sqrt
from typing import Literal, TypeAlias
from xml.etree import ElementTree as ET

from monitor.core.text.plain import ELLIPSIS
from monitor.core.text.plain import plain as visible

Place: TypeAlias = tuple[float, float]  # pixels, y from above
Shape: TypeAlias = Literal["circle", "triangle"]
Element: TypeAlias = "ET.Element[str]"

_NO_XML = {0xFFFE: None, 0xFFFF: None}  # and control characters and surrogates, which are never visible
_CHARACTER = 0.64  # of the font size: a digit in DejaVu Sans and Verdana, the widest of the common fonts
_PERCENT = 1.08  # the sign in Verdana


def svg_root(width: float, height: float, description: str) -> Element:
    """An SVG element of that many pixels, which is an image for a screen reader.

    An empty `description` hides it: what stands beside it says what it shows.
    """
    root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", width=number(width), height=number(height))
    root.set("viewBox", f"0 0 {number(width)} {number(height)}")
    if description:
        root.set("role", "img")
        root.set("aria-label", plain(description))
        ET.SubElement(root, "desc").text = plain(description)
    else:
        root.set("aria-hidden", "true")
    return root


def group() -> Element:
    return ET.Element("g")


def markup(root: Element) -> str:
    return ET.tostring(root, encoding="unicode")


def add(parent: Element, tag: str, **attributes: float | str) -> Element:
    """A new child. `stroke_width` becomes `stroke-width`; what is empty is left out."""
    known = {
        name.replace("_", "-"): value if isinstance(value, str) else number(value)
        for name, value in attributes.items()
        if value != ""
    }
    return ET.SubElement(parent, tag, known)


def add_text(parent: Element, text: str, at: Place, *, size: float, colour: str, anchor: str, turned: int = 0) -> None:
    """Text whose base line begins, is centred or ends (`anchor`) at `at`, turned by that many degrees."""
    x, y = at
    turn = f"rotate({turned},{number(x)},{number(y)})" if turned else ""
    element = add(
        parent,
        "text",
        x=x,
        y=y,
        font_family="sans-serif",
        font_size=size,
        fill=colour,
        text_anchor="" if anchor == "start" else anchor,
        transform=turn,
    )
    element.text = plain(text)


def add_line(parent: Element, points: Sequence[Place | None], *, colour: str, width: float, dash: str = "") -> None:
    """A line through the points; None leaves a gap."""
    steps: list[str] = []
    begun = False
    for point in points:
        if point is not None:
            steps.append(f"{'L' if begun else 'M'}{number(point[0])},{number(point[1])}")
        begun = point is not None
    if steps:
        d = "".join(steps)
        add(parent, "path", d=d, fill="none", stroke=colour, stroke_width=width, stroke_dasharray=dash)


def add_bars(
    parent: Element, bars: Iterable[tuple[float, float, float]], *, colour: str, width: float, opacity: float = 1
) -> None:
    """Upright bars, each an x and two y."""
    steps = [f"M{number(x)},{number(low)}V{number(high)}" for x, low, high in bars]
    if steps:
        seen = "" if opacity == 1 else opacity
        add(parent, "path", d="".join(steps), stroke=colour, stroke_width=width, opacity=seen)


def add_marks(parent: Element, marks: Iterable[tuple[Place, float]], *, colour: str, shape: Shape = "circle") -> None:
    """Filled marks, each a place and an area in square pixels."""
    steps = [_OUTLINES[shape](x, y, area) for (x, y), area in marks]
    if steps:
        add(parent, "path", d="".join(steps), fill=colour)


def _circle(x: float, y: float, area: float) -> str:
    r = sqrt(area / pi)
    half, across = number(r), number(2 * r)
    return f"M{number(x - r)},{number(y)}a{half},{half} 0 1,0 {across},0a{half},{half} 0 1,0 -{across},0z"


def _triangle(x: float, y: float, area: float) -> str:
    side = sqrt(area * 4 / sqrt(3))
    height = side * sqrt(3) / 2
    low = number(y + height / 3)
    return f"M{number(x)},{number(y - height * 2 / 3)}L{number(x + side / 2)},{low}H{number(x - side / 2)}z"


_OUTLINES = {"circle": _circle, "triangle": _triangle}


def text_width(text: str, size: float) -> float:
    """How many pixels `text` takes at most, if it is mostly figures or small letters; its font is not known here."""
    signs = text.count("%")
    return size * ((len(text) - signs) * _CHARACTER + signs * _PERCENT)


def fitted(text: str, size: float, width: float) -> str:
    """`text` made plain, and cut where it would be wider than `width`, with … at its end."""
    seen, room = plain(text), max(1, int(width / (size * _CHARACTER)))
    return seen if len(seen) <= room else seen[: room - 1] + ELLIPSIS


def plain(text: str) -> str:
    """`text` on one line, without the characters that XML has no way to write."""
    return visible(text.translate(_NO_XML))


def number(value: float) -> str:
    """At most three decimals, which is finer than a screen shows."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
