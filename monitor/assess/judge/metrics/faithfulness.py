"""Faithfulness: the share of the answer's statements that the documents support (Es et al., 2023; metrics.md §2)."""

from __future__ import annotations

from typing import Final

from monitor.assess.judge.inputs import Need, answer, document_blocks, documents, missing, numbered, question, undefined
from monitor.assess.judge.metric import Asker, Case, Outcome
from monitor.assess.judge.model_verdicts import Numbered, Statement, by_number, incomplete, supported_share
from monitor.assess.llm.exchange import Block, Form, load_prompt


class Statements(Form):
    """The statements of the answer."""

    statements: list[str]


class Verdict(Numbered):
    """Whether a statement is supported."""

    why: str
    supported: bool


class Verdicts(Form):
    """One verdict for each statement."""

    verdicts: list[Verdict]


NEEDS: Final[tuple[Need, ...]] = (question, answer, documents)
STATEMENTS: Final = load_prompt("monitor.assess.judge", "faithfulness_statements.v1", Statements)
VERDICTS: Final = load_prompt("monitor.assess.judge", "faithfulness_verdicts.v1", Verdicts)


def faithfulness(case: Case, asker: Asker) -> Outcome:
    """Statements that the documents support / statements of the answer.

    The first call splits the answer into statements; the second gives each statement a verdict.
    """
    if reason := missing(case, *NEEDS):
        return undefined(reason)
    blocks = Block(name="question", text=case.question), Block(name="answer", text=case.answer)
    statements = [text for text in asker.ask(STATEMENTS, *blocks).statements if text.strip()]
    if not statements:
        return undefined("no_statements")
    asked = asker.ask(VERDICTS, *document_blocks(case), numbered("statements", statements)).verdicts
    verdicts = by_number(asked, range(1, len(statements) + 1))
    if verdicts is None:
        return incomplete(asked, statements=[{"statement": text} for text in statements])
    return supported_share(
        [
            Statement(statement=text, why=verdicts[n].why, supported=verdicts[n].supported)
            for n, text in enumerate(statements, start=1)
        ]
    )
