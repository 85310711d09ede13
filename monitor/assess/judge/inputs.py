"""The inputs of judged metrics: which texts a metric needs, and how the model gets them.

Lists go to the model as numbered lines. White space inside an item is collapsed, so that no item can begin a line, and
with it another item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from monitor.assess.judge.metric import Case, Outcome
from monitor.assess.llm.exchange import Block

Need: TypeAlias = Callable[[Case], str | None]


def question(case: Case) -> str | None:
    """`empty_question` if there is none."""
    return None if case.question.strip() else "empty_question"


def answer(case: Case) -> str | None:
    """`empty_answer` if there is none, `refusal` if it states nothing."""
    if not case.answer.strip():
        return "empty_answer"
    return "refusal" if case.refuses else None


def documents(case: Case) -> str | None:
    """`no_documents` if there are none, or all of them are white space."""
    return None if any(document.strip() for document in case.documents) else "no_documents"


def reference(case: Case) -> str | None:
    """`no_reference` if there is none."""
    return None if case.reference and case.reference.strip() else "no_reference"


def missing(case: Case, *needs: Need) -> str | None:
    """Why a metric with these needs is undefined for the case: the reason of the first unmet need, or None."""
    return next((reason for need in needs if (reason := need(case))), None)


def undefined(reason: str) -> Outcome:
    return Outcome(score=None, reason=reason)


def document_blocks(case: Case) -> list[Block]:
    """The documents under their ranks, from `document-1` on, without those of only white space."""
    ranked = enumerate(case.documents, start=1)
    return [Block(name=f"document-{rank}", text=document) for rank, document in ranked if document.strip()]


def numbered(name: str, items: Iterable[str]) -> Block:
    """A block with one item per line: `[1] …`."""
    return Block(name=name, text="\n".join(numbered_line(n, item) for n, item in enumerate(items, start=1)))


def numbered_line(number: int, item: str) -> str:
    """`[number]` and the item, on one line."""
    return f"[{number}] {' '.join(item.split())}"


def distinct(texts: Iterable[str], limit: int) -> list[str]:
    """The first `limit` different texts, without those of only white space. Case and white space do not count."""
    by_key: dict[str, str] = {}
    for text in texts:
        if key := " ".join(text.casefold().split()):
            by_key.setdefault(key, text.strip())
    return list(by_key.values())[:limit]
