"""The three stages together, over a source and a store in memory that fail on demand."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread

import pytest

from monitor.app.flow import Flow
from monitor.core.batch import Tally
from monitor.core.errors import Fatal, Fenced, InvalidMessage, OutOfReach, Retriable
from monitor.core.message import DeadLetter, Offset
from monitor.core.retry import Retry
from monitor.ingest.decode import Decoded
from monitor.simulate.fakes.flow import MemoryStore
from tests.factories.answers import a_message, an_assessment, an_interaction

PATIENT = 60  # seconds that a test waits for another thread before it fails; nothing is waited for when all is well
HELD = 5  # batches: in fetch's hand, waiting, in assess's hand, waiting, in the writer's hand


class ListSource:
    """Gives messages 0, 1, 2 …; the end comes after the last one, or never where `endless`."""

    def __init__(self, messages: int, *, endless: bool = False) -> None:
        self._left = [a_message(str(n).encode(), offset=n) for n in range(messages)]
        self._endless = endless
        self._reached = self._told = 0
        self.failures: list[Exception] = []
        self.polls = self.holds = 0
        self.shared = False
        self.fences: list[tuple[tuple[Offset, ...], Fenced]] = []
        self.stored_values: list[bytes] = []
        self.on_poll: Callable[[], None] = lambda: None

    def poll(self, *, max_messages, max_bytes, timeout):
        self.polls += 1
        self.on_poll()
        if self.failures:
            raise self.failures.pop(0)
        given, self._left = self._left[:max_messages], self._left[max_messages:]
        self._reached += len(given)
        return given if given or self._endless else None

    def offsets(self):
        if self._reached == self._told:
            return ()
        offset = Offset(topic="list", partition=0, expected=self._told or None, next=self._reached)
        self._told = self._reached
        return (offset,)

    def hold(self):
        self.holds += 1

    def stored(self, offsets):
        for offset in offsets:
            self.stored_values += [str(n).encode() for n in range(offset.expected or 0, offset.next)]

    def fenced(self, offsets, error):
        self.fences.append((tuple(offsets), error))
        if not self.shared:
            raise error

    def progress(self):
        return ()

    def close(self):
        """Holds nothing."""


class Impatient(Event):
    """An event whose waits end at once, so that no test waits for a delay."""

    def wait(self, timeout=None):
        if timeout is not None:
            delays.append(timeout)
        return self.is_set()


delays: list[float] = []


def decode(messages):
    interactions, dead, collected = [], [], []
    for message in messages:
        if int(message.value) % 7 == 6:
            dead.append(DeadLetter(message=message, path="$", problem="ends in six of seven"))
        else:
            interactions.append(an_interaction(id=message.value.decode()))
    return Decoded(interactions, dead, collected)


def assess(interactions):
    return [an_assessment(interaction=interaction) for interaction in interactions]


def numbers(upto):
    return [str(n).encode() for n in range(upto)]


def flow(source, store, *, stop=None, written=lambda _batch, _tally: None, patience=None, **over):
    stop = stop or Impatient()
    known = {
        "decode": decode,
        "assess": assess,
        "retry": Retry(stop=stop, patience=patience),
        "batch_messages": 10,
        "batch_bytes": 2**20,
        "poll_seconds": 0.01,
    }
    return Flow(source=source, store=store, stop=stop, written=written, **{**known, **over})


def failing(times, error, call):
    """`call` that raises `error` the first `times` times."""
    left = [error] * times

    def wrapped(*args):
        if left:
            raise left.pop()
        return call(*args)

    return wrapped


def test_everything_goes_through_in_order_and_the_ledger_balances():
    source, store, written = ListSource(95), MemoryStore(), []
    tally = flow(source, store, written=lambda batch, tally: written.append((batch, tally))).run()
    assert tally == Tally(received=95, assessed=82, dead=13)
    assert tally.balanced
    assert source.stored_values == numbers(95)
    assert list(store.assessments) == [("support-bot", str(n)) for n in range(95) if n % 7 != 6]
    assert sum((t for _, t in written), Tally()) == tally
    assert [batch.received for batch, _ in written] == [10] * 9 + [5]
    assert store.offsets == {("list", 0): 95}


def test_a_source_without_anything_is_an_empty_run():
    assert flow(ListSource(0), MemoryStore()).run() == Tally()


def test_a_batch_of_dead_letters_alone_is_stored_without_assessing():
    source, store = ListSource(1), MemoryStore()

    def none(messages):
        return Decoded([], [DeadLetter(message=message, path="$", problem="no") for message in messages], [])

    def never(_interactions):
        raise AssertionError

    assert flow(source, store, decode=none, assess=never).run() == Tally(received=1, dead=1)


@pytest.mark.parametrize("where", ["source", "assess", "store"])
def test_a_retriable_failure_is_tried_again_and_nothing_is_lost_or_doubled(where):
    source, store, over = ListSource(95), MemoryStore(), {}
    failures = [Retriable("away"), Retriable("away", retry_after=7), Retriable("still away")]
    if where == "source":
        source.failures = failures
    elif where == "store":
        store.failures = failures
    else:
        over["assess"] = failing(3, Retriable("away", retry_after=7), assess)
    delays.clear()
    tally = flow(source, store, **over).run()
    assert tally == Tally(received=95, assessed=82, dead=13)
    assert source.stored_values == numbers(95)
    assert len(store.dead_letters) == 13
    assert len(delays) == 3
    assert 7 in delays


@pytest.mark.parametrize(
    "error", [Fatal("no"), Fenced("another"), ValueError("a defect")], ids=lambda e: type(e).__name__
)
@pytest.mark.parametrize("where", ["poll", "decode", "assess", "store", "written"])
def test_a_failure_that_waiting_does_not_mend_stops_everything_and_is_raised(where, error):
    source, store, over = ListSource(1000, endless=True), MemoryStore(), {}
    calls = 0

    def third_time(call):
        def wrapped(*args):
            nonlocal calls
            calls += 1
            if calls == 3:
                raise error
            return call(*args)

        return wrapped

    if where == "poll":
        source.on_poll = third_time(lambda: None)
    elif where == "store":
        store = _Wrapped(store, third_time(store.write))
    else:
        over[where] = third_time({"decode": decode, "assess": assess, "written": lambda *_: None}[where])
    with pytest.raises(type(error)) as raised:
        flow(source, store, **over).run()
    assert raised.value is error
    kept = store.inner if isinstance(store, _Wrapped) else store
    acknowledged = len(source.stored_values)
    assert source.stored_values == numbers(acknowledged)
    assert kept.offsets.get(("list", 0), 0) == acknowledged  # what was acknowledged is what was committed


class _Wrapped:
    def __init__(self, inner, write):
        self.inner, self.write = inner, write


def test_running_out_of_patience_is_out_of_reach_and_nothing_is_acknowledged():
    source, store = ListSource(50), MemoryStore(failures=[Retriable("away")] * 100)
    with pytest.raises(OutOfReach, match="away"):
        flow(source, store, patience=10.0).run()
    assert source.stored_values == []
    assert store.assessments == {}


def test_a_message_is_acknowledged_only_after_its_commit():
    source, store, events = ListSource(20), MemoryStore(), []

    def write(batch):
        events.append(("committing", source.stored_values[:]))
        tally = store.write(batch)
        events.append(("committed", source.stored_values[:]))
        return tally

    def written(_batch, _tally):
        events.append(("told", source.stored_values[:]))

    flow(source, _Wrapped(store, write), written=written).run()
    none, half, whole = [], numbers(10), numbers(20)
    assert events == [
        ("committing", none),
        ("committed", none),
        ("told", half),
        ("committing", half),
        ("committed", half),
        ("told", whole),
    ]


def test_stopping_finishes_what_was_fetched():
    stop, source, store = Event(), ListSource(1000, endless=True), MemoryStore()

    def after_four_polls():
        if source.polls == 4:
            stop.set()

    source.on_poll = after_four_polls
    tally = flow(source, store, stop=stop).run()
    assert tally.received == 40
    assert tally.balanced
    assert source.stored_values == numbers(40)


def test_stopping_finishes_what_was_fetched_while_the_source_is_away():
    stop, source, store, holding, fetched = Event(), ListSource(1000), MemoryStore(), Event(), Event()

    def fails_after_two_polls():
        if source.polls == 3:
            fetched.set()
            raise Retriable("the source is away", retry_after=PATIENT)

    def slow(interactions):
        holding.wait(PATIENT)
        return assess(interactions)

    source.on_poll = fails_after_two_polls

    def stopper():
        fetched.wait(PATIENT)
        stop.set()
        holding.set()

    thread = Thread(target=stopper)
    thread.start()
    tally = flow(source, store, stop=stop, assess=slow).run()
    thread.join()
    assert tally.received == 20
    assert source.stored_values == numbers(20)


def test_stopping_while_the_store_is_away_ends_without_acknowledging_what_was_not_stored():
    stop, source, store = Event(), ListSource(1000, endless=True), MemoryStore()

    def away(_batch):
        stop.set()
        raise Retriable("away", retry_after=PATIENT)

    tally = flow(source, _Wrapped(store, away), stop=stop).run()
    assert tally == Tally()
    assert source.stored_values == []


def test_a_store_that_holds_up_stops_the_fetching_after_a_handful_of_batches():
    source, store, never = ListSource(1000), MemoryStore(), Event()
    most = 0

    def held(batch):
        nonlocal most
        # nothing tells that no further poll will come, so the fetcher is given a moment to go too far
        never.wait(0.5 if not source.stored_values else 0)
        most = max(most, source.polls - len(source.stored_values) // 10)
        return store.write(batch)

    tally = flow(source, _Wrapped(store, held)).run()
    assert tally.received == 1000
    assert 2 <= most <= HELD


def test_an_invalid_message_that_a_decoder_lets_through_is_no_dead_letter_but_a_failure():
    def careless(_messages):
        raise InvalidMessage("$", "was not caught")

    with pytest.raises(InvalidMessage):
        flow(ListSource(5), MemoryStore(), decode=careless).run()


def test_a_fatal_error_ends_the_run_though_the_source_has_nothing_more_to_give():
    def refuse(_interactions):
        raise Fatal("wrong key")

    with pytest.raises(Fatal, match="wrong key"):
        flow(ListSource(5, endless=True), MemoryStore(), assess=refuse).run()


def test_a_read_that_never_returns_is_given_up_on_after_a_stop():
    stop, released = Event(), Event()
    source = ListSource(10, endless=True)

    def block_on_the_second_poll():
        if source.polls > 1:
            stop.set()
            released.wait(PATIENT)

    source.on_poll = block_on_the_second_poll
    store = MemoryStore()
    tally = flow(source, store, stop=stop).run()
    released.set()
    assert (tally.received, source.stored_values) == (10, numbers(10))


def run_with_a_batch_that_is_not_through(source):
    """The first ten messages are stored, the next ten are in hand when the run is stopped."""
    stop, assessing, release = Event(), Event(), Event()

    def assess_slowly(interactions):
        if interactions[0].id != "0":
            assessing.set()
            release.wait(PATIENT)
        return assess(interactions)

    def stop_then(_batch, _tally):
        assert assessing.wait(PATIENT)
        stop.set()

    running = flow(source, MemoryStore(), stop=stop, assess=assess_slowly, written=stop_then, finish_within=0.1)
    assert running.run().received == 10
    release.set()


def test_a_batch_that_is_not_through_in_time_after_stop_is_left_to_the_next_start(caplog):
    source = ListSource(20, endless=True)
    run_with_a_batch_that_is_not_through(source)
    assert source.stored_values == numbers(10)
    (told,) = caplog.messages
    assert "10 messages are still being assessed (list/0 from 10 to 20); they are not stored" in told
    assert told.endswith("and the next start reads them again")


def test_of_input_that_is_read_once_the_rest_has_to_be_given_again(caplog):
    source = ListSource(20, endless=True)
    source.offsets = lambda: ()
    run_with_a_batch_that_is_not_through(source)
    (told,) = caplog.messages
    assert told.startswith("after 0.1 s of stopping, 10 messages are still being assessed; they are not stored")
    assert told.endswith("give the same input again for the rest")


def test_a_batch_that_is_being_stored_when_stopping_takes_too_long_is_in_the_ledger(caplog):
    stop, source, store = Event(), ListSource(10, endless=True), MemoryStore()
    told = Event()

    def store_slowly(batch):
        stop.set()
        assert told.wait(PATIENT)
        return store.write(batch)

    class Told(logging.Handler):
        def emit(self, _record):
            told.set()

    handler = Told(logging.WARNING)
    logging.getLogger("monitor.app.flow").addHandler(handler)
    try:
        assert flow(source, _Wrapped(store, store_slowly), stop=stop, finish_within=0.1).run().received == 10
    finally:
        logging.getLogger("monitor.app.flow").removeHandler(handler)
    assert caplog.messages == [
        "after 0.1 s of stopping, a batch is still being stored; if that succeeds, the ledger counts it"
    ]
