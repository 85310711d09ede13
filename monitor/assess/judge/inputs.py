"""What judged metrics are made from: which texts a metric needs, and how they are laid before the model.

Lists go to the model as numbered lines. White space inside an item is collapsed, so that none of them can begin a
line, and with it an item, of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from monitor.assess.judge.metric import Case, Outcome
from monitor.assess.llm.exchange import Block

Need: TypeAlias = Callable[[Case], str | None]


def question(case: Case) -> str | None:
    """`empty_question` where there is none."""
    return None if case.question.strip() else "empty_question"


def answer(case: Case) -> str | None:
    """`empty_answer` where there is none, `refusal` where it states nothing."""
    if not case.answer.strip():
        return "empty_answer"
    return "refusal" if case.refuses else None


def documents(case: Case) -> str | None:
    """`no_documents` where there are none, or all of them are white space."""
    return None if any(document.strip() for document in case.documents) else "no_documents"


def reference(case: Case) -> str | None:
    """`no_reference` where there is none."""
    return None if case.reference and case.reference.strip() else "no_reference"


def missing(case: Case, *needs: Need) -> str | None:
    """Why a metric with these needs is undefined for the case, before anything was asked; the first that lacks."""
    return next((reason for need in needs if (reason := need(case))), None)


def undefined(reason: str) -> Outcome:
    """No score, for this reason."""
    return Outcome(score=None, reason=reason)


def document_blocks(case: Case) -> list[Block]:
    """The documents, `document-1` first, under the numbers of their ranks; those of white space only are left out."""
    ranked = enumerate(case.documents, start=1)
    return [Block(name=f"document-{rank}", text=document) for rank, document in ranked if document.strip()]


def numbered(name: str, items: Iterable[str]) -> Block:
    """A block with one item a line: `[1] …`."""
    return Block(name=name, text="\n".join(numbered_line(n, item) for n, item in enumerate(items, start=1)))


def numbered_line(number: int, item: str) -> str:
    """`[number]` and the item, on one line."""
    return f"[{number}] {' '.join(item.split())}"


def distinct(texts: Iterable[str], limit: int) -> list[str]:
    """The first `limit` different texts, those of white space only left out."""
    kept: dict[str, str] = {}
    for text in texts:
        if key := " ".join(text.casefold().split()):
            kept.setdefault(key, text.strip())
    return list(kept.values())[:limit]
