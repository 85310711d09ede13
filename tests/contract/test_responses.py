"""What every `Responses` promises, and what people see of it afterwards; on PostgreSQL, the only adapter there is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.alert.evaluation.memory import Round, RuleMemory
from monitor.alert.notify.dispatch import AlertGroup
from monitor.alert.state import State, Transition
from monitor.core.errors import Retriable
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.alert.history import AlertHistory
from monitor.store.alert.outbox import PostgresOutbox
from monitor.store.alert.responses import PostgresResponses
from monitor.store.database import connect
from tests.factories.alert.alerts import a_silence, an_alert
from tests.factories.alert.notifications import a_notification, a_notified_alert, at

A = an_alert(fingerprint="a" * 32, episode="e" * 31 + "1")
B = an_alert(fingerprint="b" * 32, episode="e" * 31 + "2", rule="refusal-rate", labels={"app": "shop", "topic": "x"})
OVER = an_alert(fingerprint="c" * 32, episode="e" * 31 + "3", state=State.RESOLVED, resolved_at=at(1))
GROUP = AlertGroup(
    key="g1",
    receiver="slack",
    labels={"app": "shop"},
    episode="9" * 32,
    number=1,
    told_at=at(1),
    paged_at=at(1),
    said={its.fingerprint: a_notified_alert(fingerprint=its.fingerprint) for its in (A, B, OVER)},
)


@pytest.fixture
def responses(engine):
    return PostgresResponses(engine)


@pytest.fixture
def history(engine):
    return AlertHistory(engine)


@pytest.fixture
def outbox(engine):
    return PostgresOutbox(engine)


@pytest.fixture
def store(engine, outbox):
    """Alerts that one group is told of."""
    store = PostgresAlertStore(engine)
    changes = tuple(Transition(previous=None, alert=alert, at=at(0)) for alert in (A, B, OVER))
    store.save(Round(rule="r", rule_digest=A.rule_digest, at=at(0), memory=RuleMemory(), transitions=changes))
    told = tuple(GROUP.said.values())
    for receiver, episode in (("slack", GROUP.episode), ("pager", "8" * 32)):
        group = replace(GROUP, receiver=receiver, episode=episode)
        notification = a_notification(receiver=receiver, group="g1", episode=episode, number=0, alerts=told)
        outbox.enqueue(group, notification, over=False)
    return store


@pytest.mark.usefixtures("store")
def test_the_alerts_of_an_episode_are_the_active_ones_of_its_group(responses):
    labels, alerts = responses.active_alerts(GROUP.episode)
    assert labels == {"app": "shop"}
    assert sorted(alerts, key=lambda its: its.fingerprint) == [A, B]
    assert responses.active_alerts("8" * 32)[0] == {"app": "shop"}
    assert responses.active_alerts("nothing") == ({}, [])


def test_a_group_that_is_over_has_no_active_alerts(store, responses, outbox):
    del store
    notification = a_notification(receiver="slack", group="g1", episode=GROUP.episode, number=1)
    outbox.enqueue(replace(GROUP, number=2), notification, over=True)
    assert responses.active_alerts(GROUP.episode) == ({}, [])


def test_what_resolved_long_ago_is_read_only_while_a_group_tells_of_it(store, outbox):
    def evaluated(minute):
        store.save(Round(rule="r", rule_digest=A.rule_digest, at=at(minute), memory=RuleMemory()))
        return sorted(alert.fingerprint[0] for alert in store.alerts())

    assert evaluated(1 + 61) == ["a", "b", "c"]
    for receiver, episode in (("slack", GROUP.episode), ("pager", "8" * 32)):
        notification = a_notification(receiver=receiver, group="g1", episode=episode, number=1)
        outbox.enqueue(replace(GROUP, receiver=receiver, episode=episode, number=2), notification, over=True)
    assert evaluated(1 + 59) == ["a", "b", "c"]
    assert evaluated(1 + 61) == ["a", "b"]


def test_an_acknowledgement_is_kept_once_with_who_and_why(store, responses, history):
    assert responses.acknowledge([A], by="ada", now=at(2), comment="on it") == 1
    assert responses.acknowledge([A, B], by="bob", now=at(3)) == 1
    acknowledged = {alert.fingerprint[0]: (alert.acknowledged_by, alert.acknowledged_at) for alert in store.alerts()}
    assert acknowledged == {"a": ("ada (on it)", at(2)), "b": ("bob", at(3)), "c": (None, None)}
    kept = [(row["action"], row["by"], row["at"], row["comment"]) for row in history.actions([A.fingerprint])]
    assert kept == [("acknowledge", "ada", at(2), "on it")]


def test_what_has_ended_or_begun_anew_since_is_not_acknowledged(store, responses):
    before = store.alerts()
    assert responses.acknowledge([OVER, replace(A, episode="an older one")], by="ada", now=at(2)) == 0
    assert store.alerts() == before


def test_a_silence_is_kept_and_ends_once(responses, outbox, history):
    silence = a_silence('app="a \\"b\\""', 'topic=~"x.*"', start=1, end=30)
    responses.silence(silence, now=at(1))
    assert outbox.silences(at(2)) == [silence]
    assert responses.unsilence("s1", by="bob", now=at(5))
    assert not responses.unsilence("s1", by="eve", now=at(6))
    assert not responses.unsilence("another", by="eve", now=at(6))
    assert outbox.silences(at(5)) == []
    assert [row["ends_at"] for row in history.silences(at(6), ended=True)] == [at(5)]
    assert history.silences(at(6)) == []


def test_a_silence_that_has_ended_by_itself_is_not_ended_again(responses, history):
    responses.silence(a_silence(end=5), now=at(1))
    assert not responses.unsilence("s1", by="bob", now=at(5))
    assert [row["ends_at"] for row in history.silences(at(6), ended=True)] == [at(5)]


# --- what people ask ---


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("negative-rate", "ac"),
        ("refusal-rate", "b"),
        ("refusal", ""),
        ("a" * 32, "a"),
        ("bbbbbb", "b"),
        ("e" * 31 + "2", "b"),
        ("eeeeee", "abc"),
        ("eeeee", ""),  # so few name too many
        ("a", ""),
        ("", ""),
        ("cccccc", "c"),
        (GROUP.episode, "abc"),
        ("888888", "abc"),
        ("%", ""),
        ("_" * 32, ""),
    ],
)
@pytest.mark.usefixtures("store")
def test_an_alert_is_found_by_every_name_that_a_message_prints(history, name, found):
    assert sorted(alert.fingerprint[0] for alert in history.named(name)) == list(found)


def test_the_history_of_an_alert_is_complete(store, history):
    ended = replace(A, state=State.RESOLVED, resolved_at=at(7), note="gone")
    store.end([Transition(previous=A, alert=ended, at=at(7))], [])
    events = [(row["from_state"], row["to_state"], row["at"], row["note"]) for row in history.events([A.fingerprint])]
    assert events == [("inactive", "firing", at(0), None), ("firing", "resolved", at(7), "gone")]
    assert next(row["fingerprint"][0] for row in history.alerts(at(9))) == "b"


@pytest.mark.usefixtures("store")
def test_delivered_and_waiting_notifications_are_listed(history, outbox):
    told = history.notifications([A.fingerprint])
    assert [(row["receiver"], row["news"], row["number"], row["delivered_at"]) for row in told] == [
        ("slack", "firing", 0, None),
        ("pager", "firing", 0, None),
    ]
    assert history.notifications([]) == history.notifications(["d" * 32]) == []
    slack, pager = (outbox.due(at(9), name)[0] for name in ("slack", "pager"))
    outbox.failed(slack, "revoked", None)
    outbox.failed(pager, "down", at(10))
    assert [(row["receiver"], row["waiting"], row["lost"], row["last_error"]) for row in history.unsent()] == [
        ("pager", 1, 0, "down"),
        ("slack", 0, 1, "revoked"),
    ]


def test_rules_are_listed_with_what_keeps_them(store, history):
    round_ = Round(rule="r", rule_digest=A.rule_digest, at=at(5), memory=RuleMemory())
    store.save(replace(round_, stale=True))
    store.save(replace(round_, at=at(6), stale=True))
    store.save(replace(round_, rule="s", rule_digest="s", error="ZeroDivisionError"))
    rows = {row["rule"]: (row["evaluated_at"], row["stale_since"], row["error"]) for row in history.rules()}
    assert rows == {"r": (at(6), at(5), None), "s": (at(5), None, "ZeroDivisionError")}


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.active_alerts("x"),
        lambda r: r.acknowledge([A], by="ada", now=at(0)),
        lambda r: r.silence(a_silence(), now=at(0)),
        lambda r: r.unsilence("s1", by="ada", now=at(0)),
    ],
    ids=["active_alerts", "acknowledge", "silence", "unsilence"],
)
def test_responses_out_of_reach_are_retriable(call):
    engine = connect("postgresql://127.0.0.1:1/nothing")
    with pytest.raises(Retriable):
        call(PostgresResponses(engine))
    engine.dispose()
