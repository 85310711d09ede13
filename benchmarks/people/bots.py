"""Support bots that break in five ways, with the truth beside each answer.

A bot answers questions on some topics of the made-up knowledge base of `monitor/simulate/knowledge`. Its retriever
finds the passages that hold the answer and the nearest others by their MiniLM vectors. All follows from the seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib import resources
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.alert.explain.cause import Broken
from monitor.core.model import Document, Interaction, Verdict

RETRIEVED = 3  # documents for a question
TOPICS = 5  # of a bot
WORDINGS = 3  # of the refusal of a question
USUAL: Mapping[Verdict, float] = {Verdict.GROUNDED: 0.90, Verdict.REFUSAL: 0.06, Verdict.SELF_GENERATED: 0.04}
HARD: Mapping[Verdict, float] = {Verdict.GROUNDED: 0.70, Verdict.REFUSAL: 0.15, Verdict.SELF_GENERATED: 0.15}
MODELS, MODEL_WEIGHTS = ("kestrel-2-large", "kestrel-2-mini"), (3, 1)
RELEASED = "kestrel-3-preview"

Vectors = NDArray[np.float32]


class IncidentKind(StrEnum):
    """What happens to a bot."""

    WRONG_DOCUMENTS = "wrong documents"  # the retriever returns those of another topic for one topic
    EMPTY_INDEX = "empty index"  # the retriever finds nothing
    INVENTING_MODEL = "inventing model"  # a new release answers from memory
    WRONG_REFUSALS = "wrong refusals"  # a new prompt makes the generator refuse
    KNOWLEDGE_GAP = "knowledge gap"  # users begin to ask about a topic that the knowledge base lacks


CAUSES: Mapping[IncidentKind, Broken] = {
    IncidentKind.WRONG_DOCUMENTS: Broken.RETRIEVER,
    IncidentKind.EMPTY_INDEX: Broken.RETRIEVER,
    IncidentKind.INVENTING_MODEL: Broken.GENERATOR,
    IncidentKind.WRONG_REFUSALS: Broken.GENERATOR,
    IncidentKind.KNOWLEDGE_GAP: Broken.KNOWLEDGE_BASE,
}


UNANSWERABLE = (IncidentKind.WRONG_DOCUMENTS, IncidentKind.EMPTY_INDEX, IncidentKind.KNOWLEDGE_GAP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """What breaks in one bot and how badly; `share` is of the answers that the break could reach."""

    kind: IncidentKind
    topic: str
    wrong_topic: str
    share: float
    mix: Mapping[Verdict, float]
    tagged: bool  # whether questions about the missing topic have a tag of their own


class Knowledge:
    """The passages and questions, and the passages nearest to each question."""

    def __init__(self, embed: Callable[[Sequence[str]], Vectors]) -> None:
        folder = resources.files("monitor.simulate") / "knowledge"

        def read(name: str) -> list[dict[str, Any]]:
            return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]

        passages = read("passages.jsonl")
        self.topics = sorted({each["topic"] for each in passages})
        self.refusals: list[str] = json.loads((folder / "refusals.json").read_text(encoding="utf-8"))
        self.questions: dict[str, list[dict[str, Any]]] = {topic: [] for topic in self.topics}
        self.documents = {each["id"]: Document(id=each["id"], text=_text(each)) for each in passages}
        self.topic_of = {each["id"]: each["topic"] for each in passages}
        asked = read("questions.jsonl")
        near = np.argsort(-embed([each["question"] for each in asked]) @ embed([_text(e) for e in passages]).T, axis=1)
        self.nearest = {
            each["id"]: [passages[place]["id"] for place in places]
            for each, places in zip(asked, near.tolist(), strict=True)
        }
        for each in asked:
            self.questions[each["topic"]].append(each)


@dataclass(slots=True, kw_only=True)
class Bot:
    """One app with its incident; `truth` maps the ids of its answers to whether the incident made them bad."""

    app: str
    knowledge: Knowledge
    random: Random
    incident: Incident | None
    hard: bool = False  # its first topic is always answered worse
    truth: dict[str, bool] = field(default_factory=dict)
    topics: list[str] = field(init=False)
    weights: list[float] = field(init=False)
    indexed: set[str] = field(init=False)

    def __post_init__(self) -> None:
        lacking = {self.incident.topic} if self._lacks_topic else set()
        others = [topic for topic in self.knowledge.topics if topic not in lacking]
        wanted = {self.incident.topic} if self.incident and not lacking else set()
        drawn = self.random.sample([topic for topic in others if topic not in wanted], TOPICS - len(wanted))
        self.topics = sorted([*drawn, *wanted])
        self.weights = [3.0 if topic in wanted else self.random.uniform(1, 2) for topic in self.topics]
        self.indexed = {name for name, topic in self.knowledge.topic_of.items() if topic in self.topics}

    @property
    def _lacks_topic(self) -> bool:
        return self.incident is not None and self.incident.kind is IncidentKind.KNOWLEDGE_GAP

    def answer(self, at: datetime, *, broken: bool) -> Interaction:
        """The next answer; `broken` while the incident lasts."""
        random, incident = self.random, self.incident if broken else None
        topic = random.choices(self.topics, self.weights)[0]
        model, prompt = random.choices(MODELS, MODEL_WEIGHTS)[0], "support-41"
        mix = HARD if self.hard and topic == self.topics[0] else USUAL
        hit = incident is not None and random.random() < incident.share
        if incident and incident.kind is IncidentKind.KNOWLEDGE_GAP and hit:
            topic = incident.topic
        if incident and incident.kind is IncidentKind.WRONG_DOCUMENTS:
            hit = topic == incident.topic
        if incident and hit:
            mix = incident.mix
            model = RELEASED if incident.kind is IncidentKind.INVENTING_MODEL else model
            prompt = "support-42" if incident.kind is IncidentKind.WRONG_REFUSALS else prompt
        asked = random.choice(self.knowledge.questions[topic])
        truth = random.choices(list(mix), list(mix.values()))[0]
        tag = topic if topic in self.topics or (incident and incident.tagged) else random.choice(self.topics)
        interaction = Interaction(
            id=f"{self.app}-{len(self.truth):05d}",
            app=self.app,
            occurred_at=at,
            question=asked["question"],
            answer=self._worded(truth, asked, topic),
            retrieved_documents=tuple(self._retrieved(asked, incident if hit else None)),
            environment="production",
            model=model,
            prompt_version=prompt,
            tags={"topic": tag},
        )
        # whatever is said to documents that do not hold the answer is bad
        unanswerable = incident is not None and incident.kind in UNANSWERABLE
        self.truth[interaction.id] = hit and (truth.negative or unanswerable)
        return interaction

    def _worded(self, truth: Verdict, asked: Mapping[str, Any], topic: str) -> str:
        if truth is Verdict.REFUSAL:  # each question with few wordings, so that scores can be used again
            refusals = self.knowledge.refusals
            first = int(asked["id"].rpartition("-")[2])
            return refusals[(first + self.random.randrange(WORDINGS)) % len(refusals)].format(subject=topic)
        return str(self.random.choice(asked["grounded" if truth is Verdict.GROUNDED else "fabricated"]))

    def _retrieved(self, asked: Mapping[str, Any], incident: Incident | None) -> list[Document]:
        kind = incident.kind if incident else None
        if kind is IncidentKind.EMPTY_INDEX:
            return []
        near = [name for name in self.knowledge.nearest[asked["id"]] if name in self.indexed]
        if incident and kind is IncidentKind.WRONG_DOCUMENTS:
            topic_of = self.knowledge.topic_of
            names = sorted(name for name in topic_of if topic_of[name] == incident.wrong_topic)[:RETRIEVED]
        elif kind is IncidentKind.KNOWLEDGE_GAP:
            names = near[:RETRIEVED]
        else:
            held = list(asked["passages"])
            names = [*held, *(name for name in near if name not in held)][: max(RETRIEVED, len(held))]
        return [self.knowledge.documents[name] for name in names]


def incidents(knowledge: Knowledge, count: int, seed: int) -> list[Incident]:
    """`count` incidents, the five kinds in turn, each with its own topic, extent and mix of answers."""
    random = Random(seed)
    made = []
    for number in range(count):
        kind = list(IncidentKind)[number % len(IncidentKind)]
        topic, wrong_topic = random.sample(knowledge.topics, 2)
        grounded, bad = random.uniform(0.05, 0.15), random.uniform(0.35, 0.65)
        mixes: Mapping[IncidentKind, Mapping[Verdict, float]] = {
            IncidentKind.WRONG_DOCUMENTS: _mix(refusal=(1 - grounded) * bad, invented=(1 - grounded) * (1 - bad)),
            IncidentKind.EMPTY_INDEX: _mix(refusal=(1 - grounded) * bad, invented=(1 - grounded) * (1 - bad)),
            IncidentKind.INVENTING_MODEL: _mix(refusal=0.06, invented=bad),
            IncidentKind.WRONG_REFUSALS: _mix(refusal=bad, invented=0.04),
            IncidentKind.KNOWLEDGE_GAP: _mix(refusal=(1 - grounded) * 0.75, invented=(1 - grounded) * 0.25),
        }
        share = random.uniform(0.35, 0.55) if kind is IncidentKind.KNOWLEDGE_GAP else random.uniform(0.6, 1.0)
        made.append(
            Incident(
                kind=kind,
                topic=topic,
                wrong_topic=wrong_topic,
                share=share,
                mix=mixes[kind],
                tagged=random.random() < 0.5,
            )
        )
    return made


def _mix(*, refusal: float, invented: float) -> dict[Verdict, float]:
    return {
        Verdict.GROUNDED: 1 - refusal - invented,
        Verdict.REFUSAL: refusal,
        Verdict.SELF_GENERATED: invented,
    }


def _text(passage: Mapping[str, Any]) -> str:
    return f"{passage['title']}\n\n{passage['text']}"
