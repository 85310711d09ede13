"""Fakes of the store, the language model and the budget, which pass the contract suites of the real ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any, TypeVar

from pydantic import ValidationError
from typing_extensions import override

from monitor.assess.llm.exchange import BudgetSpent, Form, NoAnswer, Purpose, Reply, Request, Reservation, Spend
from monitor.assess.ports import Budget, LanguageModel
from monitor.core.batch import Batch, Tally
from monitor.core.errors import Fenced
from monitor.core.message import DeadLetter
from monitor.core.model import Assessment, Interaction
from monitor.core.ports import Store

T = TypeVar("T", bound=Form)
_OUTCOMES = ("assessed", "pending", "unscored")


@dataclass(slots=True)
class MemoryStore(Store):
    """A `Store` in memory, for one thread. `failures` are raised first, one per write, which then stores nothing.

    A revision replaces whatever is stored of its interaction.
    """

    assessments: dict[tuple[str, str], Assessment] = field(default_factory=dict)
    pending: dict[tuple[str, str], Interaction] = field(default_factory=dict)
    unscored: dict[tuple[str, str], Interaction] = field(default_factory=dict)
    dead_letters: dict[tuple[str, int, int, bytes], DeadLetter] = field(default_factory=dict)
    offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    failures: list[Exception] = field(default_factory=list)

    @override
    def write(self, batch: Batch) -> Tally:
        if self.failures:
            raise self.failures.pop(0)
        moved = dict(self.offsets)
        for o in batch.offsets:
            if moved.get((o.topic, o.partition)) != o.expected:
                raise Fenced(f"{o.topic}: another process reads it too, and has stored what came after {o.expected}")
            moved[o.topic, o.partition] = o.next
        self.offsets = moved
        known, new = [], Counter[str]()
        for outcome, interaction, stored in _outcomes(batch):
            key = (interaction.app, interaction.id)
            if self._holds(key):
                known.append((outcome, interaction, stored))
            else:
                self._kept(outcome)[key] = stored
                new[outcome] += 1
        for outcome, interaction, stored in known:
            if interaction.revises:
                for kept in _OUTCOMES:
                    self._kept(kept).pop((interaction.app, interaction.id), None)
                self._kept(outcome)[interaction.app, interaction.id] = stored
        for letter in batch.dead_letters:
            at, value = letter.message.position, letter.message.value
            self.dead_letters.setdefault((at.topic, at.partition, at.offset, value), letter)
        return Tally(received=batch.received, duplicate=len(known), dead=len(batch.dead_letters), **new)

    def _holds(self, key: tuple[str, str]) -> bool:
        return any(key in self._kept(outcome) for outcome in _OUTCOMES)

    def _kept(self, outcome: str) -> dict[tuple[str, str], Any]:
        kept: dict[str, dict[tuple[str, str], Any]] = {
            "assessed": self.assessments,
            "pending": self.pending,
            "unscored": self.unscored,
        }
        return kept[outcome]


def _outcomes(batch: Batch) -> Iterator[tuple[str, Interaction, Any]]:
    """Each interaction of a batch with its outcome and what is stored of it, the assessed ones first."""
    yield from (("assessed", a.interaction, a) for a in batch.assessments)
    yield from (("pending", it, it) for it in batch.pending)
    yield from (("unscored", it, it) for it in batch.unscored)


@dataclass(slots=True, kw_only=True)
class ScriptedLanguageModel(LanguageModel):
    """A `LanguageModel` that answers from `answers`, which has texts by the name of the prompt.

    It gives one text after another, and the last one for ever. An answer that is an exception is raised; an answer
    without the prompt's form is `NoAnswer`, since nothing is repaired.
    """

    answers: Mapping[str, Sequence[str | Exception]]
    model: str = "scripted"
    asked: list[Request[Any]] = field(default_factory=list)

    @override
    def ask(self, request: Request[T], *, deadline: float | None = None) -> Reply[T]:
        """A call costs one token each way."""
        name = request.prompt.name
        turn = sum(earlier.prompt.name == name for earlier in self.asked)
        self.asked.append(request)
        given = self.answers[name]
        answer = given[min(turn, len(given) - 1)]
        if isinstance(answer, Exception):
            raise answer
        spend = Spend(calls=1, input_tokens=1, output_tokens=1)
        try:
            value = request.prompt.form.model_validate_json(answer, strict=True)
        except ValidationError as error:
            raise NoAnswer("malformed", str(error), spend) from None
        return Reply(value=value, model=self.model, spend=spend)


@dataclass(slots=True, kw_only=True)
class MemoryBudget(Budget):
    """A `Budget` in memory, for any number of threads; `most_calls` limits all purposes together."""

    most_calls: int | None = None
    reserved: list[Reservation] = field(default_factory=list)  # and not settled
    counted: dict[Purpose, Spend] = field(default_factory=dict)  # where settled
    _lock: Lock = field(default_factory=Lock)

    @override
    def reserve(self, purpose: Purpose, model: str, most: Spend) -> Reservation:
        """`retry_after` is a minute."""
        with self._lock:
            if self.most_calls is not None and self.calls() + most.calls > self.most_calls:
                raise BudgetSpent(f"the budget of {self.most_calls} calls is spent", retry_after=60.0)
            self.reserved.append(Reservation(purpose=purpose, model=model, at=datetime.now(UTC), spend=most))
            return self.reserved[-1]

    @override
    def settle(self, reservation: Reservation, spend: Spend) -> None:
        with self._lock:
            self.reserved = [other for other in self.reserved if other is not reservation]
            self.counted[reservation.purpose] = self.counted.get(reservation.purpose, Spend()) + spend

    def calls(self) -> int:
        """The calls of all purposes, settled or not."""
        return sum(spend.calls for spend in (*self.counted.values(), *(r.spend for r in self.reserved)))
