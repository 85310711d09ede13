"""Reads telephone numbers, whose figures are one name however they are grouped: +1 (555) 123-4567, 555.123.4567."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

LEAST, MOST = 7, 15  # figures (E.164)
_LEAST_ABROAD = 9  # with the code of a country
_GROUP = r"(?:[ \u00a0\u202f.\-–/]|[ ]?\()?(?:\d{1,5}\)?)"
# With the sign of a country, an area code in brackets, a leading 0, or groups as in America; else it may be anything.
_PHONE = re.compile(
    rf"""
    \+\d{{1,3}}(?:{_GROUP}[ .\-–]?){{1,6}}
  | (?<=\()(?:0\d{{1,4}}|[2-9]\d\d)\)[ .\-–/]?\d{{2,8}}(?:[ .\-–]\d{{2,5}}){{0,3}}
  | 0\d{{1,5}}[ .\-–/]\d{{3,8}}(?:[ .\-–]\d{{2,5}}){{0,3}}
  | (?:1[ .\-–])?[2-9]\d\d[ .\-–]\d{{3}}[ .\-–]\d{{4}}
  | \d{{9,15}}
    """,
    re.VERBOSE,
)
_BEFORE = frozenset("$€£¥₹₩.,/")  # what no telephone number follows directly
_START = re.compile(r"(?<![\w.,/])(?:\+(?=\d)|\d)")
_FIGURES = re.compile(r"\d+")


class Phone(NamedTuple):
    """A telephone number by its figures, without a leading 0."""

    figures: str


def phone(text: str, start: int) -> tuple[Phone, int] | None:
    """The telephone number at the figure or plus at `start`, and where it ends."""
    before = text[start - 1] if start else ""
    if before.isalnum() or before in _BEFORE or not (found := _PHONE.match(text, start)):
        return None
    end = start + len(found[0].rstrip(" .-–"))
    after = text[end : end + 2]
    if after[:1].isalnum() or after[:1] in set("%€$£") or (after[:1] in set(".,-–/:") and after[1:].isdigit()):
        return None
    figures = "".join(_FIGURES.findall(text[start:end]))
    least = _LEAST_ABROAD if text[start] == "+" else LEAST
    return (Phone(figures.lstrip("0")), end) if least <= len(figures) <= MOST else None


def phones(text: str) -> Iterator[Phone]:
    """The telephone numbers of a text."""
    after = 0
    for start in _START.finditer(text):
        if start.start() >= after and (found := phone(text, start.start())):
            number, after = found
            yield number


def endings(phones: Iterable[Phone]) -> Iterator[str]:
    """The numbers with and without what comes before them when one calls from farther away."""
    for number in phones:
        yield from (number.figures[at:] for at in range(len(number.figures) - LEAST + 1))
