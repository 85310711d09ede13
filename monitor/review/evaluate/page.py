"""Renders an evaluation as one HTML page with its styles and charts inline, and without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TypeAlias

from monitor.core.text.plain import readable
from monitor.review.evaluate.document import headline, interval, number, sections
from monitor.review.evaluate.elements import MISSING, Cell, Drawing, Grid, Section
from monitor.review.evaluate.figures import Evaluated, Figure
from monitor.review.evaluate.formats import plain
from monitor.review.evaluate.wording import notes

Draw: TypeAlias = Callable[[Drawing], str]
STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2330; --faint: #5d6778; --line: #d9dee6; --note: #fdf3d8; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #e6e9ef; --faint: #9aa4b5; --line: #333b49; --note: #3a3016; }
}
* { box-sizing: border-box; }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .3rem; }
p { max-width: 48rem; margin: .4rem 0; }
.faint, figcaption, .bounds { color: var(--faint); }
.note { background: var(--note); border-radius: .3rem; padding: .4rem .7rem; }
nav { display: flex; flex-wrap: wrap; gap: .3rem .9rem; }
nav a { color: inherit; white-space: nowrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .7rem 0; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 400; }
.name { text-align: left; white-space: nowrap; }
.bounds { display: block; font-size: .8em; white-space: nowrap; }
.charts { display: flex; flex-wrap: wrap; gap: 2rem; }
figure { margin: .7rem 0; max-width: 24rem; break-inside: avoid; }
figure svg { max-width: 100%; height: auto; }
figcaption { font-size: .85rem; }
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #000; --faint: #444; --line: #bbb; --note: #f4f4f4; }
  body { margin: 0; max-width: none; font-size: 10pt; }
  nav { display: none; }
  .wide { overflow: visible; }
  table { font-size: 7.5pt; }
  th, td { padding: .1rem .3rem; }
  tr, .note { break-inside: avoid; }
  h2 { break-after: avoid; }
  thead { display: table-header-group; }
}
"""


def page(evaluated: Evaluated, draw: Draw) -> str:
    """The whole page; `draw` renders a chart as an SVG element. It shows no text of the labelled rows."""
    return "\n".join(_page(evaluated, draw)) + "\n"


def _page(evaluated: Evaluated, draw: Draw) -> Iterator[str]:
    parts = list(sections(evaluated))
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Evaluation</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Evaluation</h1>"
    yield f"<p>{_text(headline(evaluated))}</p>"
    yield f'<p class="faint">{_text(", ".join(evaluated.files))}</p>'
    for note in notes(evaluated):
        yield f'<p class="note">{_text(note)}</p>'
    links = [f'<a href="#{_anchor(part)}">{_text(part.title)}</a>' for part in parts]
    yield f"<nav>{''.join(links)}</nav>"
    for part in parts:
        yield from _section(part, draw)
    yield (
        f'<p class="faint">Intervals: 95%, {evaluated.draws:,} resamples of whole groups, seed {evaluated.seed}.</p>\n'
        "</body>\n</html>"
    )


def _section(section: Section, draw: Draw) -> Iterator[str]:
    yield f'<section>\n<h2 id="{_anchor(section)}">{_text(section.title)}</h2>'
    yield f'<p class="faint">{_text(section.words)}</p>'
    for grid in section.grids:
        yield from _grid(grid)
    if section.drawings:
        yield f'<div class="charts">{"".join(_figure(d, draw(d)) for d in section.drawings)}</div>'
    yield "</section>"


def _grid(grid: Grid) -> Iterator[str]:
    yield '<div class="wide"><table>\n<thead><tr>'
    for place, heading in enumerate(grid.headings):
        yield f'<th scope="col"{_class(place, grid)}>{_text(heading)}</th>'
    yield "</tr></thead>\n<tbody>"
    for row in grid.rows:
        yield f"<tr>{''.join(_cell(cell, place, grid) for place, cell in enumerate(row))}</tr>"
    yield "</tbody></table></div>"
    if grid.reasons:
        yield f'<p class="faint">{MISSING}: {_text("; ".join(grid.reasons))}</p>'


def _cell(cell: Cell, place: int, grid: Grid) -> str:
    if place < grid.labels:
        return f'<th scope="row"{_class(place, grid)}>{_text(plain(cell))}</th>'
    if isinstance(cell, Figure):
        bounds = interval(cell)
        below = f'<span class="bounds">{bounds}</span>' if bounds else ""
        return f"<td>{number(cell.value)}{below}</td>"
    return f"<td>{_text(plain(cell))}</td>"


def _class(place: int, grid: Grid) -> str:
    return ' class="name"' if place < grid.labels else ""


def _figure(drawing: Drawing, svg: str) -> str:
    return f"<figure>{svg}<figcaption>{_text(drawing.caption)}</figcaption></figure>"


def _anchor(section: Section) -> str:
    return "".join(c if c.isalnum() else "-" for c in section.title.lower())


def _text(text: str) -> str:
    return escape(readable(text))
