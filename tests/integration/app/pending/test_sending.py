"""Verdicts are sent out at least once, whatever the destination does, and again when they change."""

from __future__ import annotations

from datetime import timedelta
from threading import Event

import pytest

from monitor.alert.receivers import http
from monitor.app.export.langfuse import LangfuseDestination
from monitor.app.export.otlp import OtlpDestination
from monitor.app.export.phoenix import PhoenixDestination
from monitor.app.pending.queue import Queue
from monitor.app.pending.sending import ClearingWorker, SendingWorker
from monitor.core.pending import SENDING, Work
from monitor.core.settings.export import ExportSettings
from monitor.store.interaction.writer import Writer
from monitor.store.pending.finish import finish_judged, finish_revised
from monitor.store.pending.queue import PendingQueue
from monitor.store.pending.verdicts import VerdictQueue
from tests.factories.answers import NOON, Verdict, a_batch, a_judgement, an_assessment, clock
from tests.rig.store.keys import QUEUE_KEY
from tests.servers.verdicts import Langfuse, Otlp, Phoenix, receiving
from tests.servers.webhook import HANG_UP, LOST, RATE_LIMITED, Answer

SCORES = ExportSettings().scores
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PER_ANSWER = 10  # verdict, three probabilities, five similarities, refusal
BENCHES = {
    Work.SEND_OTLP: (
        Otlp,
        lambda url: OtlpDestination(endpoint=url, headers="x-team=rag%20ops", scores=SCORES),
    ),
    Work.SEND_PHOENIX: (Phoenix, lambda url: PhoenixDestination(url=url, api_key="px-test", scores=SCORES)),
    Work.SEND_LANGFUSE: (
        Langfuse,
        lambda url: LangfuseDestination(url=url, public_key="pk-test", secret_key="sk-test", scores=SCORES),
    ),
}


class Bench:
    """A destination with a worker, a writer that queues for it, and a clock that the test moves."""

    def __init__(self, engine, database, kind, receiver, destination):
        self.now = NOON
        self.kind, self.receiver, self.server = kind, receiver, receiver.server
        self.pending = PendingQueue(engine)
        queue = Queue(pending=self.pending, now=lambda: self.now, max_attempts=2)
        self.worker = SendingWorker(queue=queue, verdicts=VerdictQueue(engine, kind), destination=destination)
        self.follow_ups: list[Work] = []
        self.writer = Writer(
            database, clock, queue_key=QUEUE_KEY, follow_ups=lambda _: self.follow_ups, sends=lambda _: [kind]
        )

    def store(self, *ids, **over):
        traced = {"trace_id": TRACE, "span_id": SPAN}
        self.writer.write(a_batch(*(an_assessment(id=id_, **{**traced, **over}) for id_ in ids)))

    def work(self):
        """All rounds that do something."""
        while self.worker.round():
            pass

    def later(self, seconds):
        self.now += timedelta(seconds=seconds)

    def count(self):
        return next(iter(self.pending.counts(self.now, self.kind)), None)

    def revise(self, verdict):
        """What the sidecar's worker does."""
        claims = self.pending.claim([Work.SIDECAR], self.now, most=10, lease=timedelta(minutes=1))
        made = [(claim, an_assessment(interaction=claim.interaction, verdict=verdict)) for claim in claims]
        self.follow_ups.clear()
        finish_revised(self.writer, made, self.now)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture(params=list(BENCHES), ids=str)
def bench(request, engine, database):
    make_receiver, make_destination = BENCHES[request.param]
    with receiving(make_receiver()) as receiver:
        bench = Bench(engine, database, request.param, receiver, make_destination(receiver.server.url))
        yield bench
        bench.worker.close()
        bench.writer.close()
    assert not receiver.problems


def test_every_evaluation_of_an_answer_is_attached_to_its_span(bench):
    bench.store("q-1", "q-2")
    bench.store("q-3", verdict=Verdict.REFUSAL)
    bench.work()
    taken = bench.receiver.taken.values()
    assert len(taken) == 3 * PER_ANSWER
    assert bench.receiver.verdicts() == {"q-1": "grounded", "q-2": "grounded", "q-3": "refusal"}
    assert {one.span_id for one in taken} == {SPAN}
    assert {one.trace_id for one in taken} <= {TRACE, None}
    (similarity,) = {one.value for one in taken if one.name == "monitor.sda"}
    assert similarity == 0.5
    assert bench.count() is None


def test_without_a_span_the_trace_gets_them(bench):
    bench.store("q-1", span_id=None)
    bench.work()
    assert {(one.trace_id, one.span_id) for one in bench.receiver.taken.values()} == {(TRACE, None)}


def test_while_it_is_down_one_batch_is_tried_after_each_pause_and_nothing_is_lost(bench):
    bench.store(*(f"q-{n}" for n in range(120)))
    bench.server.script += [HANG_UP] * 3
    for _ in range(3):
        bench.work()
        assert bench.worker.round() is None  # it waits
        bench.later(10)
    (waiting, error, attempts) = (bench.count().waiting, bench.count().last_error, bench.count().given_up)
    assert (waiting, attempts) == (120, 0)
    assert "out of reach" in error
    assert not bench.server.script  # one request for each pause
    bench.work()
    assert len(bench.receiver.verdicts()) == 120
    assert bench.count() is None


def test_it_waits_as_long_as_the_destination_asks(bench):
    bench.store("q-1")
    bench.server.script.append(RATE_LIMITED)
    bench.work()
    bench.later(29)
    assert bench.worker.round() is None
    bench.later(1)
    bench.work()
    assert bench.receiver.verdicts() == {"q-1": "grounded"}


def test_a_wrong_key_gives_nothing_up(bench):
    bench.store("q-1")
    bench.server.script.append(Answer(status=401))
    bench.work()
    assert (bench.count().waiting, bench.count().given_up) == (1, 0)
    assert "401" in bench.count().last_error
    bench.later(600)
    bench.work()
    assert bench.count() is None


def test_one_that_is_refused_for_good_is_given_up_alone_and_shown(bench):
    bench.receiver.refused.add("q-5")
    bench.store(*(f"q-{n}" for n in range(9)))
    bench.work()
    assert set(bench.receiver.verdicts()) == {f"q-{n}" for n in range(9) if n != 5}
    (row,) = bench.pending.rows(kind=bench.kind, given_up=True, most=10)
    assert row["interaction_id"] == "q-5"
    assert "refused" in row["last_error"]


def test_one_that_cannot_be_written_holds_up_no_other(bench, monkeypatch):
    send = bench.worker.destination.send

    def failing(verdicts):
        if any(verdict.interaction_id == "q-2" for verdict in verdicts):
            raise ValueError("a reason of a later release")
        return send(verdicts)

    monkeypatch.setattr(bench.worker.destination, "send", failing)
    bench.store("q-1", "q-2", "q-3")
    bench.work()
    assert set(bench.receiver.verdicts()) == {"q-1", "q-3"}
    assert (bench.count().waiting, bench.count().failed) == (1, 1)
    assert bench.count().last_error == "ValueError: a reason of a later release"


def test_an_answer_that_is_lost_makes_no_duplicates(bench):
    bench.store("q-1", "q-2")
    bench.server.script.append(LOST)
    bench.server.script.append(LOST)
    bench.work()
    bench.later(600)
    before = dict(bench.receiver.taken)
    bench.later(600)
    bench.work()
    bench.later(600)
    bench.work()
    assert bench.count() is None
    assert len(bench.receiver.taken) == 2 * PER_ANSWER
    assert before.items() <= bench.receiver.taken.items()


def test_a_slow_destination_is_left_and_tried_again(bench, monkeypatch):
    monkeypatch.setattr(http, "TIMEOUT", 0.2)
    bench.store("q-1")
    free, orderly = Event(), bench.server._respond
    bench.server._respond = lambda request: (free.wait(30), orderly(request))[1]
    bench.work()
    assert "in time" in bench.count().last_error
    free.set()
    bench.later(10)
    bench.work()
    assert bench.receiver.verdicts() == {"q-1": "grounded"}


def test_a_revision_is_sent_again(bench):
    bench.follow_ups = [Work.SIDECAR]
    bench.store("q-1")
    bench.work()
    bench.later(60)
    bench.revise(Verdict.SELF_GENERATED)
    bench.work()
    newest = [one for one in bench.receiver.taken.values() if one.name == "monitor.verdict"][-1]
    assert newest.label == "self_generated"
    assert bench.count() is None


def test_a_revision_while_the_verdict_is_on_its_way_is_not_lost(bench):
    bench.follow_ups = [Work.SIDECAR]
    bench.store("q-1")
    orderly = bench.server._respond

    def revising(request):
        bench.server._respond = orderly
        bench.later(60)
        bench.revise(Verdict.REFUSAL)
        return orderly(request)

    bench.server._respond = revising
    bench.work()
    newest = [one for one in bench.receiver.taken.values() if one.name == "monitor.verdict"][-1]
    assert newest.label == "refusal"
    assert len(bench.server.requests) == 2
    assert bench.count() is None


def test_judgements_go_out_when_they_come(bench):
    bench.follow_ups = [Work.JUDGE]
    bench.store("q-1")
    bench.work()
    claims = bench.pending.claim([Work.JUDGE], bench.now, most=10, lease=timedelta(minutes=1))
    bench.later(60)
    finish_judged(bench.writer, [(claim, [a_judgement()]) for claim in claims], bench.now)
    bench.work()
    (judged,) = [one for one in bench.receiver.taken.values() if one.name == "monitor.judge.faithfulness"]
    assert judged.value == 0.5


def test_two_workers_that_have_sent_the_same_one_leave_the_newest_there(bench, engine):
    """The first is slow, its claim is gone, and another has sent what came after; then it overwrites that."""
    bench.store("q-1")
    queue = VerdictQueue(engine, bench.kind)
    slow = queue.claim(bench.now, most=10, lease=timedelta(minutes=1))
    with bench.writer.transaction() as connection:
        bench.writer.send_out(connection, [an_assessment(id="q-1").interaction])
    bench.work()
    assert bench.count() is None
    queue.sent(slow, bench.now)
    assert bench.count().due == 1


def test_what_waits_for_a_destination_that_is_switched_off_is_dropped(bench):
    bench.store("q-1", "q-2")
    off = ClearingWorker(pending=bench.pending, kinds=[kind for kind in SENDING if kind != bench.kind])
    assert off.round() is None
    assert bench.count().waiting == 2
    off = ClearingWorker(pending=bench.pending, kinds=SENDING)
    assert (off.round(), off.round()) == (2, None)
    assert bench.count() is None


def test_a_span_that_phoenix_does_not_know_yet_is_tried_again_and_given_up_in_the_end(engine, database):
    make_receiver, make_destination = BENCHES[Work.SEND_PHOENIX]
    with receiving(make_receiver()) as receiver:
        bench = Bench(engine, database, Work.SEND_PHOENIX, receiver, make_destination(receiver.server.url))
        late, never = "a" * 16, "b" * 16
        receiver.unknown |= {late, never}
        bench.store("q-1")
        bench.store("q-2", span_id=late)
        bench.store("q-3", span_id=never)
        bench.work()
        assert set(receiver.verdicts()) == {"q-1"}
        receiver.unknown.remove(late)
        bench.later(600)
        bench.work()
        assert set(receiver.verdicts()) == {"q-1", "q-2"}
        assert (bench.count().waiting, bench.count().given_up) == (0, 1)
        assert "does not know its span" in bench.count().last_error
        bench.writer.close()
