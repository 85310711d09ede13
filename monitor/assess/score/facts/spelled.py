"""Finds the words of an answer's numbers that the documents state in figures or in another language's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from monitor.assess.score.facts.fact import Fact, FactKind
from monitor.assess.score.facts.index import FactIndex
from monitor.assess.score.facts.names import fold
from monitor.assess.score.facts.quantities.units import UNITS

_WORD = re.compile(r"[^\W_]+")


def spelled_out(stated: Iterable[Fact], documents: FactIndex) -> Iterator[tuple[int, int]]:
    """The range `[start, end)` of each word that no document has, in numbers that the documents state in another form.

    Units are left out: they do not say how much.
    """
    for fact in stated:
        if fact.kind is not FactKind.NUMBER or any(c.isdigit() for c in fact.text) or not documents.holds(fact):
            continue
        for word in _WORD.finditer(fact.text):
            if word[0].lower() not in UNITS and not documents.has_word(fold(word[0])):
                yield fact.start + word.start(), fact.start + word.end()
