"""Context recall: the share of the reference answer that the documents hold (RAGAS; metrics.md §2)."""

from __future__ import annotations

from typing import Final

from monitor.assess.judge.inputs import document_blocks, documents, missing, reference, undefined
from monitor.assess.judge.metric import Asker, Case, Outcome
from monitor.assess.judge.model_verdicts import Statement, supported_share
from monitor.assess.llm.exchange import Block, Form, load_prompt


class Attribution(Form):
    """The statements of the reference, each with its verdict."""

    statements: list[Statement]


PROMPT: Final = load_prompt("monitor.assess.judge", "context_recall.v1", Attribution)


def context_recall(case: Case, asker: Asker) -> Outcome:
    """Statements of the reference that the documents support / statements of the reference."""
    if reason := missing(case, documents, reference):
        return undefined(reason)
    blocks = Block(name="reference", text=case.reference or ""), *document_blocks(case)
    return supported_share(asker.ask(PROMPT, *blocks).statements)
