"""A search as people type it: words, "phrases in quotation marks" and -words that must not stand there.

No index of words is kept: a GIN index doubles what COPY of interactions costs (docs/performance.md). Texts are read
instead, newest first, and a word is found within longer ones too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, or_

MOST_TERMS = 8
LONGEST = 200  # characters of all of it
_TERM = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What has to stand in the question or the answer, each in either, and what in neither; in small letters."""

    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]

    def match(self, *texts: str) -> bool:
        """Whether these texts hold what is wanted and nothing unwanted."""
        folded = [text.lower() for text in texts]

        def held(term: str) -> bool:
            return any(term in text for text in folded)

        return all(map(held, self.wanted)) and not any(map(held, self.unwanted))

    def conditions(self, *columns: Column[str]) -> list[ColumnElement[bool]]:
        """What is wanted in SQL, but for letters whose small form depends on the language.

        What is unwanted is left to `match` on masked texts: a row that went missing would tell what is masked in it.
        """
        return [or_(*(_holds(column, term) for column in columns)) for term in self.wanted]


def terms(typed: str) -> Terms:
    """What of `typed` is searched for; what is over `LONGEST` or `MOST_TERMS` is left out."""
    found: dict[bool, list[str]] = {True: [], False: []}
    for match in list(_TERM.finditer(typed[:LONGEST]))[:MOST_TERMS]:
        term = " ".join((match["phrase"] or match["word"] or "").split()).lower()
        if term.strip("-"):
            found[not match["minus"]].append(term)
    return Terms(wanted=tuple(found[True]), unwanted=tuple(found[False]))


def _holds(column: Column[str], term: str) -> ColumnElement[bool]:
    # Without a language's rules letters of ASCII are compared three times as fast.
    text: ColumnElement[str] = column.collate("C") if term.isascii() else column
    pattern = re.sub(r"([%_\\])", r"\\\1", term)
    return text.ilike(f"%{pattern}%", escape="\\")
