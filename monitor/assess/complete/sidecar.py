"""The sidecar: asks a generator what supports an answer, where the event does not carry it.

The method is Wei's (*RAG Adaptability Metric Study*, 2024; metrics.md §1), whose generators were asked while they
answered. Here they are asked afterwards.
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

from monitor.assess.complete.locate import locate
from monitor.assess.llm.exchange import Block, Form, NoAnswer, Prompt, Request, load_prompt
from monitor.assess.ports import Completer, LanguageModel
from monitor.core.errors import MonitorError
from monitor.core.model import Interaction, Origin, SidecarCall, StandIn, Support, SupportingDocument
from monitor.core.pool import Pool

log = logging.getLogger(__name__)
MOST_PIECES = 20
REMEMBERED = 2_000  # interactions whose support is kept, in case that it is asked for again
Mode = Literal["explain", "regenerate"]


class Explained(Form):
    """What the generator thinks supports the given answer."""

    supporting_documents: list[str]


class Regenerated(Form):
    """The generator's own answer, and what it thinks supports that."""

    answer: str
    supporting_documents: list[str]


PROMPTS: dict[Mode, Prompt[Explained] | Prompt[Regenerated]] = {
    "explain": load_prompt("monitor.assess.complete", "explain.v1", Explained),
    "regenerate": load_prompt("monitor.assess.complete", "regenerate.v1", Regenerated),
}


class SidecarCompleter:
    """The `Completer` that asks a generator, and falls back on `otherwise` where that fails.

    Support that the event carries is kept. Nothing is asked where nothing was retrieved, since there is no support to
    choose from, or where there is no answer to explain. The calls of a batch run at a time, as many as the model lets;
    all of them have `patience` seconds together, None is without end. An interaction whose call fails, or does not come
    back in time, gets the support of `otherwise`, and `stands_in` says why and whether it is worth asking later. One
    thread calls; what it asks for again, since something after it failed, is not paid for twice.
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
        self._before: LRUCache[tuple[object, ...], Support] = LRUCache(REMEMBERED)

    def close(self) -> None:
        """Waits for no call that is on its way; those that had not begun get a stand-in, as all that come later."""
        self._pool.close()

    def complete(self, interactions: Sequence[Interaction]) -> list[Support]:
        """See `Completer.complete`; it raises nothing of the generator's."""
        deadline = None if self._patience is None else monotonic() + self._patience
        before = {place: self._before.get(_key(it)) for place, it in enumerate(interactions)}
        calls = {
            place: self._pool.submit(partial(self._ask, it, deadline))
            for place, it in enumerate(interactions)
            if before[place] is None and self._wanted(it)
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
        # what follows may fail and be tried again with the same interactions, whose calls are paid for
        paid = ((it, s) for it, s in zip(interactions, supports, strict=True) if s.origin is Origin.SIDECAR)
        self._before.update((_key(it), support) for it, support in paid)
        for problem, number in problems.items():
            log.warning("the sidecar gave no support for %d of %d answers: %s", number, len(calls), problem)
        return supports

    def _wanted(self, interaction: Interaction) -> bool:
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
            documents=tuple(
                locate(SupportingDocument(text=piece), interaction.retrieved_documents)
                for piece in list(pieces)[:MOST_PIECES]
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
