"""Items run side by side: each result is handed over, and an error or a stop ends the run."""

from __future__ import annotations

from concurrent.futures import wait
from threading import Barrier, Event, Lock
from typing import Any

import pytest

from monitor.core.errors import Fatal
from monitor.probe.golden import GoldenItem
from monitor.probe.result import ItemResult, ItemState
from monitor.probe.run import run_items

ITEMS = [GoldenItem(id=f"q{n}", question="?", reference="!") for n in range(6)]


def result(item: GoldenItem) -> ItemResult:
    return ItemResult(item=item, state=ItemState.FAILED, turns=())


def test_every_item_is_handed_over_once_with_its_place() -> None:
    done: dict[int, str] = {}
    ran = run_items(
        ITEMS, lambda _, item: result(item), concurrency=2, stop=Event(), done=lambda p, r: done.update({p: r.item.id})
    )
    assert (ran.asked, ran.error) == (6, None)
    assert done == {n: f"q{n}" for n in range(6)}


def test_as_many_as_allowed_run_at_the_same_time() -> None:
    together = Barrier(3)  # none of the three goes on before all have begun

    def converse(_: int, item: GoldenItem) -> ItemResult:
        together.wait()
        return result(item)

    assert run_items(ITEMS, converse, concurrency=3, stop=Event(), done=lambda *_: None).asked == 6


def test_an_error_ends_the_run_and_begins_no_further_item() -> None:
    begun: list[int] = []

    def converse(place: int, item: GoldenItem) -> ItemResult:
        begun.append(place)
        if place == 2:
            raise Fatal("the key is refused")
        return result(item)

    done: list[int] = []
    ran = run_items(ITEMS, converse, concurrency=1, stop=Event(), done=lambda place, _: done.append(place))
    assert str(ran.error) == "the key is refused"
    assert (ran.asked, done, begun) == (2, [0, 1], [0, 1, 2])


def test_once_told_to_stop_no_item_begins() -> None:
    stop, begun = Event(), []

    def converse(place: int, item: GoldenItem) -> ItemResult:
        begun.append(place)
        return result(item)

    ran = run_items(ITEMS, converse, concurrency=1, stop=stop, done=lambda *_: stop.set())
    assert (ran.asked, ran.error, begun) == (1, None, [0])


def test_no_more_than_allowed_run_at_the_same_time() -> None:
    lock, running, most = Lock(), 0, 0

    def converse(_: int, item: GoldenItem) -> ItemResult:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        with lock:
            running -= 1
        return result(item)

    many = [GoldenItem(id=f"q{n}", question="?", reference="!") for n in range(200)]
    assert run_items(many, converse, concurrency=3, stop=Event(), done=lambda *_: None).asked == 200
    assert 1 <= most <= 3


def test_what_done_raises_ends_the_run() -> None:
    begun: list[int] = []

    def converse(place: int, item: GoldenItem) -> ItemResult:
        begun.append(place)
        return result(item)

    def done(*_: object) -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        run_items(ITEMS, converse, concurrency=1, stop=Event(), done=done)
    assert begun == [0]


def test_a_defect_of_a_conversation_is_raised() -> None:
    def converse(_: int, __: GoldenItem) -> ItemResult:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_items(ITEMS, converse, concurrency=2, stop=Event(), done=lambda *_: None)


def test_nothing_to_ask() -> None:
    assert run_items([], lambda *_: result(ITEMS[0]), concurrency=2, stop=Event(), done=lambda *_: None).asked == 0


def test_who_was_told_to_stop_before_asks_nothing() -> None:
    stop = Event()
    stop.set()
    ran = run_items(ITEMS, lambda _, item: result(item), concurrency=2, stop=stop, done=lambda *_: None)
    assert (ran.asked, ran.error) == (0, None)


def test_conversations_that_run_when_told_to_stop_are_waited_for() -> None:
    stop, stopped, done = Event(), Event(), []

    def converse(place: int, item: GoldenItem) -> ItemResult:
        if place == 0:
            stopped.wait()
        return result(item)

    def taken(place: int, _: ItemResult) -> None:
        done.append(place)
        stop.set()
        stopped.set()

    ran = run_items(ITEMS, converse, concurrency=2, stop=stop, done=taken)
    assert (ran.asked, ran.error, done) == (2, None, [1, 0])


def test_one_that_does_not_end_is_waited_for_no_longer_than_the_grace() -> None:
    stop, never, done = Event(), Event(), []

    def converse(place: int, item: GoldenItem) -> ItemResult:
        if place == 0:
            never.wait()
        return result(item)

    def taken(place: int, _: ItemResult) -> None:
        done.append(place)
        stop.set()

    ran = run_items(ITEMS, converse, concurrency=2, stop=stop, done=taken, grace=0.0)
    never.set()
    assert (ran.asked, ran.error, done) == (1, None, [1])


@pytest.mark.parametrize("second", [None, Fatal("the budget is used up")])
def test_after_an_error_what_runs_is_waited_for_and_the_first_error_is_told(
    monkeypatch: pytest.MonkeyPatch, second: Fatal | None
) -> None:
    both, taken, done = Barrier(2), Event(), []

    def converse(place: int, item: GoldenItem) -> ItemResult:
        both.wait()
        if place == 0:
            raise Fatal("the key is refused")
        taken.wait()
        if second is not None:
            raise second
        return result(item)

    def wait_and_tell(*args: Any, **options: Any) -> Any:
        found = wait(*args, **options)
        if found.done:  # the first error
            taken.set()
        return found

    monkeypatch.setattr("monitor.probe.run.wait", wait_and_tell)
    ran = run_items(ITEMS, converse, concurrency=2, stop=Event(), done=lambda place, _: done.append(place))
    assert str(ran.error) == "the key is refused"
    assert (ran.asked, done) == ((1, [1]) if second is None else (0, []))


def test_an_answer_that_failed_is_a_result_like_any_other() -> None:
    states: dict[int, ItemState] = {}

    def converse(place: int, item: GoldenItem) -> ItemResult:
        return ItemResult(item=item, state=ItemState.FAILED if place % 2 else ItemState.GRADED, turns=())

    ran = run_items(
        ITEMS, converse, concurrency=2, stop=Event(), done=lambda place, one: states.update({place: one.state})
    )
    assert (ran.asked, ran.error) == (6, None)
    assert [states[place] for place in range(6)] == [ItemState.GRADED, ItemState.FAILED] * 3
