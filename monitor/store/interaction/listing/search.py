"""Parses a search as people type it: words, "phrases in quotation marks" and -words that must be absent.

There is no index of words: a GIN index doubles the cost of COPY of interactions (docs/performance.md). The texts are
read instead, newest first, and a word is found within longer words too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, or_

MOST_TERMS = 8
LONGEST = 200  # characters of the whole search
_TERM = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Terms in lower case: each wanted one must be in the question or the answer, the unwanted ones in neither."""

    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]

    def match(self, *texts: str) -> bool:
        """Whether the texts contain every wanted term and no unwanted one."""
        folded = [text.lower() for text in texts]

        def held(term: str) -> bool:
            return any(term in text for text in folded)

        return all(map(held, self.wanted)) and not any(map(held, self.unwanted))

    def conditions(self, *columns: Column[str]) -> list[ColumnElement[bool]]:
        """The wanted terms in SQL, except for letters whose lower case depends on the language.

        Unwanted terms are left to `match` on masked texts: a missing row would reveal what is masked in it.
        """
        return [or_(*(_holds(column, term) for column in columns)) for term in self.wanted]


def terms(typed: str) -> Terms:
    """The terms of `typed`, up to `LONGEST` characters and `MOST_TERMS` terms."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for match in list(_TERM.finditer(typed[:LONGEST]))[:MOST_TERMS]:
        term = " ".join((match["phrase"] or match["word"] or "").split()).lower()
        if term.strip("-"):
            found[not match["minus"]].append(term)
    return Terms(wanted=tuple(found[True]), unwanted=tuple(found[False]))


def _holds(column: Column[str], term: str) -> ColumnElement[bool]:
    # Without the rules of a language ASCII letters are compared three times as fast.
    text: ColumnElement[str] = column.collate("C") if term.isascii() else column
    pattern = re.sub(r"([%_\\])", r"\\\1", term)
    return text.ilike(f"%{pattern}%", escape="\\")
