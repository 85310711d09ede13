"""Judges through the provider's batch endpoint: half the price, answers within a day."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from typing_extensions import override

from monitor.app.pending.judging import JudgingWorker, case_of
from monitor.app.pending.queue import Queue, Worker
from monitor.assess.judge.judge import Judge
from monitor.assess.llm.batches import DISCOUNT, WITHIN_HOURS, BatchAnswers, BatchEndpoint
from monitor.assess.llm.client import ChatModel
from monitor.assess.llm.exchange import BudgetSpent, NoAnswer, Purpose, Request, Reservation, Spend
from monitor.assess.ports import Budget
from monitor.core.errors import Fatal, MonitorError, Retriable
from monitor.core.pending import Work
from monitor.store.interaction.writer import Writer
from monitor.store.pending.batches import SentBatch, SentBatches
from monitor.store.pending.finish import finish_judged
from monitor.store.pending.queue import Claim

log = logging.getLogger(__name__)

MOST = 1_000  # requests in a batch
ENOUGH = 200  # requests that are sent without waiting for more
BETWEEN_LOOKS = timedelta(minutes=1)
_LEASE = timedelta(hours=WITHIN_HOURS + 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJudgingWorker(Worker):
    """Sends interactions in batches, and stores the judgements when a batch has ended.

    Interactions that need other calls than the combined one, such as refusals, go to `direct`. With fewer than `ENOUGH`
    it waits for more, until the oldest has waited for `wait`.
    """

    queue: Queue
    writer: Writer
    judge: Judge
    model: ChatModel
    budget: Budget
    endpoint: BatchEndpoint
    batches: SentBatches
    direct: JudgingWorker
    wait: timedelta  # for more requests to join a batch

    @override
    def round(self) -> int | None:
        read = sum(
            self._look_after(batch) for batch in self.batches.to_look_after(self.queue.now(), every=BETWEEN_LOOKS)
        )
        sent, judged = self._send(), self.direct.step()
        return None if judged is None and not read and not sent else read + sent + (judged or 0)

    @override
    def close(self) -> None:
        self.endpoint.close()
        self.direct.close()

    def _send(self) -> int:
        now = self.queue.now()
        due = next(iter(self.queue.pending.counts(now, Work.JUDGE)), None)
        if due is None or not due.due:
            return 0
        if due.due < ENOUGH and due.oldest is not None and now - due.oldest < self.wait:
            return 0
        claims = self.queue.claim([Work.JUDGE], MOST)
        requests = {claim.id: self.judge.request(case_of(claim)) for claim in claims}
        asked = [claim for claim in claims if requests[claim.id] is not None]
        if asked:
            self._sent(asked, {c.id: self.model.body(r) for c in asked if (r := requests[c.id]) is not None})
        self.direct.take([claim for claim in claims if requests[claim.id] is None])
        return len(claims)

    def _sent(self, claims: Sequence[Claim], bodies: Mapping[int, Mapping[str, Any]]) -> None:
        """Sends as many of the requests as the budget suffices for, and puts the others back."""
        most = {claim.id: self.model.most(bodies[claim.id], discount=DISCOUNT) for claim in claims}
        wanted, reserved, spent = list(claims), None, None
        while wanted and reserved is None:
            total = sum((most[claim.id] for claim in wanted), Spend())
            try:
                reserved = self.budget.reserve(Purpose.JUDGE, self.model.model, total)
            except BudgetSpent as error:
                spent, wanted = error, wanted[: len(wanted) // 2]  # the budget may suffice for half of them
            except MonitorError as error:
                self.queue.put_back(claims, error)
                return
        if spent is not None:
            self.queue.put_back(claims[len(wanted) :], spent)
        if reserved is not None:
            self._create(wanted, bodies, most, reserved)

    def _create(
        self,
        claims: Sequence[Claim],
        bodies: Mapping[int, Mapping[str, Any]],
        most: Mapping[int, Spend],
        reserved: Reservation,
    ) -> None:
        """Creates a batch of the requests; puts them back if the provider refuses."""
        file = None
        try:
            file = self.endpoint.upload({str(claim.id): bodies[claim.id] for claim in claims})
            batch = SentBatch(
                id=self.endpoint.create(file),
                claim=claims[0].token,
                sent_at=reserved.at,
                reserved={str(claim.id): most[claim.id] for claim in claims},
            )
        except MonitorError as refused:
            if file is None or isinstance(refused, Fatal):  # else the provider may have created it
                self.model.settle(reserved, Spend())
            self.queue.put_back(claims, refused)
            return
        now = self.queue.now()
        self.batches.sent(batch, model=self.model.model, requests=len(claims), now=now)
        self.queue.pending.lease(claims, now + _LEASE)
        log.info("sent %d answers to the judge as batch %s", len(claims), batch.id)

    def _look_after(self, batch: SentBatch) -> int:
        with self.batches.alone(batch) as ours:
            if not ours:
                return 0
            try:
                status, answers = self.endpoint.look(batch.id)
            except MonitorError as error:
                log.warning("batch %s: %s", batch.id, error)
                return 0
            claims = [] if answers is None else self.queue.pending.claimed(batch.claim)
            if answers is not None:
                for claim in claims:
                    self._read(claim, answers, batch)
                log.info("batch %s is %s: read %d answers", batch.id, status, len(claims))
            self.batches.looked(batch, status, finished_at=None if answers is None else self.queue.now())
        return len(claims)

    def _read(self, claim: Claim, answers: BatchAnswers, batch: SentBatch) -> None:
        case, name = case_of(claim), str(claim.id)
        request = self.judge.request(case)
        if request is None:
            self.queue.put_back([claim], Retriable("batch endpoint: the judge asks otherwise by now"))
            return
        most = batch.reserved.get(name)
        known = most or Spend(calls=1)  # the previous release reserved calls only
        reserved = Reservation(purpose=Purpose.JUDGE, model=self.model.model, at=batch.sent_at, spend=known)
        if name not in answers.completions:
            why = answers.failed or answers.problems.get(name) or "the batch ended before this request was tried"
            self.queue.put_back([claim], Retriable(f"batch endpoint: {why}"))
            self.model.settle(reserved, Spend(calls=1))  # it is not paid for
            return
        try:
            most = most or self.model.most(self.model.body(request), discount=DISCOUNT)
            reply = self._reply(request, answers.completions[name], most)
            judgements = self.judge.from_reply(case, reply)
            finish_judged(self.writer, [(claim, judgements)], self.queue.now(), self.direct.hearing())
            self.model.settle(reserved, reply.spend)
        except Exception as error:  # noqa: BLE001  any error is recorded with the claim, and does not hold up others
            self.queue.put_back([claim], error)

    def _reply(self, request: Request[Any], body: object, most: Spend) -> Any:
        try:
            return self.model.read(request, body, reserved=most, discount=DISCOUNT)
        except NoAnswer as error:
            return error
