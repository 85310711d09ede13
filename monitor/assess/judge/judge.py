"""Judges interactions: each metric by calls of its own, or three of them by one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, TypeAlias

from monitor.assess.judge.combined import PROMPT, TOGETHER, Combined, combined_outcomes, combined_request, shares
from monitor.assess.judge.inputs import undefined
from monitor.assess.judge.metric import Asker, Case, Judgement, Outcome
from monitor.assess.judge.metrics import METRICS
from monitor.assess.llm.exchange import NoAnswer, Reply, Request, Spend, prompts_hash
from monitor.assess.ports import Embedder, LanguageModel
from monitor.core.errors import WrongSettings

Mode: TypeAlias = Literal["separate", "combined"]
Task: TypeAlias = Callable[[], list[Judgement]]


class Judge:
    """Judges by some of `METRICS`; holds nothing of a case, so any number of threads may use it.

    In `combined` mode faithfulness, answer relevance and context relevance are judged by one call, where at least two
    of them are wanted and defined for the case; the rest goes as in `separate` mode. A judgement's own mode says how it
    came about.
    """

    def __init__(self, model: LanguageModel, embedder: Embedder, *, metrics: Sequence[str], mode: Mode) -> None:
        """`metrics` are names in `METRICS`, in any order.

        Raises:
            WrongSettings: one is not.
        """
        if unknown := [name for name in metrics if name not in METRICS]:
            raise WrongSettings(f"no judged metric: {', '.join(unknown)}; there are {', '.join(METRICS)}")
        self._model = model
        self._embedder = embedder
        self._names = [name for name in METRICS if name in metrics]
        together = [name for name in self._names if name in TOGETHER]
        self._together = together if mode == "combined" and len(together) > 1 else []

    def judge(self, case: Case, *, deadline: float | None = None) -> list[Judgement]:
        """One judgement per metric, in the order of `METRICS`, before `deadline` (of `time.monotonic`).

        Raises:
            BudgetSpent, Retriable, Fatal: as the model or the embedder does; nothing is returned of what went before.
        """
        return [judgement for task in self.tasks(case, deadline=deadline) for judgement in task()]

    def tasks(self, case: Case, *, deadline: float | None = None) -> list[Task]:
        """The same in pieces that may run at a time, in any order; each raises what `judge` does."""
        request, tasks = self.request(case), self.rest(case, deadline=deadline)
        return tasks if request is None else [partial(self._ask_once, case, request, deadline), *tasks]

    def rest(self, case: Case, *, deadline: float | None = None) -> list[Task]:
        """Those of `tasks` that `request` does not cover."""
        covered = self._together if self.request(case) is not None else []
        return [partial(self._alone, name, case, deadline) for name in self._names if name not in covered]

    def request(self, case: Case) -> Request[Combined] | None:
        """The one call for several metrics, where there is one for this case; see `from_reply`."""
        return combined_request(case) if self._together else None

    def from_reply(self, case: Case, reply: Reply[Combined] | NoAnswer) -> list[Judgement]:
        """The judgements that the reply to `request(case)` gives, which share what it used.

        Raises:
            Retriable, Fatal: as the embedder does; the reply may be given again.
        """
        if isinstance(reply, NoAnswer):
            return self._judgements(dict.fromkeys(self._together, undefined(reply.reason)), reply.spend)
        embed = Asker(self._model, self._embedder).similarities
        return self._judgements(combined_outcomes(case, reply.value, embed), reply.spend)

    def _ask_once(self, case: Case, request: Request[Combined], deadline: float | None) -> list[Judgement]:
        try:
            reply = self._model.ask(request, deadline=deadline)
        except NoAnswer as error:
            return self.from_reply(case, error)
        return self.from_reply(case, reply)

    def _judgements(self, outcomes: Mapping[str, Outcome], spend: Spend) -> list[Judgement]:
        return [
            Judgement(
                metric=name,
                outcome=outcomes[name],
                mode="combined",
                model=self._model.model,
                prompt_hash=prompts_hash([PROMPT]),
                prompts=(PROMPT,),
                spend=share,
            )
            for name, share in zip(self._together, shares(spend, len(self._together)), strict=True)
        ]

    def _alone(self, name: str, case: Case, deadline: float | None) -> list[Judgement]:
        asker = Asker(self._model, self._embedder, deadline=deadline)
        try:
            outcome = METRICS[name](case, asker)
        except NoAnswer as error:
            outcome = undefined(error.reason)
        return [
            Judgement(
                metric=name,
                outcome=outcome,
                mode="separate",
                model=self._model.model,
                prompt_hash=asker.prompt_hash,
                prompts=asker.prompts,
                spend=asker.spend,
            )
        ]
