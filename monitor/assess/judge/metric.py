"""The types of judged metrics. A metric is a function from a case, and a way to ask about it, to an outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from monitor.assess.llm.exchange import Block, Form, NoAnswer, Prompt, Request, Spend, prompts_hash
from monitor.assess.ports import Embedder, LanguageModel
from monitor.assess.threshold import UNKNOWN, Spread
from monitor.core.diagnosis import Chunk
from monitor.core.model import Json

T = TypeVar("T", bound=Form)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The texts of one interaction. `refuses` says that the answer is worded as a refusal and states nothing.

    `chunks` are those of its diagnosis, if it has one; `prior` is the spread of the scores of the app's earlier chunks.
    """

    question: str
    answer: str
    documents: tuple[str, ...]
    reference: str | None = None
    refuses: bool = False
    chunks: tuple[Chunk, ...] = ()
    prior: Spread = UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A score in [0, 1] (answer relevance: [-1, 1]), or None with the reason. `parts` are the findings behind it."""

    score: float | None
    reason: str | None = None
    parts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One LLM-judged metric of one interaction, with its cost.

    `prompt_hash` is the hash of all `prompts` that were sent, in order; empty if there was nothing to ask.
    """

    metric: str
    outcome: Outcome
    mode: str
    model: str
    prompt_hash: str
    spend: Spend
    prompts: tuple[Prompt[Any], ...] = ()


class Asker:
    """Asks the model about one case, and records the prompts and what the calls used.

    `rewrites` says that a metric that looks for something may have the question rewritten first.
    """

    def __init__(
        self, model: LanguageModel, embedder: Embedder, *, deadline: float | None = None, rewrites: bool = False
    ) -> None:
        self._model = model
        self._embedder = embedder
        self._deadline = deadline
        self.rewrites = rewrites
        self.prompts: tuple[Prompt[Any], ...] = ()
        self.spend = Spend()

    @property
    def prompt_hash(self) -> str:
        """The hash of all prompts that were sent, in order."""
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
        """The cosine similarities of `text` with each of the others.

        Raises:
            Retriable, Fatal: as the embedder does.
        """
        vectors = self._embedder.embed([text, *others])
        return [float(similarity) for similarity in vectors[1:] @ vectors[0]]


Metric: TypeAlias = Callable[[Case, Asker], Outcome]
