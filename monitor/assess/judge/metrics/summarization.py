"""Summarization score: how much of its documents a summary keeps, and how brief it is (RAGAS; metrics.md §2)."""

from __future__ import annotations

from typing import Final

from monitor.assess.judge.inputs import answer, distinct, document_blocks, documents, missing, numbered, undefined
from monitor.assess.judge.metric import Asker, Case, Outcome
from monitor.assess.judge.model_verdicts import Numbered, by_number, incomplete
from monitor.assess.llm.exchange import Block, Form, load_prompt

QUESTIONS: Final = 10  # at most; the prompt also says it
WEIGHT: Final = 0.5  # w in the formula: the weight of the questions


class Questions(Form):
    """Questions that the documents answer with "yes"."""

    questions: list[str]


class Verdict(Numbered):
    """Whether the summary answers a question with "yes"."""

    yes: bool


class Verdicts(Form):
    """One verdict for each question."""

    answers: list[Verdict]


ASKED: Final = load_prompt("monitor.assess.judge", "summarization_questions.v1", Questions)
ANSWERED: Final = load_prompt("monitor.assess.judge", "summarization_answers.v1", Verdicts)


def summarization_score(case: Case, asker: Asker) -> Outcome:
    """Half the share of questions that the summary answers with "yes", plus half the conciseness.

    w · yes / questions + (1 − w) · conciseness, with w = 0.5. The answer is the summary. The model makes the questions
    from the documents, which answer each with "yes"; the call that answers them sees only the summary.
    """
    if reason := missing(case, answer, documents):
        return undefined(reason)
    questions = distinct(asker.ask(ASKED, *document_blocks(case)).questions, QUESTIONS)
    if not questions:
        return undefined("no_questions")
    summary = Block(name="summary", text=case.answer)
    given = asker.ask(ANSWERED, summary, numbered("questions", questions)).answers
    answers = by_number(given, range(1, len(questions) + 1))
    if answers is None:
        return incomplete(given, questions=[{"question": text} for text in questions])
    kept = sum(verdict.yes for verdict in answers.values()) / len(questions)
    brief = conciseness(case.answer, "\n".join(case.documents))
    return Outcome(
        score=WEIGHT * kept + (1 - WEIGHT) * brief,
        parts={
            "questions": [{"question": text, "yes": answers[n].yes} for n, text in enumerate(questions, start=1)],
            "answered": kept,
            "conciseness": brief,
        },
    )


def conciseness(summary: str, text: str) -> float:
    """1 − min(|summary|, |text|) / |text|, in characters. `text` must not be empty."""
    return 1 - min(len(summary), len(text)) / len(text)
