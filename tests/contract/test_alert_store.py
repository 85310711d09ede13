"""What every `AlertStore` promises: counts by the minute, alerts that cannot be saved twice, and what is remembered."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, text

from monitor.alert.evaluation.memory import Remembered, Round, RuleMemory
from monitor.alert.signal import RATES, Signal, SignalKind
from monitor.alert.state import State, Transition
from monitor.alert.target import Baseline, HourSums
from monitor.alert.window import Count, Span
from monitor.core.errors import Retriable
from monitor.core.model import Reason, Verdict
from monitor.simulate.fakes.alerts import MemoryAlertStore
from monitor.store import database
from monitor.store.alert.responses import PostgresResponses
from monitor.store.alert.store import PostgresAlertStore
from monitor.store.database import connect
from tests.factories.alert import an_alert
from tests.factories.answers import NOON, a_batch, an_assessment, at

EMPTY = RuleMemory()
ALL = Span(start=NOON - timedelta(days=1), end=NOON + timedelta(days=1))
INFINITE = float("inf")


@pytest.fixture(params=["memory", "postgres"])
def backend(request):
    return request.param


@pytest.fixture
def store(backend, request):
    return MemoryAlertStore() if backend == "memory" else PostgresAlertStore(request.getfixturevalue("engine"))


@pytest.fixture
def count(backend, store, request):
    """Puts assessments where the store counts them."""

    def in_memory(*assessments):
        for a in assessments:
            it = a.interaction
            labels = {"app": it.app, "environment": it.environment, "model": it.model or "",
                      "topic": it.tags.get("topic", "")}  # fmt: skip
            shown = Counter([a.verdict, *a.reasons, *(["negative"] if a.verdict.negative else [])])
            store.count(it.occurred_at, labels, 1, **shown)

    def in_postgres(*assessments):
        request.getfixturevalue("writer").write(a_batch(*assessments))

    return in_memory if backend == "memory" else in_postgres


@pytest.fixture
def acknowledge(backend, store, request):
    """What a person does meanwhile."""

    def in_postgres(alert):
        PostgresResponses(request.getfixturevalue("engine")).acknowledge([alert], by="ada", now=at(3))

    def in_memory(alert):
        store.acknowledge(alert.fingerprint, by="ada", now=at(3))

    return in_memory if backend == "memory" else in_postgres


def rate(name: str) -> Signal:
    return Signal(kind=SignalKind.RATE, name=name)


def some(number, verdict=Verdict.GROUNDED, **over):
    """`number` assessments alike, each with an id of its own."""
    some.made += number
    return [an_assessment(id=f"q-{some.made - i}", verdict=verdict, **over) for i in range(number)]


some.made = 0


def counted(store, name, by=(), spans=(ALL,), **selector):
    """By label values: matching and total of each span."""
    found = store.counts(rate(name), selector, by, spans)
    assert all(list(its.labels) == list(by) for its in found)
    return {tuple(its.labels.values()): [(count.sum, count.total) for count in its.counts] for its in found}


# --- counts ---


def test_what_has_no_answer_is_left_out_but_for_the_whole(store):
    assert counted(store, "negative", ("app",)) == {}
    assert counted(store, "negative") == {(): [(0, 0)]}


def test_refusals_and_self_generated_answers_together_are_the_negative_ones(store, count):
    count(*some(5), *some(3, Verdict.REFUSAL), *some(2, Verdict.SELF_GENERATED))
    found = {name: counted(store, name)[()][0][0] for name in ("negative", *Verdict)}
    assert found == {"negative": 5, "grounded": 5, "refusal": 3, "self_generated": 2}


def test_of_a_rate_the_squares_are_the_sum(store, count):
    count(*some(3), *some(2, Verdict.REFUSAL))
    (found,) = store.counts(rate("refusal"), {}, (), [ALL])
    assert found.counts == (Count(total=5, sum=2, squares=2),)


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_counted(store, count, reason):
    count(*some(2, Verdict.SELF_GENERATED, reasons=(reason,)), *some(3, reasons=()))
    assert counted(store, reason.value, ("app",)) == {("support-bot",): [(2, 5)]}


@pytest.mark.parametrize("name", RATES)
def test_every_rate_can_be_asked_for(store, count, name):
    count(*some(1))
    assert counted(store, name)[()][0][1] == 1


def test_there_is_one_for_each_combination_of_labels(store, count):
    count(
        *some(1, Verdict.REFUSAL, app="a", environment="production", model="m", tags={"topic": "billing"}),
        *some(2, app="a", environment="staging", model="m", tags={"topic": "billing"}),
        *some(3, Verdict.REFUSAL, app="b", environment="staging"),
        *some(4, app="b", environment="staging", tags={"other": "tag"}),
    )
    assert counted(store, "refusal", ("app", "environment")) == {
        ("a", "production"): [(1, 1)], ("a", "staging"): [(0, 2)], ("b", "staging"): [(3, 7)],
    }  # fmt: skip
    assert counted(store, "refusal", ("topic", "model")) == {("", ""): [(3, 7)], ("billing", "m"): [(1, 3)]}


def test_a_selector_takes_answers_with_one_of_the_values_of_every_label(store, count):
    count(*some(1, app="a", model="m"), *some(2, app="b", model="m"), *some(4, app="c", model="m"), *some(8, app="a"))

    def total(**chosen):
        return counted(store, "negative", **chosen)[()][0][1]

    assert total() == 15
    assert total(app=("a",)) == 9
    assert total(app=("a", "b")) == 11
    assert total(app=("a", "b"), model=("m",)) == 3
    assert total(app=("a",), model=("",)) == 8
    assert total(app=("nobody",)) == 0
    assert total(environment=("production",), topic=("",)) == 15


def test_each_span_holds_its_first_minute_and_not_its_last(store, count):
    for minute in (-1, 0, 1, 2):
        count(*some(10 ** (minute + 1), occurred_at=at(minute) + timedelta(seconds=59)))
    spans = [Span(start=at(0), end=at(2)), Span(start=at(2), end=at(9)), Span(start=at(5), end=at(9)), ALL]
    assert [total for _, total in counted(store, "negative", spans=spans)[()]] == [110, 1000, 0, 1111]


def test_what_has_something_in_one_span_has_a_count_for_each(store, count):
    count(*some(2), *some(3, app="b", occurred_at=at(60)))
    spans = [Span(start=at(0), end=at(1)), Span(start=at(60), end=at(61))]
    assert counted(store, "negative", ("app",), spans) == {("support-bot",): [(0, 2), (0, 0)], ("b",): [(0, 0), (0, 3)]}


def test_minutes_are_the_same_in_whatever_zone_they_are_asked_for(store, count):
    count(*some(2))
    zone = datetime(2025, 11, 21, tzinfo=UTC).astimezone(tz=None).tzinfo
    span = Span(start=at(0).astimezone(zone), end=at(1).astimezone(zone))
    assert counted(store, "negative", spans=[span]) == {(): [(0, 2)]}


def test_sums_over_hours_are_of_the_hours_with_answers(store, count):
    count(*some(3), *some(1, Verdict.REFUSAL), *some(2, Verdict.REFUSAL, occurred_at=at(125)), *some(5, app="b"))
    hours = Span(start=at(-60), end=at(240))
    assert store.hour_sums(rate("negative"), {}, ("app",), hours) == [
        HourSums(labels={"app": "b"}, hours=1, total=5, sum=0, sum_squares=0, products=0, total_squares=25),
        HourSums(labels={"app": "support-bot"}, hours=2, total=6, sum=3, sum_squares=5, products=8, total_squares=20),
    ]
    assert [s.total for s in store.hour_sums(rate("negative"), {"app": ("b",)}, (), hours)] == [5]
    assert store.hour_sums(rate("negative"), {"app": ("nobody",)}, (), hours) == []


def test_nothing_is_being_read_at_first(store):
    assert store.watermark(NOON) is None
    assert store.momentary(Signal(kind=SignalKind.LAG), NOON) == []


# --- alerts ---


PENDING = an_alert(
    state=State.PENDING, fired_at=None, receivers=(), active_since=at(0), labels={"app": "a", "team": 'Søren’s "A"'},
)  # fmt: skip
FIRING = replace(PENDING, state=State.FIRING, fired_at=at(2), receivers=("console", "slack"), value=0.5, samples=80)
ENDING = replace(FIRING, normal_since=at(8), detail="burn rate 3", lower=-INFINITE, upper=INFINITE)
RESOLVED = replace(FIRING, state=State.RESOLVED, resolved_at=at(9), value=0.1, note="gone", below=True, unit="seconds")
AGAIN = replace(PENDING, episode="e2", active_since=at(20))
DIGEST = PENDING.rule_digest


def change(previous, alert, minute=0.0) -> Transition:
    return Transition(previous=previous, alert=alert, at=at(minute))


def save(store, *changes, minute=0.0, memory=EMPTY, **more) -> None:
    store.save(
        Round(rule="negative-rate", rule_digest=DIGEST, at=at(minute), memory=memory, transitions=changes, **more)
    )


def test_no_alert_is_stored_at_first(store):
    assert store.alerts() == []
    assert store.memory(DIGEST) == RuleMemory()


@pytest.mark.parametrize("alert", [PENDING, FIRING, ENDING, RESOLVED], ids=["pending", "firing", "ending", "resolved"])
def test_every_field_of_an_alert_comes_back(store, alert):
    save(store, change(None, alert))
    assert store.alerts() == [alert]


def test_an_alert_without_a_value_comes_back_without_one(store):
    alert = replace(PENDING, value=None, samples=0, lower=0.0, upper=1.0, labels={}, annotations={})
    save(store, change(None, alert))
    assert store.alerts() == [alert]


def test_an_alert_lives_under_its_fingerprint_from_pending_to_the_next_episode(store):
    before = None
    for after in (PENDING, FIRING, ENDING, RESOLVED, AGAIN):
        save(store, change(before, after))
        assert store.alerts() == [after]
        before = after


def test_an_alert_that_went_back_to_inactive_is_not_listed_and_may_begin_anew(store):
    save(store, change(None, PENDING))
    save(store, change(PENDING, replace(PENDING, state=State.INACTIVE)))
    assert store.alerts() == []
    save(store, change(None, AGAIN))
    assert store.alerts() == [AGAIN]


def test_a_resolved_alert_that_was_not_listed_any_more_may_begin_anew(store):
    save(store, change(None, replace(RESOLVED, acknowledged_by="ada", acknowledged_at=at(5))))
    save(store, change(None, AGAIN, 200))
    assert store.alerts() == [AGAIN]
    with pytest.raises(Retriable, match="another evaluator"):
        save(store, change(RESOLVED, AGAIN))


def test_alerts_of_other_fingerprints_stand_beside_each_other(store):
    other = replace(PENDING, fingerprint="0" * 32, labels={"app": "b"})
    save(store, change(None, PENDING), change(None, other))
    save(store, change(PENDING, FIRING))
    assert sorted(store.alerts(), key=lambda a: a.fingerprint) == [other, FIRING]


@pytest.mark.parametrize(
    ("stored", "previous"),
    [
        (PENDING, None),  # another began it
        (FIRING, PENDING),  # another fired it
        (RESOLVED, FIRING),  # another resolved it
        (AGAIN, replace(AGAIN, episode="e1")),  # another episode in the same state
        (None, PENDING),  # never stored
        (replace(PENDING, state=State.INACTIVE), PENDING),  # another ended it
    ],
    ids=["begun", "fired", "resolved", "another episode", "never stored", "ended"],
)
def test_a_change_of_what_is_not_so_any_more_is_refused_with_everything_saved_beside_it(store, stored, previous):
    if stored is not None:
        save(store, change(None, stored))
    before, beside = store.alerts(), replace(PENDING, fingerprint="0" * 32)
    changed = change(previous, replace(PENDING, state=State.FIRING, fired_at=at(1), receivers=("console",)))
    memory = store.memory(DIGEST)
    with pytest.raises(Retriable, match="another evaluator"):
        save(store, change(None, beside), changed, memory=RuleMemory(until=at(5)), remembered={"f": SHOP})
    with pytest.raises(Retriable, match="another evaluator"):
        store.end([change(None, beside), changed], [])
    assert store.alerts() == before
    assert store.memory(DIGEST) == memory


def test_an_acknowledgement_since_it_was_read_stays_with_its_episode(store, acknowledge):
    save(store, change(None, FIRING))
    acknowledge(FIRING)
    save(store, change(FIRING, ENDING))
    (alert,) = store.alerts()
    assert alert == replace(ENDING, acknowledged_by="ada", acknowledged_at=at(3))
    save(store, change(alert, replace(RESOLVED, acknowledged_by="ada", acknowledged_at=at(3))))
    save(store, change(store.alerts()[0], AGAIN))
    assert store.alerts() == [AGAIN]


def test_the_end_of_an_alert_whose_rule_is_gone_forgets_the_rule(store):
    save(store, change(None, FIRING), memory=RuleMemory(until=at(1)), remembered={"f": SHOP})
    store.end([change(FIRING, RESOLVED, 5)], [DIGEST])
    assert store.alerts() == [RESOLVED]
    assert store.memory(DIGEST) == RuleMemory()
    store.end([], [])


def spans(store, since=-1000.0, digest=DIGEST):
    found = store.active_spans(digest, at(since))
    return {identity: [(span.start, span.end) for span in its] for identity, its in found.items()}


def test_it_is_known_when_alerts_were_active(store):
    other = replace(FIRING, fingerprint="0" * 32)
    elsewhere = replace(FIRING, fingerprint="9" * 32, rule_digest="another")
    save(store, change(None, PENDING, 0), change(None, other, 1), change(None, elsewhere, 1))
    save(store, change(PENDING, FIRING, 2))
    save(store, change(FIRING, ENDING, 3))  # no change of state
    save(store, change(ENDING, replace(ENDING, state=State.NO_DATA), 5))
    save(store, change(replace(ENDING, state=State.NO_DATA), RESOLVED, 9))
    assert spans(store) == {
        FIRING.fingerprint: [(at(2), at(5)), (at(5), at(9))],
        other.fingerprint: [(at(1), datetime.max.replace(tzinfo=UTC))],
    }
    assert list(spans(store, since=9)) == [other.fingerprint]
    assert spans(store, since=5)[FIRING.fingerprint] == [(at(5), at(9))]
    assert list(spans(store, digest="another")) == [elsewhere.fingerprint]
    assert spans(store, digest="nobody") == {}


# --- what is remembered ---


BASELINE = Baseline(rate=0.1, lower=0.05, upper=0.3, samples=2**40, hours=600, learnt_at=at(-7.1))
SHOP = Remembered(labels={"app": "shop"}, seen_at=at(1))
BANK = Remembered(
    labels={"app": "bank", "topic": ""},
    seen_at=at(2),
    memory={"log_wealth": [0.1, -745.25, 1e-12, 12.0], "firing": True, "seen": [[1, 2, 3]], "nested": {"none": None}},
    baseline=BASELINE,
)


def test_what_is_remembered_comes_back(store):
    memory = RuleMemory(until=at(5.5), learnt_at=at(4))
    save(store, memory=memory, remembered={"f1": SHOP, "f2": BANK})
    assert store.memory(DIGEST) == replace(memory, by_fingerprint={"f1": SHOP, "f2": BANK})
    assert store.memory("another") == RuleMemory()


def test_only_what_changed_is_given_and_the_rest_stays(store):
    save(store, remembered={"f1": SHOP, "f2": BANK})
    changed = replace(SHOP, seen_at=at(9), memory={"x": 1})
    save(store, memory=RuleMemory(until=at(9)), remembered={"f1": changed})
    assert store.memory(DIGEST) == RuleMemory(until=at(9), by_fingerprint={"f1": changed, "f2": BANK})
    save(store, remembered={"f1": replace(changed, memory=None)}, forgotten=("f2", "never there"))
    assert store.memory(DIGEST).by_fingerprint == {"f1": replace(changed, memory=None)}


def test_since_when_a_rule_fails_is_known_until_it_does_not(store):
    save(store, minute=1, error="ZeroDivisionError")
    save(store, minute=2, error="Retriable")
    assert store.memory(DIGEST).failing_since == at(1)
    save(store, minute=3)
    assert store.memory(DIGEST).failing_since is None
    save(store, minute=4, error="ZeroDivisionError")
    assert store.memory(DIGEST).failing_since == at(4)


# --- the lock ---


def test_the_lock_that_nobody_holds_is_ours_and_is_given_back(store):
    with pytest.raises(ZeroDivisionError), store.evaluating():
        raise ZeroDivisionError
    for _ in range(3):
        with store.evaluating() as ours:
            assert ours


def test_the_lock_that_another_replica_holds_is_not_ours(backend, store, request):
    if backend == "memory":
        store.locked_by_another = True
        with store.evaluating() as ours:
            assert not ours
        return
    another = PostgresAlertStore(request.getfixturevalue("engine"))
    with another.evaluating() as theirs:
        assert theirs
        for _ in range(2):  # giving back what was not ours does not free it
            with store.evaluating() as ours:
                assert not ours
    with store.evaluating() as ours:
        assert ours


def test_the_server_is_told_to_look_after_the_locks_session(backend, store, request):
    """Without a host there is nobody to close the session: the server has to ask. On a Unix socket all are 0."""
    if backend == "memory":
        return
    engine, opened, sent = request.getfixturevalue("engine"), [], []
    event.listen(engine, "engine_connect", opened.append)
    event.listen(engine, "before_cursor_execute", lambda *its: sent.append(its[2]))
    with store.evaluating() as ours:
        assert ours
        assert all(f"SET tcp_keepalives_{its}" in sent[0] for its in ("idle = 10", "interval = 5", "count = 3"))
        asked = [opened[-1].scalar(text(f"SHOW tcp_keepalives_{name}")) for name in ("idle", "interval", "count")]
    local = engine.url.query.get("host", engine.url.host or "/").startswith("/")
    assert asked == (["0", "0", "0"] if local else ["10", "5", "3"])


# --- no longer than so ---


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(database, "_BOUNDS", text("SET LOCAL statement_timeout = 500; SET LOCAL lock_timeout = 200"))


@pytest.mark.usefixtures("impatient")
def test_what_somebody_else_has_locked_is_not_waited_for(backend, store, request):
    if backend == "memory":
        return
    save(store, change(None, PENDING))
    with request.getfixturevalue("engine").begin() as another:
        another.execute(text("SELECT * FROM alert FOR UPDATE"))
        with pytest.raises(Retriable, match="lock timeout"):
            save(store, change(PENDING, FIRING))
        another.execute(text("LOCK TABLE verdict_hour, verdict_minute, reading, rule_state, alert_event"))
        for read in (
            lambda: store.counts(rate("negative"), {}, (), [ALL]),
            lambda: store.hour_sums(rate("negative"), {}, (), ALL),
            lambda: store.watermark(NOON),
            lambda: store.memory(DIGEST),
            lambda: store.active_spans(DIGEST, NOON),
        ):
            with pytest.raises(Retriable, match="lock timeout"):
                read()
    save(store, change(PENDING, FIRING))
    assert store.alerts() == [FIRING]


@pytest.mark.usefixtures("impatient")
def test_a_statement_that_takes_too_long_is_a_busy_database(backend, request):
    if backend == "memory":
        return
    engine = request.getfixturevalue("engine")
    with pytest.raises(Retriable, match="statement timeout"), database.bounded(engine) as connection:
        connection.execute(text("SELECT pg_sleep(60)"))
    with engine.connect() as connection:
        assert connection.scalar(text("SHOW statement_timeout")) == "0"  # of that transaction only


# --- out of reach ---


@pytest.fixture
def lost(backend, store):
    """A store that cannot be reached."""
    if backend == "memory":
        store.out_of_reach = True
        yield store
        return
    engine = connect("postgresql://127.0.0.1:1/nothing")
    yield PostgresAlertStore(engine)
    engine.dispose()


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.alerts(),
        lambda s: s.watermark(NOON),
        lambda s: s.memory(DIGEST),
        lambda s: save(s, change(None, PENDING)),
        lambda s: s.end([change(None, PENDING)], []),
        lambda s: s.counts(rate("negative"), {}, (), [ALL]),
        lambda s: s.hour_sums(rate("negative"), {}, (), ALL),
        lambda s: s.momentary(Signal(kind=SignalKind.LEDGER), NOON),
        lambda s: s.active_spans(DIGEST, NOON),
        lambda s: s.evaluating().__enter__(),
    ],
    ids=[
        "alerts",
        "watermark",
        "memory",
        "save",
        "end",
        "counts",
        "hour_sums",
        "momentary",
        "active_spans",
        "evaluating",
    ],
)
def test_a_store_out_of_reach_is_retriable(lost, call):
    with pytest.raises(Retriable):
        call(lost)
