"""The answers of a scripted server to ragas 0.4.3, which it recognises by the beginning of each prompt.

The prompt is the content of a request's last message. It contains ragas's own examples, so the case is looked for only
in the JSON after the last "input:", by the one text of a case that each kind of call contains.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

STATEMENTS = "Given a question and an answer, analyze the complexity of each sentence"
VERDICTS = "Your task is to judge the faithfulness of a series of statements"
QUESTION = "Generate a question for the given answer and identify if the answer is noncommittal"
RELEVANCE = (
    "You are a world class expert designed to evaluate the relevance score of a Context",
    "As a specially designed expert to assess the relevance score of a given Context",
)


class Case(Protocol):
    """An interaction and the judge's verdicts; no two have the same question, answer or first statement."""

    @property
    def question(self) -> str: ...
    @property
    def answer(self) -> str: ...
    @property
    def statements(self) -> list[str]: ...
    @property
    def verdicts(self) -> list[bool]:
        """One verdict for each statement."""

    @property
    def questions(self) -> list[str]:
        """Questions that the answer could be an answer to."""

    @property
    def relevance(self) -> int:
        """Relevance of the documents to the question: 0, 1 or 2."""


AnyCase = TypeVar("AnyCase", bound=Case)


def case_of(prompt: str, cases: Iterable[AnyCase]) -> AnyCase | None:
    """The case that one of ragas's prompts is about."""
    given = _input(prompt)
    question = given.get("question", given.get("user_input"))
    answer = given.get("response")
    first = given["statements"][0] if given.get("statements") else None
    return next((c for c in cases if question == c.question or answer == c.answer or first in c.statements[:1]), None)


def ragas_answer(prompt: str, case: Case, before: int = 0) -> dict[str, Any] | None:
    """The JSON that ragas expects of a call; None if the call is not one of ragas's.

    `before` counts the earlier calls with the same prompt: for its three questions ragas sends one prompt three times,
    and nothing else in the requests distinguishes them.
    """
    if prompt.startswith(STATEMENTS):
        return {"statements": case.statements}
    if prompt.startswith(VERDICTS):
        judged = zip(case.statements, case.verdicts, strict=True)
        return {"statements": [{"statement": s, "reason": "So it says.", "verdict": int(v)} for s, v in judged]}
    if prompt.startswith(QUESTION):
        return {"question": case.questions[before % len(case.questions)], "noncommittal": 0}
    if prompt.startswith(RELEVANCE):
        return {"rating": case.relevance}
    return None


def _input(prompt: str) -> dict[str, Any]:
    """The input of a prompt; line ends within its texts are escaped, so the last such line is ragas's own."""
    _, found, text = prompt.rpartition("\ninput: ")
    return json.JSONDecoder().raw_decode(text)[0] if found else {}
