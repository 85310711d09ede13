"""Simulates the traffic of the support bot: questions, retrieved documents and answers.

Everything follows from the seed, so the same seed gives the same interactions; only their times move with `start`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from random import Random
from typing import Any

from monitor.core.model import Document, Interaction, TokenUsage, Verdict
from monitor.simulate.scenarios import Phase, Scenario

RETRIEVED = 3  # documents for a question
ID_PREFIX = "demo-"
PRICES = Path(__file__).parent / "knowledge" / "prices.yaml"  # of the models below, made up like them
MODELS = (("kestrel-2-large", 3), ("kestrel-2-mini", 1))  # with their shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """An interaction with its true verdict."""

    interaction: Interaction
    truth: Verdict


class Bot:
    """The support bot: a knowledge base, questions, and a generator that answers, refuses or makes things up."""

    def __init__(self, *, app: str, random: Random) -> None:
        folder = resources.files("monitor.simulate") / "knowledge"

        def read(name: str) -> list[dict[str, Any]]:
            return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]

        self._app = app
        self._random = random
        self._passages = {p["id"]: _document(p, "support-articles") for p in read("passages.jsonl")}
        self._topics: dict[str, list[Document]] = {}
        for passage in read("passages.jsonl"):
            self._topics.setdefault(passage["topic"], []).append(self._passages[passage["id"]])
        self._unrelated = [_document(p, "office-handbook") for p in read("unrelated.jsonl")]
        self._questions = read("questions.jsonl")
        self._refusals: list[str] = json.loads((folder / "refusals.json").read_text(encoding="utf-8"))

    def answer(self, number: int, at: datetime, phase: Phase) -> Simulated:
        """Interaction number `number`, at the given time in `phase`."""
        random = self._random
        asked = random.choice(self._questions)
        truth = random.choices(list(phase.mix), weights=list(phase.mix.values()))[0]
        answer = self._worded(truth, asked)
        documents = self._unrelated if phase.retrieval_broken else self._retrieve(asked)
        interaction = Interaction(
            id=f"{ID_PREFIX}{number:05d}",
            app=self._app,
            occurred_at=at,
            question=asked["question"],
            answer=answer,
            retrieved_documents=tuple(
                documents if len(documents) <= RETRIEVED else random.sample(documents, RETRIEVED)
            ),
            environment="demo",
            model=random.choices([name for name, _ in MODELS], weights=[share for _, share in MODELS])[0],
            prompt_version=phase.prompt_version,
            tags={"topic": asked["topic"]},
            latency_ms=round(random.lognormvariate(6.8, 0.4), 1),
            usage=TokenUsage(input=900 + random.randrange(400), output=20 + len(answer) // 4),
        )
        return Simulated(interaction=interaction, truth=truth)

    def _worded(self, truth: Verdict, asked: dict[str, Any]) -> str:
        if truth is Verdict.REFUSAL:
            return self._random.choice(self._refusals).format(subject=asked["topic"])
        kind = "grounded" if truth is Verdict.GROUNDED else "fabricated"
        return str(self._random.choice(asked[kind]))

    def _retrieve(self, asked: dict[str, Any]) -> list[Document]:
        """The passages that hold the answer, plus others of the same topic."""
        found = [self._passages[name] for name in asked["passages"]]
        neighbours = [d for d in self._topics[asked["topic"]] if d not in found]
        return found + self._random.sample(neighbours, min(len(neighbours), max(0, RETRIEVED - len(found))))


def play(scenario: Scenario, *, app: str, start: datetime, seed: int) -> Iterator[tuple[datetime, Sequence[Simulated]]]:
    """For each step: its end, and its interactions in order of time."""
    random = Random(seed)  # noqa: S311  a simulation, repeatable by its seed
    bot = Bot(app=app, random=random)
    number = 0
    for step in range(scenario.steps):
        begin = start + step * scenario.step
        phase = scenario.phase_at(begin - start)
        count = round(phase.per_minute * scenario.step / timedelta(minutes=1) * random.uniform(0.8, 1.2))
        moments = sorted(begin + random.random() * scenario.step for _ in range(count))
        answered = [bot.answer(number + i, moment, phase) for i, moment in enumerate(moments)]
        number += len(answered)
        yield begin + scenario.step, answered


def event(it: Interaction) -> dict[str, object]:
    """The native event that the bot would log."""
    return {
        "id": it.id,
        "app": it.app,
        "environment": it.environment,
        "occurred_at": it.occurred_at.isoformat(),
        "question": it.question,
        "answer": it.answer,
        "model": it.model,
        "prompt_version": it.prompt_version,
        "tags": dict(it.tags),
        "latency_ms": it.latency_ms,
        "usage": {"input": it.usage.input, "output": it.usage.output} if it.usage else None,
        "retrieved_documents": [
            {"id": d.id, "text": d.text, "source": d.source, "metadata": d.metadata} for d in it.retrieved_documents
        ],
    }


def _document(passage: dict[str, Any], source: str) -> Document:
    return Document(
        id=passage["id"],
        text=f"{passage['title']}\n\n{passage['text']}",
        source=source,
        metadata={"topic": passage["topic"]},
    )
