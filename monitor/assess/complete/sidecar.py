"""The sidecar asks a generator for the supporting documents of an answer whose event carries none.

The method is Wei's (*RAG Adaptability Metric Study*, 2024; metrics.md §1). There the generators name the support while
they answer; here they are asked afterwards.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Literal

from cachetools import LRUCache
from typing_extensions import override

from monitor.assess.complete.locate import locate
from monitor.assess.llm.exchange import Block, Form, NoAnswer, Prompt, Request, load_prompt
from monitor.assess.ports import Completer, LanguageModel
from monitor.core.errors import MonitorError
from monitor.core.model import Interaction, Origin, SidecarCall, StandIn, Support, SupportingDocument
from monitor.core.pool import Pool

log = logging.getLogger(__name__)
MOST_PIECES = 20
CACHED_SUPPORTS = 2_000  # supports that were paid for, kept in case the same batch is tried again
Mode = Literal["explain", "regenerate"]


class Explained(Form):
    """The texts that the generator thinks support the given answer."""

    supporting_documents: list[str]


class Regenerated(Form):
    """The generator's own answer and the texts that it thinks support it."""

    answer: str
    supporting_documents: list[str]


PROMPTS: dict[Mode, Prompt[Explained] | Prompt[Regenerated]] = {
    "explain": load_prompt("monitor.assess.complete", "explain.v1", Explained),
    "regenerate": load_prompt("monitor.assess.complete", "regenerate.v1", Regenerated),
}


class SidecarCompleter(Completer):
    """Asks a generator, and falls back on the completer `otherwise` when a call fails.

    Support that the event carries is kept. No call is made for an interaction without retrieved documents, since there
    is no support to choose from, or without an answer to explain. The calls of a batch run concurrently, as many as the
    model allows, and share a limit of `patience` seconds (None: no limit). An interaction whose call fails or exceeds
    the limit gets the support of `otherwise`, and `stands_in` says why and whether to ask again later. One thread
    calls. A batch that is tried again because a later step failed does not pay for its calls twice.
    """

    def __init__(
        self,
        generator: LanguageModel,
        *,
        mode: Mode,
        otherwise: Completer,
        concurrency: int,
        patience: float | None = None,
    ) -> None:
        self._generator = generator
        self._mode = mode
        self._prompt = PROMPTS[mode]
        self._otherwise = otherwise
        self._patience = patience
        self._pool = Pool(concurrency, "sidecar")
        self._paid: LRUCache[tuple[object, ...], Support] = LRUCache(CACHED_SUPPORTS)

    def close(self) -> None:
        """Does not wait for running calls. Calls that have not started, and all later ones, get a stand-in."""
        self._pool.close()

    @override
    def complete(self, interactions: Sequence[Interaction]) -> list[Support]:
        """One `Support` per interaction, in order. Raises none of the generator's errors."""
        deadline = None if self._patience is None else monotonic() + self._patience
        before = {place: self._paid.get(_key(it)) for place, it in enumerate(interactions)}
        calls = {
            place: self._pool.submit(partial(self._ask, it, deadline))
            for place, it in enumerate(interactions)
            if before[place] is None and self._needs_call(it)
        }
        supports = self._otherwise.complete(interactions)
        problems: Counter[str] = Counter()
        for place, known in before.items():
            if known is not None:
                supports[place] = known
        for place, call in calls.items():
            found = _awaited(call, deadline)
            if isinstance(found, StandIn):
                problems[found.because] += 1
                supports[place] = replace(supports[place], stands_in=found)
            else:
                supports[place] = found
        # a later step may fail and be tried again with the same interactions, whose calls are already paid for
        paid = ((it, s) for it, s in zip(interactions, supports, strict=True) if s.origin is Origin.SIDECAR)
        self._paid.update((_key(it), support) for it, support in paid)
        for problem, number in problems.items():
            log.warning("the sidecar gave no support for %d of %d answers: %s", number, len(calls), problem)
        return supports

    def _needs_call(self, interaction: Interaction) -> bool:
        if interaction.supporting_documents is not None:
            return False
        if not any(document.text.strip() for document in interaction.retrieved_documents):
            return False
        return self._mode == "regenerate" or bool(interaction.answer.strip())

    def _ask(self, interaction: Interaction, deadline: float | None) -> Support:
        blocks = [Block(name="question", text=interaction.question)]
        documents = enumerate(interaction.retrieved_documents, start=1)
        blocks += [Block(name=f"document {rank}", text=document.text) for rank, document in documents]
        if self._mode == "explain":
            blocks.append(Block(name="answer", text=interaction.answer))
        reply = self._generator.ask(Request(prompt=self._prompt, blocks=tuple(blocks)), deadline=deadline)
        value = reply.value
        pieces = dict.fromkeys(piece for text in value.supporting_documents if (piece := text.strip()))
        return Support(
            origin=Origin.SIDECAR,
            documents=locate(
                [SupportingDocument(text=piece) for piece in list(pieces)[:MOST_PIECES]],
                interaction.retrieved_documents,
            ),
            sidecar=SidecarCall(
                mode=self._mode,
                model=reply.model,
                prompt_hash=self._prompt.hash,
                second_answer=value.answer if isinstance(value, Regenerated) else None,
            ),
        )


def _key(it: Interaction) -> tuple[object, ...]:
    return it.app, it.id, it.occurred_at, it.answer


def _awaited(call: Future[Support], deadline: float | None) -> Support | StandIn:
    try:
        error = call.exception(None if deadline is None else max(0.0, deadline - monotonic()))
    except (NotInTime, CancelledError):
        call.cancel()
        return StandIn(because="no answer in time", queued=True)
    if isinstance(error, NoAnswer):
        return StandIn(because=error.reason, queued=False)
    if isinstance(error, MonitorError):
        return StandIn(because=str(error), queued=True, error=error)
    return call.result()
