"""A fake of the reranker, which passes the contract suite of the real one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from monitor.assess.ports import MOST_RERANKED, Reranker

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class WordReranker(Reranker):
    """Scores a text by the share of the question's words that it has; `broken` gives no scores."""

    name: str = "words"
    broken: bool = False

    @property
    @override
    def model(self) -> str:
        return self.name

    @override
    def rank(self, question: str, texts: Sequence[str]) -> list[float] | None:
        if len(texts) > MOST_RERANKED:
            raise ValueError(f"{len(texts)} texts are more than {MOST_RERANKED}")
        sought = _words(question)
        if self.broken or not sought:
            return None
        return [len(sought & _words(text)) / len(sought) for text in texts]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
