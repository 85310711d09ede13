"""What a conversation about a golden item needs, in memory: a chatbot, a grader, contexts, roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from monitor.assess.judge.correctness.grade import Grade
from monitor.assess.llm.exchange import Spend
from monitor.probe.conversation.converse import converse
from monitor.probe.conversation.roles import Roles
from monitor.probe.golden import GoldenItem
from monitor.probe.result import ItemResult
from monitor.probe.target import ChatbotAnswer, Exchange
from monitor.simulate.fakes.flow import ScriptedLanguageModel
from tests.servers.llm.conversing import score

ITEM = GoldenItem(id="refund", question="How long does a refund take?", reference="A refund takes 14 days.")
RIGHT = ITEM.reference
NO_IDEA = "I do not know."
COSTS = Spend(calls=1, input_tokens=10, output_tokens=2)


@dataclass
class Chatbot:
    """Says one thing after another, the last one for ever; raises what is an exception."""

    says: Sequence[str | ChatbotAnswer | Exception]
    place: str = "memory"
    heard: list[tuple[str, tuple[Exchange, ...], str]] = field(default_factory=list)

    def ask(self, question: str, *, history: Sequence[Exchange], conversation: str) -> ChatbotAnswer:
        self.heard.append((question, tuple(history), conversation))
        said = self.says[min(len(self.heard), len(self.says)) - 1]
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, ChatbotAnswer) else ChatbotAnswer(text=said)

    def close(self) -> None:
        """Nothing is open."""

    @property
    def questions(self) -> list[str]:
        return [question for question, _, _ in self.heard]


@dataclass
class WordGrader:
    """Grades by the words that answer and reference share; `grades` go first, None for a grade by words."""

    grades: list[Grade | Exception | None] = field(default_factory=list)
    graded: list[str] = field(default_factory=list)
    model: str = "words"

    def grade(
        self, *, question: str, contexts: Sequence[str], reference: str, answer: str, deadline: Any = None
    ) -> Grade:
        self.graded.append(answer)
        given = self.grades.pop(0) if self.grades else None
        if isinstance(given, Exception):
            raise given
        return given or Grade(scores=(score(answer, reference),), feedback=f"Beside {reference}", spend=COSTS)


@dataclass
class Shelf:
    """Always finds the same document."""

    asked: list[tuple[str, str]] = field(default_factory=list)

    def find(self, question: str, reference: str) -> Sequence[str]:
        self.asked.append((question, reference))
        return ["Refunds: 14 days."]


def model(**answers: Sequence[Any]) -> ScriptedLanguageModel:
    """A model that answers `compose`, `ask_on` and `regrain` one after another."""
    return ScriptedLanguageModel(answers={f"{name}.v1": given for name, given in answers.items()})


def talk(chatbot: Chatbot, roles: Roles | None, *, turns: int = 3, item: GoldenItem = ITEM, **given: Any) -> ItemResult:
    usual: dict[str, Any] = {"grader": WordGrader(), "contexts": Shelf(), "conversation": "monitor-probe-1-0"}
    return converse(item, target=chatbot, roles=roles, turns=turns, **{**usual, **given})
