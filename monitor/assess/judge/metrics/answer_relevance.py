"""Answer relevance: whether the answer responds to the question that was asked (Es et al., 2023; metrics.md §2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import Final, TypeAlias

from monitor.assess.judge.inputs import answer, distinct, missing, question, undefined
from monitor.assess.judge.metric import Asker, Case, Outcome
from monitor.assess.llm.exchange import Block, Form, load_prompt

QUESTIONS: Final = 3  # the n of the formula; the prompts also say it

Similarities: TypeAlias = Callable[[str, Sequence[str]], list[float]]


class Questions(Form):
    """Questions made from the answer."""

    questions: list[str]


PROMPT: Final = load_prompt("monitor.assess.judge", "answer_relevance.v1", Questions)


def answer_relevance(case: Case, asker: Asker) -> Outcome:
    """Mean of cos(e(q), e(qᵢ)) over questions qᵢ that the model makes from the answer without seeing the question q."""
    if reason := missing(case, question, answer):
        return undefined(reason)
    made = asker.ask(PROMPT, Block(name="answer", text=case.answer)).questions
    return mean_similarity(case.question, made, asker.similarities)


def mean_similarity(asked: str, made: Sequence[str], similarities: Similarities) -> Outcome:
    """The mean over the first three different questions of `made`, in [-1, 1]; `no_questions` if there is none."""
    questions = distinct(made, QUESTIONS)
    if not questions:
        return undefined("no_questions")
    # float32 products of unit vectors may exceed 1 by a rounding error
    found = [min(max(similarity, -1.0), 1.0) for similarity in similarities(asked, questions)]
    return Outcome(
        score=fsum(found) / len(found),
        parts={
            "questions": [{"question": text, "similarity": value} for text, value in zip(questions, found, strict=True)]
        },
    )
