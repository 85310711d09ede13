"""What a judged metric is: a function from a case, and the means to ask about it, to an outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from monitor.assess.llm.exchange import Block, Form, NoAnswer, Prompt, Request, Spend, prompts_hash
from monitor.assess.ports import Embedder, LanguageModel
from monitor.core.model import Json

T = TypeVar("T", bound=Form)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The texts of one interaction. `refuses`: the answer is worded as a refusal, so that it states nothing."""

    question: str
    answer: str
    documents: tuple[str, ...]
    reference: str | None = None
    refuses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A score in [0, 1] (answer relevance: [-1, 1]), or None with the reason; `parts` are what it was made of."""

    score: float | None
    reason: str | None = None
    parts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One LLM-judged metric of one interaction, with what it cost.

    `prompt_hash` is that of all `prompts` which were asked, in their order; empty where nothing had to be asked.
    """

    metric: str
    outcome: Outcome
    mode: str
    model: str
    prompt_hash: str
    spend: Spend
    prompts: tuple[Prompt[Any], ...] = ()


class Asker:
    """Asks for one case, and keeps account of it."""

    def __init__(self, model: LanguageModel, embedder: Embedder, *, deadline: float | None = None) -> None:
        self._model = model
        self._embedder = embedder
        self._deadline = deadline
        self.prompts: tuple[Prompt[Any], ...] = ()
        self.spend = Spend()

    @property
    def prompt_hash(self) -> str:
        """Of all prompts that were asked, in their order."""
        return prompts_hash(self.prompts)

    def ask(self, prompt: Prompt[T], *blocks: Block) -> T:
        """The model's answer.

        Raises:
            NoAnswer, BudgetSpent, Retriable, Fatal: as `LanguageModel.ask` does.
        """
        self.prompts = (*self.prompts, prompt)
        try:
            reply = self._model.ask(Request(prompt=prompt, blocks=blocks), deadline=self._deadline)
        except NoAnswer as error:
            self.spend += error.spend
            raise
        self.spend += reply.spend
        return reply.value

    def similarities(self, text: str, others: Sequence[str]) -> list[float]:
        """The cosine similarity of `text` to each of the others.

        Raises:
            Retriable, Fatal: as the embedder does.
        """
        vectors = self._embedder.embed([text, *others])
        return [float(similarity) for similarity in vectors[1:] @ vectors[0]]


Metric: TypeAlias = Callable[[Case, Asker], Outcome]
