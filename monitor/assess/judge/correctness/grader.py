"""Judges how correct an answer is beside a reference answer, several times if asked to.

The judge writes its feedback before the score (Iwama and Takeuchi, 2025; metrics.md §4). Models lean towards a place in
the list of scores, so judgings take turns with two prompts that differ in the order of that list only: an even number
of them cannot be tilted by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from pydantic import field_validator
from typing_extensions import override

from monitor.assess.judge.correctness.grade import Grade, Grader
from monitor.assess.llm.exchange import Block, Form, NoAnswer, Prompt, Reply, Request, Spend, load_prompt
from monitor.assess.ports import LanguageModel
from monitor.core.text.plain import ELLIPSIS

MOST_CONTEXTS: Final = 8
LONGEST_CONTEXT: Final = 4_000  # characters, as the next two
LONGEST_TEXT: Final = 12_000  # of question, reference and answer each
LONGEST_FEEDBACK: Final = 2_000


class _Judging(Form):
    """What both forms hold: the feedback comes before the score."""

    feedback: str

    @field_validator("score", mode="before", check_fields=False)
    @classmethod
    def _whole(cls, score: object) -> object:
        """Refuses what only equals a whole number: `true` is no 1."""
        if type(score) is not int:
            raise ValueError("not a whole number")
        return score


class JudgedDown(_Judging):
    """A judging with the scores listed from 5 down."""

    score: Literal[5, 4, 3, 2, 1, 0]


class JudgedUp(_Judging):
    """A judging with the scores listed from 0 up."""

    score: Literal[0, 1, 2, 3, 4, 5]


_Judged: TypeAlias = JudgedDown | JudgedUp
_PACKAGE: Final = "monitor.assess.judge"
DOWN: Final = load_prompt(_PACKAGE, "correctness_down.v1", JudgedDown)
UP: Final = load_prompt(_PACKAGE, "correctness_up.v1", JudgedUp)


class CorrectnessGrader(Grader):
    """Asks `model` `repeats` times for each answer: the 1st, 3rd, … time with the scores from 5 down.

    Of question, reference and answer the first LONGEST_TEXT characters are judged, with at most MOST_CONTEXTS contexts.
    """

    def __init__(self, model: LanguageModel, *, repeats: int = 1) -> None:
        if repeats < 1:
            raise ValueError(f"{repeats} judgings")
        self._model = model
        self._repeats = repeats

    @property
    @override
    def model(self) -> str:
        return self._model.model

    @property
    def prompts(self) -> tuple[Prompt[Any], ...]:
        """The different prompts that an answer is judged with, in order."""
        return (DOWN, UP)[: self._repeats]

    @override
    def grade(
        self, *, question: str, contexts: Sequence[str], reference: str, answer: str, deadline: float | None = None
    ) -> Grade:
        if not answer.strip():
            return Grade(scores=(), reason="empty_answer")
        blocks = _blocks(question, contexts, reference, answer)
        judged: list[_Judged] = []
        spend, reasons = Spend(), list[str]()
        for time in range(self._repeats):
            try:
                reply = self._judged(blocks, scores_up=time % 2 == 1, deadline=deadline)
            except NoAnswer as error:
                reasons.append(error.reason)
                spend += error.spend
            else:
                judged.append(reply.value)
                spend += reply.spend
        grade = Grade(
            scores=tuple(one.score for one in judged),
            reason=None if judged else reasons[0],
            spend=spend,
            prompts=self.prompts,
        )
        return grade if grade.score is None else _with_feedback(grade, judged, grade.score)

    def _judged(
        self, blocks: tuple[Block, ...], *, scores_up: bool, deadline: float | None
    ) -> Reply[JudgedDown] | Reply[JudgedUp]:
        if scores_up:
            return self._model.ask(Request(prompt=UP, blocks=blocks), deadline=deadline)
        return self._model.ask(Request(prompt=DOWN, blocks=blocks), deadline=deadline)


def _blocks(question: str, contexts: Sequence[str], reference: str, answer: str) -> tuple[Block, ...]:
    told = islice((context for context in contexts if context.strip()), MOST_CONTEXTS)
    return (
        Block(name="question", text=_cut(question, LONGEST_TEXT)),
        Block(name="reference", text=_cut(reference, LONGEST_TEXT)),
        *(Block(name=f"context-{n}", text=_cut(context, LONGEST_CONTEXT)) for n, context in enumerate(told, start=1)),
        Block(name="answer", text=_cut(answer, LONGEST_TEXT)),
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + ELLIPSIS


def _with_feedback(grade: Grade, judged: Sequence[_Judged], score: float) -> Grade:
    """`grade` with the feedback of the judging that is nearest to it, since feedbacks cannot be averaged."""
    nearest = min(judged, key=lambda one: abs(one.score - score))
    return Grade(
        scores=grade.scores,
        feedback=_cut(nearest.feedback.strip(), LONGEST_FEEDBACK),
        reason=grade.reason,
        spend=grade.spend,
        prompts=grade.prompts,
    )
