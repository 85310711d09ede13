"""What every `AlertStore` promises: counts by the minute, alerts that cannot be saved twice, and an outbox in order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from monitor.alert.notification import Example, Notification, notifications_of
from monitor.alert.rule import SIGNALS, Selector
from monitor.alert.state import Alert, State, Transition
from monitor.alert.window import WindowCount
from monitor.errors import Retriable
from monitor.model import Reason, Verdict
from monitor.store.alerts import PostgresAlertStore
from monitor.testing import MemoryAlertStore
from tests.factories import NOON, a_batch, an_assessment, at

ANYTHING = Selector()
EARLY, LATE = NOON - timedelta(days=1), NOON + timedelta(days=1)


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


def some(number, verdict=Verdict.GROUNDED, **over):
    """`number` assessments alike, each with an id of its own."""
    some.made += number
    return [an_assessment(id=f"q-{some.made - i}", verdict=verdict, **over) for i in range(number)]


some.made = 0


def counts(found):
    return sorted((sorted(c.labels.items()), c.matching, c.total) for c in found)


# --- counts ---


def test_a_window_without_any_answer_has_no_count(store):
    assert store.window_counts(ANYTHING, "negative", ("app",), EARLY, LATE) == []
    assert store.window_counts(ANYTHING, "negative", (), EARLY, LATE) == []


def test_without_labels_there_is_one_count(store, count):
    count(*some(3), *some(2, Verdict.REFUSAL, app="other-bot"))
    found = store.window_counts(ANYTHING, "refusal", (), EARLY, LATE)
    assert found == [WindowCount(labels={}, matching=2, total=5)]


def test_refusals_and_self_generated_answers_together_are_the_negative_ones(store, count):
    count(*some(5), *some(3, Verdict.REFUSAL), *some(2, Verdict.SELF_GENERATED))
    found = {s: store.window_counts(ANYTHING, s, ("app",), EARLY, LATE)[0].matching for s in ("negative", *Verdict)}
    assert found == {"negative": 5, "grounded": 5, "refusal": 3, "self_generated": 2}


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_counted(store, count, reason):
    count(*some(2, Verdict.SELF_GENERATED, reasons=(reason,)), *some(3, reasons=()))
    found = store.window_counts(ANYTHING, reason.value, ("app",), EARLY, LATE)
    assert found == [WindowCount(labels={"app": "support-bot"}, matching=2, total=5)]


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_signal_can_be_asked_for(store, count, signal):
    count(*some(1))
    assert store.window_counts(ANYTHING, signal, ("app",), EARLY, LATE)[0].total == 1


def test_a_label_that_does_not_show_the_signal_is_counted_with_none_matching(store, count):
    count(*some(4))
    assert counts(store.window_counts(ANYTHING, "negative", ("app",), EARLY, LATE)) == [
        ([("app", "support-bot")], 0, 4)
    ]


def test_there_is_one_count_for_each_combination_of_labels(store, count):
    count(
        *some(1, Verdict.REFUSAL, app="a", environment="production", model="m", tags={"topic": "billing"}),
        *some(2, app="a", environment="staging", model="m", tags={"topic": "billing"}),
        *some(3, Verdict.REFUSAL, app="b", environment="staging"),
        *some(4, app="b", environment="staging", tags={"other": "tag"}),
    )
    assert counts(store.window_counts(ANYTHING, "refusal", ("app", "environment"), EARLY, LATE)) == [
        ([("app", "a"), ("environment", "production")], 1, 1),
        ([("app", "a"), ("environment", "staging")], 0, 2),
        ([("app", "b"), ("environment", "staging")], 3, 7),
    ]
    assert counts(store.window_counts(ANYTHING, "refusal", ("topic", "model"), EARLY, LATE)) == [
        ([("model", ""), ("topic", "")], 3, 7),
        ([("model", "m"), ("topic", "billing")], 1, 3),
    ]


def test_a_selector_takes_answers_with_one_of_the_values_of_every_label(store, count):
    count(*some(1, app="a", model="m"), *some(2, app="b", model="m"), *some(4, app="c", model="m"), *some(8, app="a"))

    def total(**chosen):
        return sum(c.total for c in store.window_counts(Selector(**chosen), "negative", (), EARLY, LATE))

    assert total() == 15
    assert total(app=("a",)) == 9
    assert total(app=("a", "b")) == 11
    assert total(app=("a", "b"), model=("m",)) == 3
    assert total(app=("a",), model=("",)) == 8
    assert total(app=("nobody",)) == 0
    assert total(environment=("production",), topic=("",)) == 15


def test_a_window_holds_its_first_minute_and_not_its_last(store, count):
    for minute in (-1, 0, 1, 2):
        count(*some(10 ** (minute + 1), occurred_at=at(minute) + timedelta(seconds=59)))
    assert store.window_counts(ANYTHING, "negative", (), at(0), at(2))[0].total == 110


def test_minutes_are_the_same_in_whatever_zone_they_are_asked_for(store, count):
    count(*some(2))
    zone = datetime(2025, 11, 21, tzinfo=UTC).astimezone(tz=None).tzinfo
    start, end = at(0).astimezone(zone), at(1).astimezone(zone)
    assert store.window_counts(ANYTHING, "negative", (), start, end)[0].total == 2


# --- alerts ---


def an_alert(**over) -> Alert:
    known = {
        "fingerprint": "f" * 32, "episode": "e1", "rule": "negative-rate", "rule_digest": "d" * 16,
        "signal": "negative", "labels": {"app": "support-bot", "team": 'Søren’s "A"'}, "severity": "critical",
        "threshold": 0.3, "window": timedelta(minutes=5), "annotations": {"summary": "Too many. 多すぎる"},
        "receivers": (), "state": State.PENDING, "active_since": at(0), "value": 0.4, "samples": 50, "lower": 0.28,
        "upper": 0.54,
    }  # fmt: skip
    return Alert(**{**known, **over})


PENDING = an_alert()
FIRING = replace(PENDING, state=State.FIRING, fired_at=at(2), receivers=("console", "slack"), value=0.5, samples=80)
RESOLVED = replace(FIRING, state=State.RESOLVED, resolved_at=at(9), value=0.1)
AGAIN = an_alert(episode="e2", active_since=at(20))


def change(previous, alert, minute=0.0, note=None) -> Transition:
    return Transition(previous=previous, alert=alert, at=at(minute), note=note)


def test_no_alert_is_stored_at_first(store):
    assert store.alerts() == []


@pytest.mark.parametrize("alert", [PENDING, FIRING, RESOLVED], ids=lambda a: a.state)
def test_every_field_of_an_alert_comes_back(store, alert):
    store.save([change(None, alert)], [])
    assert store.alerts() == [alert]


def test_an_alert_without_a_value_comes_back_without_one(store):
    alert = an_alert(value=None, samples=0, lower=0.0, upper=1.0, labels={}, annotations={})
    store.save([change(None, alert)], [])
    assert store.alerts() == [alert]


def test_an_alert_lives_under_its_fingerprint_from_pending_to_the_next_episode(store):
    before = None
    for after in (PENDING, FIRING, RESOLVED, AGAIN):
        store.save([change(before, after)], [])
        assert store.alerts() == [after]
        before = after


def test_an_alert_that_went_back_to_inactive_is_not_listed_and_may_begin_anew(store):
    store.save([change(None, PENDING)], [])
    store.save([change(PENDING, replace(PENDING, state=State.INACTIVE))], [])
    assert store.alerts() == []
    store.save([change(None, AGAIN)], [])
    assert store.alerts() == [AGAIN]


def test_alerts_of_other_fingerprints_stand_beside_each_other(store):
    other = an_alert(fingerprint="0" * 32, labels={"app": "b"})
    store.save([change(None, PENDING), change(None, other)], [])
    assert sorted(store.alerts(), key=lambda a: a.fingerprint) == [other, PENDING]
    store.save([change(PENDING, FIRING)], [])
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
        store.save([change(None, stored)], [])
    before, beside = store.alerts(), an_alert(fingerprint="0" * 32)
    changed = change(previous, replace(PENDING, state=State.FIRING, fired_at=at(1), receivers=("console",)))
    with pytest.raises(Retriable, match="another evaluator"):
        store.save([change(None, beside), changed], notifications_of(changed))
    assert store.alerts() == before
    assert store.due(LATE) == []


def test_saving_nothing_changes_nothing(store):
    store.save([], [])
    assert store.alerts() == []


# --- the outbox ---


def fired(*receivers, fingerprint="f" * 32, episode="e1", minute=2.0, **over) -> tuple[Notification, ...]:
    alert = replace(FIRING, fingerprint=fingerprint, episode=episode, receivers=receivers, **over)
    return notifications_of(change(None, alert, minute))


def resolved(*receivers, fingerprint="f" * 32, episode="e1", minute=9.0) -> tuple[Notification, ...]:
    alert = replace(RESOLVED, fingerprint=fingerprint, episode=episode, receivers=receivers)
    return notifications_of(change(None, alert, minute))


def queue(store, *notifications):
    store.save([], notifications)


def due(store, minute=60.0):
    return [(n.fingerprint[0], n.episode, n.receiver, n.status) for n in store.due(at(minute))]


def test_every_field_of_a_notification_comes_back(store):
    given = Notification(
        receiver="slack", episode="e1", fingerprint="f" * 32, rule="rule “1”", signal="negative",
        labels={"app": "a", "topic": ""}, status="firing", severity="info", value=0.123456789012345, lower=0.0,
        upper=1.0, samples=2**40, threshold=0.3, window=timedelta(minutes=7), started_at=at(0.51), at=at(2.123),
        annotations={"summary": "多すぎる"},
        examples=(
            Example(id="1", question="q\n\t'\"\\", answer="🙂", verdict="refusal", reasons=("no_support", "x")),
            Example(id="2", question="", answer="", verdict="self_generated"),
        ),
        note="a note", url="https://monitor.example/alerts/1",
    )  # fmt: skip
    queue(store, given)
    (found,) = store.due(at(60))
    assert found == replace(given, id=found.id)
    assert isinstance(found.id, int)


def test_a_notification_of_few_words_comes_back_as_well(store):
    given = replace(fired("slack")[0], value=None, note=None, url=None, annotations={}, labels={}, examples=())
    queue(store, given)
    (found,) = store.due(at(60))
    assert replace(found, id=None) == given


def test_what_belongs_to_the_row_is_not_taken_from_the_notification(store):
    queue(store, replace(fired("slack")[0], id=99, attempts=7, previous={"ts": "made up"}))
    (found,) = store.due(at(60))
    assert (found.attempts, found.previous) == (0, None)


def test_an_episode_is_announced_once_to_each_receiver_with_each_status(store):
    queue(store, *fired("slack", "console"))
    queue(store, *fired("slack", minute=3, value=0.9), *fired("slack", episode="e2", fingerprint="0" * 32))
    assert sorted(due(store)) == [
        ("0", "e2", "slack", "firing"), ("f", "e1", "console", "firing"), ("f", "e1", "slack", "firing"),
    ]  # fmt: skip
    assert {n.value for n in store.due(at(60)) if n.episode == "e1"} == {0.5}


def test_an_episode_is_not_announced_again_after_its_delivery(store):
    queue(store, *fired("slack"))
    store.delivered(store.due(at(60))[0], {"ts": "1"}, at(60))
    queue(store, *fired("slack"))
    assert due(store) == []


def test_an_episode_is_announced_once_even_within_one_save(store):
    queue(store, *fired("slack"), *fired("slack"))
    assert due(store) == [("f", "e1", "slack", "firing")]


def test_what_is_due_comes_oldest_first(store):
    for number in (3, 1, 2):
        queue(store, *fired("slack", "console", fingerprint=f"{number}" * 32, episode=f"e{number}"))
    assert due(store) == [
        (number, f"e{number}", receiver, "firing") for number in "312" for receiver in ("slack", "console")
    ]


def test_of_one_alert_and_receiver_only_the_first_is_due(store):
    queue(store, *fired("slack", "console"), *resolved("slack", "console"))
    assert due(store) == [("f", "e1", "slack", "firing"), ("f", "e1", "console", "firing")]
    store.delivered(store.due(at(60))[0], None, at(60))
    assert due(store) == [("f", "e1", "console", "firing"), ("f", "e1", "slack", "resolved")]


def test_a_new_episode_waits_behind_the_old_one(store):
    queue(store, *fired("slack"), *resolved("slack"), *fired("slack", episode="e2", minute=20))
    seen = []
    while found := store.due(at(60)):
        seen += [(n.episode, n.status) for n in found]
        store.delivered(found[0], None, at(60))
    assert seen == [("e1", "firing"), ("e1", "resolved"), ("e2", "firing")]


def test_one_that_failed_waits_for_its_time_and_the_later_ones_wait_behind_it(store):
    queue(store, *fired("slack"), *resolved("slack"), *fired("slack", fingerprint="0" * 32, episode="e2"))
    store.failed(store.due(at(10))[0], "slack is away", at(30))
    assert due(store, 29.9) == [("0", "e2", "slack", "firing")]
    assert due(store, 30) == [("f", "e1", "slack", "firing"), ("0", "e2", "slack", "firing")]


def test_every_failure_is_an_attempt(store):
    queue(store, *fired("slack"))
    for attempts in range(3):
        (found,) = store.due(at(60))
        assert found.attempts == attempts
        store.failed(found, "away", at(attempts))


def test_one_given_up_makes_way_and_never_comes_back(store):
    queue(store, *fired("slack"), *resolved("slack"))
    store.failed(store.due(at(10))[0], "the channel is gone", None)
    assert due(store) == [("f", "e1", "slack", "resolved")]
    store.failed(store.due(at(60))[0], "the channel is gone", None)
    assert due(store, 10_000) == []


def test_a_receipt_comes_with_the_later_ones_of_the_same_episode_and_receiver(store):
    queue(store, *fired("slack", "console"), *resolved("slack", "console"))
    slack, console = store.due(at(10))
    assert (slack.previous, console.previous) == (None, None)
    store.delivered(slack, {"ts": "1.5", "thread": {"deep": [1, None, True]}}, at(10))
    store.delivered(console, None, at(10))
    assert {n.receiver: n.previous for n in store.due(at(60))} == {
        "slack": {"ts": "1.5", "thread": {"deep": [1, None, True]}},
        "console": None,
    }


def test_a_receipt_of_another_episode_is_not_given_back(store):
    queue(store, *fired("slack"), *fired("slack", episode="e2"))
    store.delivered(store.due(at(10))[0], {"ts": "1"}, at(10))
    assert [n.previous for n in store.due(at(60))] == [None]


def test_a_receipt_survives_a_failure_of_the_next_one(store):
    queue(store, *fired("slack"), *resolved("slack"))
    store.delivered(store.due(at(10))[0], {"ts": "1"}, at(10))
    store.failed(store.due(at(10))[0], "away", at(11))
    (found,) = store.due(at(60))
    assert (found.status, found.attempts, found.previous) == ("resolved", 1, {"ts": "1"})


# --- locks ---


@pytest.mark.parametrize("lock", ["evaluating", "delivering"])
def test_a_lock_that_nobody_holds_is_ours_and_is_given_back(store, lock):
    for _ in range(3):
        with getattr(store, lock)() as ours:
            assert ours


@pytest.mark.parametrize("lock", ["evaluating", "delivering"])
def test_a_lock_is_given_back_after_an_error(store, lock):
    with pytest.raises(ZeroDivisionError), getattr(store, lock)():
        raise ZeroDivisionError
    with getattr(store, lock)() as ours:
        assert ours


def test_evaluating_and_delivering_do_not_keep_each_other_waiting(store):
    with store.evaluating() as evaluating, store.delivering() as delivering:
        assert evaluating
        assert delivering


@pytest.mark.parametrize("lock", ["evaluating", "delivering"])
def test_a_lock_that_another_replica_holds_is_not_ours(backend, store, lock, request):
    if backend == "memory":
        store.locked_by_another = True
        with getattr(store, lock)() as ours:
            assert not ours
        return
    another = PostgresAlertStore(request.getfixturevalue("engine"))
    with getattr(another, lock)() as theirs:
        assert theirs
        with getattr(store, lock)() as ours:
            assert not ours
        with getattr(store, lock)() as ours:  # giving back what was not ours does not free it
            assert not ours
    with getattr(store, lock)() as ours:
        assert ours


# --- out of reach ---


@pytest.fixture
def lost(backend, store):
    """A store that cannot be reached."""
    if backend == "memory":
        store.out_of_reach = True
        yield store
        return
    from monitor.store.database import connect  # noqa: PLC0415

    engine = connect("postgresql://127.0.0.1:1/nothing")
    yield PostgresAlertStore(engine)
    engine.dispose()


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.alerts(),
        lambda s: s.due(at(0)),
        lambda s: s.save([change(None, PENDING)], []),
        lambda s: s.window_counts(ANYTHING, "negative", (), EARLY, LATE),
        lambda s: s.delivered(replace(fired("slack")[0], id=1), None, at(0)),
        lambda s: s.failed(replace(fired("slack")[0], id=1), "away", None),
        lambda s: s.evaluating().__enter__(),
        lambda s: s.delivering().__enter__(),
    ],
    ids=["alerts", "due", "save", "window_counts", "delivered", "failed", "evaluating", "delivering"],
)
def test_a_store_out_of_reach_is_retriable(lost, call):
    with pytest.raises(Retriable):
        call(lost)
