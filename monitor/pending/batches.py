"""Judging through the provider's batch endpoint: half the price, within a day."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from monitor.errors import MonitorError, Retriable
from monitor.judge.judge import Judge
from monitor.llm.batches import DISCOUNT, WITHIN_HOURS, BatchAnswers, BatchEndpoint
from monitor.llm.client import ChatModel
from monitor.llm.exchange import NoAnswer, Purpose, Request
from monitor.model import Work
from monitor.pending.judging import case_of
from monitor.pending.queue import Queue
from monitor.ports import Budget
from monitor.store.finish import finish_judged
from monitor.store.llm_batches import SentBatch, SentBatches
from monitor.store.pending import Claim
from monitor.store.writer import Writer

log = logging.getLogger(__name__)

MOST, ENOUGH = 1_000, 200  # requests of a batch: at most; so many that it need not wait for more
WAIT = timedelta(minutes=10)  # for more requests
BETWEEN_LOOKS = timedelta(minutes=1)
_LEASE = timedelta(hours=WITHIN_HOURS + 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJudgingWorker:
    """Sends what is to be judged as batches, and judges by what comes back.

    What the one combined call does not cover is asked directly when the batch is back.
    """

    queue: Queue
    writer: Writer
    judge: Judge
    model: ChatModel
    budget: Budget
    endpoint: BatchEndpoint
    batches: SentBatches

    def round(self) -> int | None:
        """See `Worker`."""
        taken = 0
        for batch in self.batches.to_look_after(self.queue.now(), every=BETWEEN_LOOKS):
            taken += self._look_after(batch)
        return (taken + self._send()) or None

    def close(self) -> None:
        """See `Worker`."""
        self.endpoint.close()
        self.writer.close()

    def _send(self) -> int:
        now = self.queue.now()
        due = next((count for count in self.queue.pending.counts(now) if count.kind is Work.JUDGE), None)
        if due is None or not due.due or (due.due < ENOUGH and due.oldest is not None and now - due.oldest < WAIT):
            return 0
        claims = self.queue.claim([Work.JUDGE], MOST)
        requests = {claim.id: self.judge.request(case_of(claim)) for claim in claims}
        asked = [claim for claim in claims if requests[claim.id] is not None]
        for claim in claims:
            if requests[claim.id] is None:
                self._finish(claim, None)
        if asked:
            self._sent(asked, {str(c.id): self.model.body(r) for c in asked if (r := requests[c.id]) is not None})
        return len(claims)

    def _sent(self, claims: Sequence[Claim], bodies: Mapping[str, Mapping[str, Any]]) -> None:
        affordable = self._afforded(claims)
        try:
            if not affordable:
                return
            sent = {str(claim.id): bodies[str(claim.id)] for claim in affordable}
            batch = SentBatch(id=self.endpoint.send(sent), claim=claims[0].token)
        except MonitorError as error:
            self.queue.put_back(affordable, error)
            return
        now = self.queue.now()
        self.batches.sent(batch, model=self.model.model, requests=len(sent), now=now)
        self.queue.pending.lease(affordable, now + _LEASE)
        log.info("sent %d answers to be judged as batch %s", len(sent), batch.id)

    def _afforded(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """As many as the budget has calls for; the others are put back."""
        for place, _ in enumerate(claims):
            try:
                self.budget.take(Purpose.JUDGE, self.model.model)
            except MonitorError as error:
                self.queue.put_back(claims[place:], error)
                return claims[:place]
        return claims

    def _look_after(self, batch: SentBatch) -> int:
        try:
            status, answers = self.endpoint.look(batch.id)
        except MonitorError as error:
            log.warning("batch %s: %s", batch.id, error)
            return 0
        claims: list[Claim] = []
        if answers is not None:
            claims = self.queue.pending.claimed(batch.claim)
            for claim in claims:
                self._read(claim, answers)
        self.batches.looked(batch, status, finished_at=None if answers is None else self.queue.now())
        return len(claims)

    def _read(self, claim: Claim, answers: BatchAnswers) -> None:
        request, name = self.judge.request(case_of(claim)), str(claim.id)
        if request is None or name not in answers.completions:
            why = answers.failed or answers.problems.get(name) or "the batch ended before it was tried"
            self.queue.put_back([claim], Retriable(f"batch endpoint: {why}"))
        else:
            self._finish(claim, (request, answers.completions[name]))

    def _finish(self, claim: Claim, answered: tuple[Request[Any], object] | None) -> None:
        case = case_of(claim)
        try:
            judgements = [judgement for task in self.judge.rest(case) for judgement in task()]
            if answered is not None:
                judgements += self.judge.from_reply(case, self._reply(*answered))
        except MonitorError as error:
            self.queue.put_back([claim], error)
        else:
            finish_judged(self.writer, [(claim, judgements)], self.queue.now())

    def _reply(self, request: Request[Any], body: object) -> Any:
        try:
            return self.model.read(request, body, discount=DISCOUNT)
        except NoAnswer as error:
            return error
