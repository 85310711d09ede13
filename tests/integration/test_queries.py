"""What people ask of the stored rows, asked of a real server."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.notification import notifications_of
from monitor.alert.rule import Rule, Selector
from monitor.alert.state import Alert, State, Transition
from monitor.classify.profile import load_profile
from monitor.message import Offset
from monitor.model import Probabilities, Reason, Verdict
from monitor.store.alerts import PostgresAlertStore
from monitor.store.queries import Queries
from monitor.store.rollup import OTHER
from tests.factories import NOON, a_batch, an_assessment, at


@pytest.fixture
def queries(engine):
    return Queries(engine)


@pytest.fixture
def alerts(engine):
    return PostgresAlertStore(engine)


def a_rule(signal="negative", **over):
    return Rule(name="rule", signal=signal, above=0.3, window=timedelta(minutes=5), **over)


def sure(certainty, verdict=Verdict.SELF_GENERATED, **over):
    """An answer that is `verdict` with this probability."""
    rest = (1 - certainty) / 2
    shares = {v.value: certainty if v is verdict else rest for v in Verdict}
    return an_assessment(verdict=verdict, probabilities=Probabilities(**shares), **over)


def found(queries, rule, labels=None, *, start=-5, end=5):
    return [example.id for example in queries.examples(rule, labels or {}, at(start), at(end))]


# --- explained ---


def test_what_was_never_stored_is_not_explained(queries):
    assert queries.explained("q-1") == []


def test_apps_that_share_an_id_are_explained_together_or_one_by_one(writer, queries):
    writer.write(a_batch(an_assessment(app="a", answer="A"), an_assessment(app="b", answer="B"), an_assessment(id="2")))
    assert sorted(row["answer"] for row in queries.explained("q-1")) == ["A", "B"]
    assert [row["answer"] for row in queries.explained("q-1", "b")] == ["B"]
    assert queries.explained("q-1", "c") == []


# --- examples ---


def test_the_three_most_certain_answers_are_the_examples(writer, queries):
    writer.write(a_batch(*(sure(0.5 + n / 20, id=str(n)) for n in (3, 1, 5, 2, 4))))
    assert found(queries, a_rule()) == ["5", "4", "3"]


def test_an_example_says_what_was_asked_and_answered_and_why_it_is_bad(writer, queries):
    reasons = (Reason.ANSWER_OFF_SUPPORT, Reason.NO_SUPPORT)
    writer.write(a_batch(sure(0.9, question="Q?", answer="A.", reasons=reasons)))
    (example,) = queries.examples(a_rule(), {}, at(0), at(1))
    assert (example.question, example.answer, example.verdict, example.reasons) == (
        "Q?", "A.", "self_generated", ("answer_off_support", "no_support"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("signal", "shown"),
    [
        ("negative", ["made up", "refused"]),  # one of each verdict before a second of one
        ("refusal", ["refused"]),
        ("self_generated", ["made up"]),
        ("grounded", ["fine"]),
        ("refusal_wording", ["refused"]),
        ("answer_off_support", ["made up"]),
        ("no_documents", []),
    ],
)
def test_examples_show_the_signal_of_the_rule(writer, queries, signal, shown):
    writer.write(
        a_batch(
            sure(0.8, Verdict.GROUNDED, id="fine"),
            sure(0.9, Verdict.REFUSAL, id="refused"),
            sure(0.8, Verdict.SELF_GENERATED, id="made up"),
        )
    )
    assert found(queries, a_rule(signal)) == shown


def test_examples_have_the_labels_of_the_alert_and_are_those_that_the_rule_selects(writer, queries):
    writer.write(
        a_batch(
            sure(0.9, id="1", app="a", model="m", tags={"topic": "billing"}),
            sure(0.8, id="2", app="a"),
            sure(0.7, id="3", app="b", environment="staging"),
        )
    )
    assert found(queries, a_rule(), {"app": "a"}) == ["1", "2"]
    assert found(queries, a_rule(), {"app": "a", "model": "", "topic": ""}) == ["2"]
    assert found(queries, a_rule(), {"topic": "billing", "model": "m"}) == ["1"]
    assert found(queries, a_rule(selector=Selector(environment=("staging", "test")))) == ["3"]
    assert found(queries, a_rule(selector=Selector(model=("m", "")))) == ["1", "2", "3"]
    assert found(queries, a_rule(selector=Selector(app=("b",))), {"app": "a"}) == []
    assert found(queries, a_rule(), {"app": "a", "topic": OTHER}) == ["1", "2"]  # which ones it was is not known


def test_examples_are_of_the_window(writer, queries):
    writer.write(a_batch(*(sure(0.9, id=str(n), occurred_at=at(n)) for n in (-1, 0, 1, 2))))
    assert found(queries, a_rule(), start=0, end=2) == ["0", "1"]


# --- alerts and their history ---

PENDING = Alert(
    fingerprint="ab" * 16, episode="e1", rule="rule", rule_digest="d", signal="negative", labels={"app": "a"},
    severity="critical", threshold=0.3, window=timedelta(minutes=5), annotations={}, receivers=(),
    state=State.PENDING, active_since=at(0), value=0.5, samples=40, lower=0.3, upper=0.7,
)  # fmt: skip


def changed(previous, minute, state, **over):
    values = {name: getattr(previous or PENDING, name) for name in Alert.__dataclass_fields__}
    return Transition(previous=previous, alert=Alert(**{**values, "state": state, **over}), at=at(minute))


def test_every_alert_is_listed_with_what_waits_for_delivery(alerts, queries):
    begun = changed(None, 0, State.PENDING)
    fired = changed(begun.alert, 2, State.FIRING, fired_at=at(2), receivers=("console", "slack"))
    other = changed(None, 9, State.PENDING, fingerprint="cd" * 16, active_since=at(9))
    ended = changed(other.alert, 10, State.INACTIVE)
    for change in (begun, fired, other, ended):
        alerts.save([change], notifications_of(change))
    alerts.delivered(alerts.due(at(3))[0], None, at(3))
    assert [(row["fingerprint"][:2], row["state"], row["waiting"]) for row in queries.alerts()] == [
        ("cd", "inactive", 0),
        ("ab", "firing", 1),
    ]
    assert queries.alerts()[1]["window"] == timedelta(minutes=5)


def test_what_was_given_up_waits_no_more(alerts, queries):
    fired = changed(None, 2, State.FIRING, receivers=("slack",))
    alerts.save([fired], notifications_of(fired))
    alerts.failed(alerts.due(at(3))[0], "the channel is gone", None)
    assert [(row["waiting"], row["lost"]) for row in queries.alerts()] == [(0, 1)]


def test_the_history_of_an_alert_has_every_transition_in_order(alerts, queries):
    begun = changed(None, 0, State.PENDING)
    fired = changed(begun.alert, 2, State.FIRING, fired_at=at(2), value=0.6)
    ended = changed(fired.alert, 9, State.RESOLVED, resolved_at=at(9), value=None)
    again = changed(ended.alert, 20, State.PENDING, episode="e2", active_since=at(20))
    for change in (begun, fired, ended, again):
        alerts.save([change], [])
    history = queries.alert_history("ab" * 16)
    assert [(row["at"], row["from_state"], row["to_state"], row["episode"], row["value"]) for row in history] == [
        (at(0), "inactive", "pending", "e1", 0.5),
        (at(2), "pending", "firing", "e1", 0.6),
        (at(9), "firing", "resolved", "e1", None),
        (at(20), "resolved", "pending", "e2", None),
    ]
    assert queries.alert_history("abab") == history
    assert queries.alert_history("ff") == []


@pytest.mark.parametrize("pattern", ["%", "_bab", "a%b", "\\"])
def test_a_shortened_fingerprint_is_no_pattern(alerts, queries, pattern):
    alerts.save([changed(None, 0, State.PENDING)], [])
    assert queries.alert_history(pattern) == []


# --- offsets and profiles ---


def test_offsets_say_how_far_each_source_was_read(writer, queries):
    assert queries.offsets() == {}
    writer.write(a_batch(offsets=(Offset(topic="a#1", partition=0, expected=None, next=5),)))
    assert queries.offsets() == {("a#1", 0): 5}
    assert queries.offsets("another") == {}


def test_a_profile_is_kept_once_and_comes_back(queries, rows):
    profile = load_profile("hash", "hash/64", "hash/64")
    for _ in range(2):
        queries.keep_profile(profile, NOON)
    assert queries.profile(profile.hash) == profile
    assert rows("SELECT hash, name, embedding_model FROM profile") == [(profile.hash, "hash", "hash/64")]
    assert queries.profile("0" * 16) is None


def test_a_profile_of_another_releases_form_is_not_known(queries, rows):
    queries.keep_profile(load_profile("hash", "hash/64", "hash/64"), NOON)
    rows("UPDATE profile SET definition = definition || '{\"of a later release\": 1}', hash = 'later'")
    assert queries.profile("later") is None
