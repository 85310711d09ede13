"""Made-up interactions with the judge's verdicts on each, and a server's answers to the calls of monitor and ragas.

Every text of an interaction names its product, `K-17`, and no other, so the text of a call identifies its case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from threading import Lock
from typing import Any

from benchmarks.judge.ragas_answers import case_of, ragas_answer
from monitor.assess.judge import combined
from monitor.assess.judge.metric import Case
from monitor.assess.judge.metrics import answer_relevance, context_relevance, faithfulness
from monitor.assess.llm.exchange import Prompt
from monitor.core.model import Document, Interaction
from tests.servers.llm import ChatRequest

WHY = "So it says."  # the reason for every verdict, ours and ragas's
APP = "bench"
_PRODUCT = re.compile(r"\bK-(\d+)\b")
_PARTS = ("lid", "base", "cable", "heating plate", "filter", "handle", "spout", "switch", "water gauge", "thermostat")
_FACTS = (
    "The {part} of the kettle K-{n} has to be cleaned every {number} weeks with a soft cloth and warm water.",
    "A new {part} for the K-{n} is sent free of charge within {number} months of the purchase.",
    "Customers who ordered the K-{n} with a second {part} get it in a parcel of its own after {number} days.",
    "The {part} of the K-{n} was tested by the maker for {number} hours and must not be opened by anyone else.",
    "If the {part} of a K-{n} grows hot, it is switched off and left alone for {number} minutes.",
    "Since spring every K-{n} comes with a {part} that can be taken off and weighs {number} grams.",
)
_QUESTIONS = (
    "What do I have to know about the {part} of my K-{n}?",
    "How is the {part} of the kettle K-{n} looked after?",
    "Which rules are there for the {part} of a K-{n}, and for how long do they hold?",
    "Is anything said about the {part} of the K-{n}?",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCase:
    """An interaction and the judge's verdicts; `documents` are lists of sentences, `needed` numbers of sentences."""

    number: int
    question: str
    answer: str
    documents: tuple[tuple[str, ...], ...]
    statements: list[str]
    verdicts: list[bool]
    questions: list[str]
    needed: list[int]

    @property
    def texts(self) -> tuple[str, ...]:
        """The documents as they were retrieved."""
        return tuple(" ".join(sentences) for sentences in self.documents)

    @property
    def relevance(self) -> int:
        """The relevance of the documents in ragas's way."""
        return min(len(self.needed), 2)

    @property
    def context_relevance(self) -> float:
        """By the formula of Es et al. (2023): needed sentences / sentences."""
        return len(self.needed) / sum(map(len, self.documents))

    @property
    def case(self) -> Case:
        return Case(question=self.question, answer=self.answer, documents=self.texts)

    def interaction(self) -> Interaction:
        documents = tuple(Document(id=f"{self.number}-{n}", text=text) for n, text in enumerate(self.texts))
        now = datetime.now(UTC)
        return Interaction(
            id=str(self.number),
            app=APP,
            occurred_at=now,
            question=self.question,
            answer=self.answer,
            retrieved_documents=documents,
        )


def made(count: int, seed: int, *, first: int = 0) -> list[JudgedCase]:
    """The interactions from number `first` on; each depends on its number and the seed alone."""
    return [_made(number, Random(f"{seed}-{number}")) for number in range(first, first + count)]


def _made(number: int, random: Random) -> JudgedCase:
    def sentence() -> str:
        fact = random.choice(_FACTS)
        return fact.format(part=random.choice(_PARTS), n=number, number=random.randint(2, 99))

    documents = tuple(tuple(sentence() for _ in range(random.randint(3, 7))) for _ in range(random.randint(3, 5)))
    statements = [sentence() for _ in range(random.randint(1, 6))]
    texts = [text.format(part=random.choice(_PARTS), n=number) for text in _QUESTIONS]
    question, *questions = random.sample(texts, len(texts))
    if random.random() < 0.5:
        questions[random.randrange(3)] = question
    sentences = range(1, sum(map(len, documents)) + 1)
    return JudgedCase(
        number=number,
        question=question,
        answer=" ".join(statements),
        documents=documents,
        statements=statements,
        verdicts=[random.random() < 0.8 for _ in statements],
        questions=questions,
        needed=sorted(random.sample(sentences, random.choice((0, 1, 2, 3, 5, len(sentences))))),
    )


def _judged(it: JudgedCase) -> list[tuple[str, bool]]:
    return list(zip(it.statements, it.verdicts, strict=True))


def _statements(it: JudgedCase) -> dict[str, Any]:
    return {"statements": it.statements}


def _verdicts(it: JudgedCase) -> dict[str, Any]:
    found = enumerate(it.verdicts, start=1)
    return {"verdicts": [{"number": number, "why": WHY, "supported": verdict} for number, verdict in found]}


def _questions(it: JudgedCase) -> dict[str, Any]:
    return {"questions": it.questions}


def _choice(it: JudgedCase) -> dict[str, Any]:
    return {"needed": it.needed, "insufficient": not it.needed}


def _all(it: JudgedCase) -> dict[str, Any]:
    statements = [{"statement": text, "why": WHY, "supported": verdict} for text, verdict in _judged(it)]
    return {"statements": statements, **_questions(it), **_choice(it)}


def _name(prompt: Prompt[Any]) -> str:
    """The name of a case in requests."""
    return prompt.name.replace(".", "_")


_OURS: Mapping[str, Callable[[JudgedCase], dict[str, Any]]] = {
    _name(faithfulness.STATEMENTS): _statements,
    _name(faithfulness.VERDICTS): _verdicts,
    _name(answer_relevance.PROMPT): _questions,
    _name(context_relevance.PROMPT): _choice,
    _name(combined.PROMPT): _all,
}


def scripted(cases: Sequence[JudgedCase]) -> Callable[[ChatRequest], object]:
    """The answers of a server to calls about these interactions."""
    by_number = {it.number: it for it in cases}
    came: Counter[str] = Counter()
    lock = Lock()

    def answer(request: ChatRequest) -> object:
        if (ours := _OURS.get(request.schema_name or "")) is not None:
            product = _PRODUCT.search(request.user)
            return ours(by_number[int(product[1])]) if product else {}
        prompt = str(request.messages[-1]["content"])
        with lock:
            before = came[prompt]
            came[prompt] += 1
        it = case_of(prompt, cases)
        found = ragas_answer(prompt, it, before) if it else None
        if found is None:
            raise ValueError(f"nobody knows what to answer to: {prompt[:200]}")
        return found

    return answer
