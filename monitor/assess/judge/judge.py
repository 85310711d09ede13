"""Judges interactions: each metric with its own calls, or three of them with one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, TypeAlias

from monitor.assess.judge.combined import PROMPT, TOGETHER, Combined, combined_outcomes, combined_request, shares
from monitor.assess.judge.inputs import undefined
from monitor.assess.judge.metric import Asker, Case, Judgement, Outcome
from monitor.assess.judge.registry import metrics as all_metrics
from monitor.assess.llm.exchange import NoAnswer, Reply, Request, Spend, prompts_hash
from monitor.assess.ports import Embedder, LanguageModel
from monitor.core.errors import WrongSettings

Mode: TypeAlias = Literal["separate", "combined"]
Task: TypeAlias = Callable[[], list[Judgement]]


class Judge:
    """Judges by some of the metrics in the registry. It keeps no state of a case, so any number of threads may use it.

    In `combined` mode, one call judges faithfulness, answer relevance and context relevance, if at least two of them
    are chosen and defined for the case; the other metrics are judged as in `separate` mode. The mode of a judgement
    says how it was made.
    """

    def __init__(
        self,
        model: LanguageModel,
        embedder: Embedder,
        *,
        metrics: Sequence[str],
        mode: Mode,
        rewrite_question: bool = False,
    ) -> None:
        """`metrics` are names in the registry, in any order; `rewrite_question` goes to those that look for something.

        Raises:
            WrongSettings: a name is not in the registry, or a package's metric cannot be used.
        """
        known = all_metrics()
        if unknown := [name for name in metrics if name not in known]:
            raise WrongSettings(f"unknown judged metric: {', '.join(unknown)}; choose from {', '.join(known)}")
        self._metrics = known
        self._model = model
        self._embedder = embedder
        self._rewrites = rewrite_question
        self._names = [name for name in known if name in metrics]
        together = [name for name in self._names if name in TOGETHER]
        self._together = together if mode == "combined" and len(together) > 1 else []

    def judge(self, case: Case, *, deadline: float | None = None) -> list[Judgement]:
        """One judgement per metric, in the order of the registry, before `deadline` (on the clock of `time.monotonic`).

        Raises:
            BudgetSpent, Retriable, Fatal: as the model or the embedder does; judgements made before are lost.
        """
        return [judgement for task in self.tasks(case, deadline=deadline) for judgement in task()]

    def tasks(self, case: Case, *, deadline: float | None = None) -> list[Task]:
        """The work of `judge` in pieces that may run concurrently, in any order. Each raises what `judge` does."""
        request, tasks = self.request(case), self.rest(case, deadline=deadline)
        return tasks if request is None else [partial(self._ask_once, case, request, deadline), *tasks]

    def rest(self, case: Case, *, deadline: float | None = None) -> list[Task]:
        """The tasks for the metrics that `request` does not cover."""
        covered = self._together if self.request(case) is not None else []
        return [partial(self._alone, name, case, deadline) for name in self._names if name not in covered]

    def request(self, case: Case) -> Request[Combined] | None:
        """The single call for several metrics, if there is one for this case. Give its reply to `from_reply`."""
        return combined_request(case) if self._together else None

    def from_reply(self, case: Case, reply: Reply[Combined] | NoAnswer) -> list[Judgement]:
        """The judgements from the reply to `request(case)`, with the spend of the call divided among them.

        Raises:
            Retriable, Fatal: as the embedder does; the caller may pass the same reply again.
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
        asker = Asker(self._model, self._embedder, deadline=deadline, rewrites=self._rewrites)
        try:
            outcome = self._metrics[name](case, asker)
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
