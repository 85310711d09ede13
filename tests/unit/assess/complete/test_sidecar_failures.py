"""Failures of the generator, deadlines and closing: extractive support stands in."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from monitor.assess.complete import sidecar
from monitor.assess.llm.exchange import BudgetSpent, NoAnswer, Spend
from monitor.core.errors import Fatal, Retriable
from monitor.core.model import Interaction, Origin, StandIn, Support
from tests.factories.assess.sidecar import EXTRACTIVE, MUSEUM, PATIENCE, Generator, many
from tests.rig.waiting import until


def stood_in(because: str, about: Interaction, *, queued: bool) -> Support:
    """The extractive support, marked as a stand-in."""
    (support,) = EXTRACTIVE.complete([about])
    stands_in = StandIn(because=because, queued=queued)
    return Support(origin=Origin.EXTRACTIVE, documents=support.documents, stands_in=stands_in)


@pytest.mark.parametrize(
    ("error", "because", "queued"),
    [
        (NoAnswer("malformed", "the words of it", Spend()), "malformed", False),
        (NoAnswer("model_refused", "the words of it", Spend()), "model_refused", False),
        (NoAnswer("too_long", "the words of it", Spend()), "too_long", False),
        (Retriable("the server is busy", retry_after=5.0), "the server is busy", True),
        (BudgetSpent("the budget is spent", retry_after=60.0), "the budget is spent", True),
        (Fatal("the key is wrong"), "the key is wrong", True),
    ],
)
def test_failed_calls_get_a_stand_in_and_the_others_keep_their_support(make, caplog, error, because, queued):
    generator = Generator(lambda question: error if int(question[9]) % 2 else ["Dogs stay outside."])
    asked = many(6)
    with caplog.at_level(logging.WARNING):
        supports = make(generator).complete(asked)
    assert [support.origin for support in supports] == [Origin.SIDECAR, Origin.EXTRACTIVE] * 3
    assert supports[1::2] == [stood_in(because, about, queued=queued) for about in asked[1::2]]
    assert caplog.messages == [f"the sidecar gave no support for 3 of 6 answers: {because}"]


@pytest.mark.parametrize("crash", [ZeroDivisionError("crash"), TimeoutError("crash"), RuntimeError("crash")])
def test_a_crash_is_not_taken_for_a_failure_of_the_server(make, crash):
    with pytest.raises(type(crash), match="crash"):
        make(Generator(lambda _: crash), patience=PATIENCE).complete(many(3))


class LastMoment:
    """A `Completer` that lets time run out once `number` calls have been answered."""

    def __init__(self, generator: Generator, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.generator, self.number, self.now = generator, number, 100.0
        monkeypatch.setattr(sidecar, "monotonic", lambda: self.now)

    def complete(self, interactions: Sequence[Interaction]) -> list[Support]:
        until("they are answered", lambda: self.generator.answered == self.number and self.generator.at_work == 4)
        self.now += 1_000.0
        return EXTRACTIVE.complete(interactions)


def test_supports_in_time_are_kept_if_the_time_of_the_batch_runs_out(make, monkeypatch):
    gate = Event()

    def answer(question: str) -> list[str]:
        if int(question[9:-1]) >= 10:
            gate.wait(PATIENCE)
        return ["Dogs stay outside."]

    generator = Generator(answer)
    completer = make(generator, otherwise=LastMoment(generator, 10, monkeypatch), patience=7.0)
    asked = many(40)
    try:
        supports = completer.complete(asked)
    finally:
        gate.set()
    assert [support.origin for support in supports] == [Origin.SIDECAR] * 10 + [Origin.EXTRACTIVE] * 30
    assert supports[10:] == [stood_in("no answer in time", about, queued=True) for about in asked[10:]]
    assert generator.deadlines == {107.0}  # one for all
    until("the rest is done", lambda: generator.at_work == 0)
    assert len(generator.asked) == 14  # nobody waits for those that had not begun


def test_without_a_patience_there_is_no_deadline(make):
    generator = Generator(lambda _: [])
    make(generator).complete(many(3))
    assert generator.deadlines == {None}


def test_closing_during_calls_ends_the_batch_without_those_that_had_not_begun(make):
    gate = Event()
    generator = Generator(lambda _: ["Dogs stay outside."] if gate.wait(PATIENCE) else [])
    completer = make(generator, concurrency=2)
    with ThreadPoolExecutor(1) as pool:
        batch = pool.submit(completer.complete, many(6))
        until("two are at work", lambda: generator.at_work == 2)
        completer.close()
        gate.set()
        supports = batch.result(PATIENCE)
    assert [support.origin for support in supports] == [Origin.SIDECAR] * 2 + [Origin.EXTRACTIVE] * 4
    assert all(support.stands_in is not None and support.stands_in.queued for support in supports[2:])
    assert len(generator.asked) == 2


def test_after_closing_everything_is_stood_in_for(make):
    generator = Generator(lambda _: [])
    completer = make(generator)
    completer.close()
    completer.close()
    (support,) = completer.complete([MUSEUM])
    assert support.origin is Origin.EXTRACTIVE
    assert support.stands_in is not None
    assert support.stands_in.queued
    assert generator.asked == []


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_calls_run_than_may_over_batches_at_a_time(make, concurrency):
    generator = Generator(lambda _: Event().wait(0.002) or [])
    completer = make(generator, concurrency=concurrency)
    with ThreadPoolExecutor(3) as pool:
        asked = many(24)  # all different, so that no answer is remembered from a batch that has ended already
        batches = list(pool.map(completer.complete, (asked[:8], asked[8:16], asked[16:])))
    assert all(support.origin is Origin.SIDECAR for batch in batches for support in batch)
    assert generator.most_at_work == concurrency
    assert len(generator.asked) == 24
