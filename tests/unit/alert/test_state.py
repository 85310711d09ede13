from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.rule import WhenError, WhenNoData
from monitor.alert.state import State, abandoned, transition
from monitor.alert.window import Outcome
from tests.factories.alert.alerts import a_method, a_rule, an_observation
from tests.factories.alert.notifications import at

BREACHING, NORMAL, UNSURE, NO_DATA, STALE, ERROR = (
    an_observation(outcome)
    for outcome in (
        Outcome.BREACHING,
        Outcome.NORMAL,
        Outcome.UNSURE,
        Outcome.NO_DATA,
        Outcome.STALE,
        Outcome.ERROR,
    )
)
AT_ONCE = a_rule(for_=timedelta())


def follow(rule, *seen):
    """Runs (minute, observation) pairs and returns the states that were entered, with the last alert."""
    alert, states = None, []
    for minute, observation in seen:
        change = transition(rule, alert, observation, at(minute))
        if change:
            alert = change.alert
            if change.changed:
                states.append((minute, alert.state.value))
    return states, alert


def in_state(state):
    """An alert that came to `state` at minute 2, and the rule it came by."""
    ways = {
        State.INACTIVE: [BREACHING, NORMAL],
        State.PENDING: [BREACHING, BREACHING],
        State.FIRING: [BREACHING] * 3,
        State.NO_DATA: [BREACHING, BREACHING, BREACHING, NO_DATA],
        State.ERROR: [BREACHING, BREACHING, ERROR],
        State.RESOLVED: [BREACHING, BREACHING, BREACHING, NORMAL],
    }
    rule = a_rule(no_data="no_data")
    _, alert = follow(rule, *enumerate(ways[state]))
    assert alert.state is state
    return rule, alert


# What each outcome makes of each state, with `no_data: no_data` and `error: error`; - where nothing is kept.
TABLE = """
state     breaching  normal    unsure    no_data  stale  error
inactive  pending    -         -         pending  -      error
pending   firing     inactive  inactive  pending  -      error
firing    firing     resolved  firing    no_data  -      firing
no_data   firing     resolved  resolved  no_data  -      no_data
error     firing     resolved  resolved  no_data  -      error
resolved  pending    -         -         pending  -      error
"""
OUTCOMES, *ROWS = (line.split()[1:] for line in TABLE.strip().splitlines())
EXPECTED = {state: dict(zip(OUTCOMES, row, strict=True)) for state, row in zip(State, ROWS, strict=True)}


@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("state", State)
def test_every_outcome_in_every_state(state, outcome):
    rule, alert = in_state(state)
    change = transition(rule, alert, an_observation(outcome), at(9))
    assert (change.alert.state if change else "-") == EXPECTED[state][outcome]
    assert change == transition(rule, alert, an_observation(outcome), at(9))
    if change:
        assert (change.previous, change.at) == (alert, at(9))


def test_a_breach_that_lasts_fires_and_its_end_resolves():
    states, alert = follow(a_rule(), *enumerate([BREACHING] * 4 + [NORMAL] * 2))
    assert states == [(0, "pending"), (2, "firing"), (4, "resolved")]
    assert (alert.active_since, alert.fired_at, alert.resolved_at) == (at(0), at(2), at(4))
    assert (alert.value, alert.labels, alert.receivers) == (0.1, {"app": "shop"}, ("memory",))


def test_a_breach_that_passes_fires_nothing():
    states, _ = follow(a_rule(), *enumerate([BREACHING, NORMAL, BREACHING, BREACHING]))
    assert states == [(0, "pending"), (1, "inactive"), (2, "pending")]


def test_without_for_it_fires_at_once():
    assert follow(AT_ONCE, *enumerate([BREACHING, NORMAL, BREACHING]))[0] == [
        (0, "firing"),
        (1, "resolved"),
        (2, "firing"),
    ]


def test_what_is_unsure_ends_what_is_pending():
    """Else a breach after days of silence would fire at its first observation."""
    steps, _ = follow(a_rule(), (0, BREACHING), (1, UNSURE), (900, BREACHING))
    assert steps == [(0, "pending"), (1, "inactive"), (900, "pending")]


def test_stale_counts_hold_everything():
    _, pending = follow(a_rule(), (0, BREACHING))
    assert transition(a_rule(), pending, STALE, at(1)) is None
    assert follow(a_rule(), (0, BREACHING), (1, STALE), (2, BREACHING))[0] == [(0, "pending"), (2, "firing")]


def test_it_fires_on_for_a_while_and_not_longer():
    rule = a_rule(for_=timedelta(), keep_firing_for=timedelta(minutes=3))
    states, alert = follow(rule, (0, BREACHING), (1, NORMAL), (3.9, NORMAL), (4, NORMAL))
    assert states == [(0, "firing"), (4, "resolved")]
    assert alert.normal_since is None
    states, alert = follow(rule, (0, BREACHING), (1, NORMAL), (3, BREACHING), (4, NORMAL), (6, NORMAL))
    assert states == [(0, "firing")]
    assert alert.normal_since == at(4)


@pytest.mark.parametrize(
    ("option", "seen", "states"),
    [
        ("keep_last", [BREACHING, NO_DATA, NO_DATA], [(0, "firing")]),
        ("keep_last", [NO_DATA], []),
        ("normal", [BREACHING, NO_DATA], [(0, "firing"), (1, "resolved")]),
        ("alerting", [NO_DATA], [(0, "firing")]),
        ("alerting", [BREACHING, NO_DATA, NORMAL], [(0, "firing"), (2, "resolved")]),
        ("no_data", [NO_DATA, NORMAL], [(0, "no_data"), (1, "resolved")]),
        ("no_data", [BREACHING, NO_DATA, BREACHING], [(0, "firing"), (1, "no_data"), (2, "firing")]),
    ],
)
def test_no_data_counts_as_the_rule_says(option: WhenNoData, seen, states):
    assert follow(a_rule(for_=timedelta(), no_data=option), *enumerate(seen))[0] == states


@pytest.mark.parametrize(
    ("option", "seen", "states"),
    [
        ("keep_last", [ERROR, BREACHING, ERROR, NORMAL], [(1, "firing"), (3, "resolved")]),
        ("normal", [BREACHING, ERROR], [(0, "firing"), (1, "resolved")]),
        ("alerting", [ERROR, NORMAL], [(0, "firing"), (1, "resolved")]),
        ("error", [ERROR, NORMAL], [(0, "error"), (1, "resolved")]),
        ("error", [BREACHING, ERROR, BREACHING, NORMAL], [(0, "firing"), (3, "resolved")]),
    ],
)
def test_an_error_counts_as_the_rule_says(option: WhenError, seen, states):
    assert follow(a_rule(for_=timedelta(), error=option), *enumerate(seen))[0] == states


def test_an_error_needs_no_for():
    """Who observes has waited for it to last."""
    assert follow(a_rule(error="alerting"), (0, ERROR))[0] == [(0, "firing")]
    assert follow(a_rule(), (0, ERROR))[0] == [(0, "error")]


def test_time_without_data_is_no_time_of_breach():
    rule = a_rule(no_data="no_data")
    states, alert = follow(rule, (0, NO_DATA), (1.9, BREACHING), (2.1, BREACHING), (3.9, BREACHING))
    assert states == [(0, "pending"), (3.9, "firing")]
    assert alert.active_since == at(1.9)
    assert follow(rule, (0, BREACHING), (1.9, NO_DATA), (2.1, NO_DATA))[0] == [(0, "pending")]


def test_time_without_data_is_time_of_breach_where_the_rule_says_so():
    rule = a_rule(no_data="alerting")
    assert follow(rule, (0, NO_DATA), (1, BREACHING), (2, NO_DATA))[0] == [(0, "pending"), (2, "firing")]


def test_an_error_leaves_the_figures_of_before():
    _, alert = follow(AT_ONCE, (0, BREACHING), (1, an_observation(Outcome.ERROR, detail="why")))
    assert (alert.value, alert.samples, alert.detail) == (0.5, 40, "why")


def test_breaching_anew_is_a_new_episode_that_nobody_acknowledged():
    _, first = follow(AT_ONCE, *enumerate([BREACHING, NORMAL]))
    first = replace(first, acknowledged_by="ada", acknowledged_at=at(1))
    again = transition(AT_ONCE, first, BREACHING, at(2))
    assert again
    assert again.alert.fingerprint == first.fingerprint
    assert again.alert.episode != first.episode
    assert (again.alert.resolved_at, again.alert.acknowledged_by, again.previous) == (None, None, first)


def test_labels_tell_alerts_apart():
    other = an_observation(Outcome.BREACHING, labels={"app": "bank"})
    one, two = (transition(a_rule(), None, its, at(0)) for its in (BREACHING, other))
    assert one
    assert two
    assert one.alert.fingerprint != two.alert.fingerprint


def test_a_tuned_rule_shows_in_the_next_transition_and_tells_the_same_receivers_and_new_ones():
    _, firing = follow(AT_ONCE, (0, BREACHING))
    tuned = a_rule(
        method=a_method(window=timedelta(minutes=9)), severity="info", receivers=("b",), labels={"team": "x"}
    )
    assert tuned.digest == AT_ONCE.digest
    change = transition(tuned, firing, UNSURE, at(1))
    assert change
    assert change.alert.labels == {"app": "shop", "team": "x"}
    assert (change.alert.window, change.alert.severity) == (timedelta(minutes=9), "info")
    assert change.alert.receivers == ("memory", "b")


@pytest.mark.parametrize("state", State)
def test_an_alert_without_its_rule_ends_with_a_note(state):
    _, alert = in_state(state)
    change = abandoned(alert, at(9))
    if state in (State.INACTIVE, State.RESOLVED):
        assert change is None
        return
    assert change
    assert change.alert.state is (State.INACTIVE if state is State.PENDING else State.RESOLVED)
    assert "negative-rate" in (change.alert.note or "")


def test_an_alert_without_its_rule_ends_despite_keep_firing_for():
    rule = a_rule(for_=timedelta(), keep_firing_for=timedelta(minutes=9))
    _, alert = follow(rule, (0, BREACHING), (1, NORMAL))
    change = abandoned(alert, at(2))
    assert change
    assert (change.alert.state, change.alert.normal_since, change.alert.resolved_at) == (State.RESOLVED, None, at(2))


@given(
    steps=st.lists(st.tuples(st.integers(1, 400), st.sampled_from(Outcome)), max_size=60),
    for_seconds=st.integers(0, 600),
    keep_seconds=st.integers(0, 600),
    no_data=st.sampled_from(["keep_last", "normal", "alerting", "no_data"]),
    error=st.sampled_from(["keep_last", "normal", "alerting", "error"]),
)
def test_whatever_is_observed_the_invariants_hold(steps, for_seconds, keep_seconds, no_data, error):
    rule = a_rule(
        for_=timedelta(seconds=for_seconds),
        keep_firing_for=timedelta(seconds=keep_seconds),
        no_data=no_data,
        error=error,
    )
    counts_as_breach = {Outcome.BREACHING, *([Outcome.NO_DATA] if no_data == "alerting" else [])}
    holds = {Outcome.STALE, *([Outcome.ERROR] if error == "keep_last" else [])}
    now, alert = at(0), None
    unbroken = last_breach = None  # since when all that was observed was a breach; when it was one last
    episodes: list[str] = []
    for seconds, outcome in steps:
        now += timedelta(seconds=seconds)
        observation, before = an_observation(outcome), alert
        if outcome in counts_as_breach:
            unbroken, last_breach = unbroken or now, now
        elif outcome not in holds:
            unbroken = None
        change = transition(rule, alert, observation, now)
        assert change == transition(rule, alert, observation, now)
        if change is None:
            continue
        alert = change.alert
        was = before.state if before else State.INACTIVE
        if alert.episode not in episodes[-1:]:
            assert alert.episode not in episodes  # none comes back
            assert was in (State.INACTIVE, State.RESOLVED)
            episodes.append(alert.episode)
        if alert.state is State.FIRING and not was.active and outcome is not Outcome.ERROR:
            assert outcome in counts_as_breach
            assert unbroken is not None
            assert now - unbroken >= rule.for_
        if alert.state is State.RESOLVED:
            assert was.active
            assert alert.resolved_at == now
            assert outcome not in holds
            if was is State.FIRING:
                assert outcome is not Outcome.UNSURE
                assert last_breach is None or now - last_breach >= rule.keep_firing_for
        if alert.state.active or alert.state is State.RESOLVED:
            assert alert.fired_at is not None
            assert alert.fired_at >= alert.active_since
        else:
            assert alert.fired_at is None
        assert alert.normal_since is None or alert.state is State.FIRING
        assert (alert.resolved_at is not None) is (alert.state is State.RESOLVED)


def test_an_alert_carries_the_owner_and_the_runbook_of_its_rule():
    rule = a_rule(for_=timedelta(), owner="team-search", runbook="https://wiki.example", annotations={"summary": "x"})
    _, alert = follow(rule, (0, BREACHING))
    assert alert.annotations == {"summary": "x", "owner": "team-search", "runbook": "https://wiki.example"}
    tuned = transition(replace(rule, owner="others"), alert, BREACHING, at(1))
    assert tuned.alert.annotations["owner"] == "others"


def test_a_replica_whose_clock_is_seconds_behind_neither_fires_nor_resolves_early():
    rule = a_rule(for_=timedelta(minutes=5), keep_firing_for=timedelta(minutes=5))
    begun = [(0, BREACHING), (-0.1, BREACHING)]
    assert follow(rule, *begun)[0] == [(0, "pending")]
    firing = [*begun, (5, BREACHING), (6, NORMAL), (5.9, NORMAL)]
    assert follow(rule, *firing)[0] == [(0, "pending"), (5, "firing")]
    assert follow(rule, *firing, (11, NORMAL))[0][-1] == (11, "resolved")
