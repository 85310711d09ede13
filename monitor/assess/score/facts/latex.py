r"""Reads LaTeX as the text that it sets: $10^{6}$, 3 \times 10^{-3}, 50\%, 5\,\mathrm{km}, \frac{1}{2}, 20^\circ C."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_SIGNS = {
    "times": "×",
    "cdot": "·",
    "circ": "°",
    "degree": "°",
    "mu": "µ",
    "approx": "≈",
    "sim": "~",
    "pm": "±",
    "textdegree": "°",
    "euro": "€",
    "pounds": "£",
    "quad": " ",
    "qquad": " ",
    "left": "",
    "right": "",
}
_RAISED = {"2": "²", "3": "³"}
# A formula between dollars has a sign of LaTeX, begins and ends with no space, and no figure follows it: the amounts in
# "from $10 (up 5\%) to $20" enclose none.
_FORMULA = re.compile(r"(?<![\\$])\$(?=[^$\n]{0,400}[\\^_{])(?=\S)[^$\n]{1,400}(?<![ \\])\$(?![\d$])")
# Bounded, and each alternative begins with a sign that is rare in prose.
_FORM = re.compile(
    r"""
    \\d?frac\s?\{(?P<above>\d{1,15})\}\s?\{(?P<below>\d{1,15})\}
  | \{(?P<mark>[,.])\}                                               # 10{,}000
  | \^(?:\{\\circ\s?\}|\\circ(?![a-zA-Z]))\s?(?P<degree>)
  | (?<=10)\^\{(?P<power>[-−]?\d{1,2})\}
  | (?<=[a-zA-Z}])\^(?:\{(?P<raised>[23])\}|(?P<bare>[23])(?!\w))    # km^{2}
  | \\(?P<wrapped>mathrm|mathbf|mathit|text|textrm|textbf|operatorname|mbox)\s?\{
  | (?P<brace>[{}])
  | \\(?P<space>[,;:!\ ]) | (?<=[\d}])~(?=[a-zA-Z\\])(?P<tied>)
  | \\(?P<sign>[%$&\#_])
  | \\[()\[\]] | \$\$
  | \\(?P<command>[a-zA-Z]{2,10})(?![a-zA-Z])[ ]?
    """,
    re.VERBOSE,
)


class _Piece(NamedTuple):
    """A part of the plain text that begins at `at`, and the characters `[start, end)` that it was written as."""

    at: int
    start: int
    end: int
    copied: bool  # character by character


class Plain:
    """A text as LaTeX sets it. Most texts have none; they are their own."""

    __slots__ = ("_pieces", "_places", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._pieces: list[_Piece] = []
        if "\\" in text or "^" in text or "{" in text:
            self._set(text)
        self._places = [piece.at for piece in self._pieces]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the text as written that `[start, end)` of the plain text stands for."""
        if not self._pieces:
            return start, end
        first, last = self._piece(start), self._piece(end - 1)
        return (
            first.start + start - first.at if first.copied else first.start,
            last.start + end - last.at if last.copied else last.end,
        )

    def _piece(self, at: int) -> _Piece:
        return self._pieces[bisect_right(self._places, at) - 1]

    def _set(self, text: str) -> None:
        dollars = {at for formula in _FORMULA.finditer(text) for at in (formula.start(), formula.end() - 1)}
        marks = [(at, at + 1, "") for at in dollars]
        depth = 0  # braces that belong to a command which is left out
        for form in _FORM.finditer(text):
            if form["wrapped"]:
                depth += 1
            elif form["brace"]:
                if not depth:
                    continue
                depth += 1 if form["brace"] == "{" else -1
            if (said := _said(form)) is not None:
                marks.append((form.start(), form.end(), said))
        if not marks:
            return
        written: list[str] = []
        at = done = 0
        for start, end, form_said in [*sorted(marks), (len(text), len(text), "")]:
            spaced = text[start - 1 : start].isspace() if start > done else bool(written) and written[-1].endswith(" ")
            said = form_said.lstrip() if spaced else form_said
            for part, begin, stop in ((text[done:start], done, start), (said, start, end)):
                if part:
                    self._pieces.append(_Piece(at, begin, stop, copied=begin == done and stop == start))
                    written.append(part)
                    at += len(part)
            done = end
        self.text = "".join(written)


def _said(form: re.Match[str]) -> str | None:
    """What the form stands for; None if it stays as it is."""
    kind = form.lastgroup
    behind = "" if form.string[form.end() : form.end() + 1].isspace() else " "
    if kind == "below":
        share = int(form["above"]) < int(form["below"])  # 7/2 would be two figures in one piece
        return f" {form['above']}/{form['below']}{behind}" if share else None
    if kind == "command":
        return _SIGNS.get(form["command"])
    if kind in {"mark", "sign"}:
        return form[kind]
    if kind in {"raised", "bare"}:
        return _RAISED[form[kind]]
    if kind == "power":
        return f"^{form['power']}{behind}"
    return {"degree": "°", "space": " ", "tied": " "}.get(kind or "", "")
