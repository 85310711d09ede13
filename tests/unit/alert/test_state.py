from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.notification import notifications_of
from monitor.alert.state import State, abandoned, transition
from tests.unit.alert.factories import a_rule, an_observation, at

YES, NO, UNKNOWN = (an_observation(breaching=b) for b in (True, False, None))


def follow(rule, *seen):
    """Runs (minute, observation) pairs and returns the states that were entered, with the last alert."""
    alert, states = None, []
    for minute, observation in seen:
        change = transition(rule, alert, observation, at(minute))
        if change:
            alert = change.alert
            states.append((minute, alert.state.value))
    return states, alert


def test_a_breach_that_lasts_fires_and_its_end_resolves():
    states, alert = follow(a_rule(), (0, YES), (1, YES), (2, YES), (3, YES), (4, NO), (5, NO))
    assert states == [(0, "pending"), (2, "firing"), (4, "resolved")]
    assert (alert.active_since, alert.fired_at, alert.resolved_at) == (at(0), at(2), at(4))
    assert (alert.value, alert.labels, alert.receivers) == (0.1, {"app": "shop"}, ("memory",))


def test_a_breach_that_passes_fires_nothing():
    assert follow(a_rule(), (0, YES), (1, NO), (2, YES), (3, YES))[0] == [
        (0, "pending"),
        (1, "inactive"),
        (2, "pending"),
    ]


def test_without_for_it_fires_at_once():
    assert follow(a_rule(for_=timedelta()), (0, YES), (1, NO), (2, YES))[0] == [
        (0, "firing"),
        (1, "resolved"),
        (2, "firing"),
    ]


def test_too_few_samples_hold_what_is_firing():
    fired = [(0, "pending"), (2, "firing")]
    assert follow(a_rule(), (0, YES), (1, YES), (2, YES), (3, UNKNOWN), (4, UNKNOWN))[0] == fired


def test_too_few_samples_end_what_is_pending():
    """Else a breach after days of silence would fire at its first observation."""
    steps, _ = follow(a_rule(), (0, YES), (1, UNKNOWN), (900, YES))
    assert steps == [(0, "pending"), (1, "inactive"), (900, "pending")]


def test_breaching_anew_is_a_new_episode():
    rule = a_rule(for_=timedelta())
    _, first = follow(rule, (0, YES), (1, NO))
    again = transition(rule, first, YES, at(2))
    assert again
    assert again.alert.fingerprint == first.fingerprint
    assert again.alert.episode != first.episode
    assert (again.alert.resolved_at, again.previous) == (None, first)


def test_evaluating_a_lost_round_again_makes_the_same_episode():
    assert transition(a_rule(), None, YES, at(0)) == transition(a_rule(), None, YES, at(0))


def test_labels_tell_alerts_apart():
    other = an_observation(breaching=True, labels={"app": "bank"})
    one, two = (transition(a_rule(), None, o, at(0)) for o in (YES, other))
    assert one
    assert two
    assert one.alert.fingerprint != two.alert.fingerprint


def test_a_tuned_rule_shows_in_the_next_transition_but_tells_the_same_receivers():
    _, firing = follow(a_rule(for_=timedelta()), (0, YES))
    change = transition(a_rule(above=0.4, receivers=("other",), labels={"team": "x"}), firing, NO, at(1))
    assert change
    assert (change.alert.threshold, change.alert.labels) == (0.4, {"app": "shop", "team": "x"})
    assert change.alert.receivers == ("memory",)


@pytest.mark.parametrize(
    ("seen", "ends"),
    [([(0, YES)], "inactive"), ([(0, YES), (2, YES)], "resolved"), ([(0, YES), (1, NO)], None)],
)
def test_an_alert_without_its_rule_ends_with_a_note(seen, ends):
    _, alert = follow(a_rule(), *seen)
    change = abandoned(alert, at(9))
    if ends is None:
        assert change is None
    else:
        assert change
        assert (change.alert.state, change.at) == (State(ends), at(9))
        assert "negative-rate" in (change.note or "")


@given(
    st.lists(st.tuples(st.integers(1, 400), st.sampled_from([True, False, None])), max_size=60),
    st.integers(0, 600),
)
def test_whatever_is_observed_the_invariants_hold(steps, for_seconds):
    rule = a_rule(for_=timedelta(seconds=for_seconds))
    now, alert = at(0), None
    unbroken = None  # since when every conclusive observation was a breach
    told: list[tuple[str, str]] = []
    for seconds, breaching in steps:
        now += timedelta(seconds=seconds)
        observation = an_observation(breaching=breaching)
        before = alert
        if breaching is False or (breaching is None and not (alert and alert.state is State.FIRING)):
            unbroken = None
        elif breaching and unbroken is None:
            unbroken = now

        change = transition(rule, alert, observation, now)
        if change:
            alert = change.alert
            assert change.previous == before
            told += [(n.episode, n.status) for n in notifications_of(change)]
            if alert.state is State.FIRING:
                assert breaching
                assert unbroken is not None
                assert now - unbroken >= rule.for_
            if alert.state is State.RESOLVED:
                assert before
                assert before.state is State.FIRING
                assert breaching is False
        if breaching is None and change:
            assert before
            assert (before.state, change.alert.state) == (State.PENDING, State.INACTIVE)
        assert transition(rule, alert, observation, now) is None  # the same again changes nothing

    assert len(told) == len(set(told))  # one of each per episode
    for index, (episode, status) in enumerate(told):
        if status == "resolved":
            assert told[index - 1] == (episode, "firing")
