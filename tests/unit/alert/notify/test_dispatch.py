from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.alert.notify.dispatch import plan
from monitor.alert.rule import Grouping
from monitor.alert.silence import Inhibition, parse_matcher
from monitor.alert.state import Alert, State
from tests.factories.alert.alerts import a_silence, an_alert
from tests.factories.alert.notifications import at
from tests.rig.alert.dispatching import GROUPING, Dispatching

A = an_alert()
B = an_alert(fingerprint="b" * 32, episode="e2", rule="refusal-rate", severity="warning", fired_at=at(5))
ELSEWHERE = an_alert(fingerprint="c" * 32, episode="e3", labels={"app": "bank"})


def resolved(alert: Alert, minute: float) -> Alert:
    return replace(alert, state=State.RESOLVED, resolved_at=at(minute), value=0.1)


@pytest.fixture
def dispatching() -> Dispatching:
    return Dispatching()


def test_inactive_alerts_are_not_sent():
    for state in (State.PENDING, State.INACTIVE, State.RESOLVED):
        assert Dispatching().round(9, replace(A, state=state)) == []


def test_a_group_waits_for_others_from_its_first_alert_on(dispatching):
    assert dispatching.round(0.4, A) == []
    assert dispatching.round(0.5, A) == [("firing", [("negative-rate", "firing")])]
    assert dispatching.round(0.6, A) == []
    (flush,) = dispatching.flushes
    assert (flush.group.labels, flush.group.number, flush.pages) == ({"app": "shop"}, 1, True)


def test_alerts_with_the_same_labels_are_sent_together_the_worst_first(dispatching):
    late = replace(B, severity="critical", fired_at=at(1))
    assert dispatching.round(6, B, late, ELSEWHERE, replace(A, severity="info")) == [
        ("firing", [("refusal-rate", "firing"), ("refusal-rate", "firing"), ("negative-rate", "firing")]),
        ("firing", [("negative-rate", "firing")]),
    ]
    assert [alert.severity for alert in dispatching.flushes[0].alerts] == ["critical", "warning", "info"]


def test_each_receiver_has_its_own_groups(dispatching):
    both = replace(A, receivers=("slack", "pager"))
    dispatching.round(1, both)
    assert [flush.group.receiver for flush in dispatching.flushes] == ["slack", "pager"]
    assert len({flush.group.episode for flush in dispatching.flushes}) == 2


def test_an_alert_that_joins_is_sent_after_the_interval(dispatching):
    dispatching.round(5.5, A)
    assert dispatching.round(6, A, B) == []
    assert dispatching.round(6.5, A, B) == [("changed", [("negative-rate", "firing"), ("refusal-rate", "firing")])]
    assert dispatching.flushes[-1].group.number == 2


def test_an_alert_that_leaves_is_sent_once(dispatching):
    dispatching.round(6, A, B)
    over = resolved(A, 7)
    assert dispatching.round(7, over, B) == [("changed", [("refusal-rate", "firing"), ("negative-rate", "resolved")])]
    assert dispatching.round(9, over, B) == []


def test_once_all_are_over_the_group_is(dispatching):
    dispatching.round(6, A, B)
    assert dispatching.round(7, resolved(A, 7), resolved(B, 7)) == [
        ("resolved", [("negative-rate", "resolved"), ("refusal-rate", "resolved")])
    ]
    assert dispatching.flushes[-1].over
    assert dispatching.groups == {}
    assert dispatching.round(9, resolved(A, 7), resolved(B, 7)) == []


def test_the_next_time_is_another_episode(dispatching):
    dispatching.round(1, A)
    dispatching.round(3, resolved(A, 3))
    dispatching.round(5, replace(A, episode="e9", fired_at=at(4)))
    first, _, second = dispatching.flushes
    assert first.group.key == second.group.key
    assert first.group.episode != second.group.episode
    assert second.group.number == 1


def test_an_alert_silenced_during_another_episode_gets_its_own_episode(dispatching):
    """Both fired in the same round, so what tells the episodes apart is not when their first alert fired."""
    beside = replace(B, fired_at=A.fired_at)
    silence = a_silence('rule="refusal-rate"', end=5)
    dispatching.round(1, A, beside, silences=[silence])
    dispatching.round(3, resolved(A, 3), beside, silences=[silence])
    assert dispatching.round(6, resolved(A, 3), beside) == [("firing", [("refusal-rate", "firing")])]
    assert len({flush.group.episode for flush in dispatching.flushes}) == 2


def test_one_that_fires_again_within_the_interval_begins_nothing_new(dispatching):
    dispatching.round(1, A)
    again = replace(A, episode="e9", fired_at=at(1.6))
    assert dispatching.round(1.3, resolved(A, 1.3)) == []
    assert dispatching.round(1.6, again) == []
    assert dispatching.round(2, again) == []
    assert len({flush.group.episode for flush in dispatching.flushes}) == 1


@pytest.mark.parametrize("then", [State.PENDING, None], ids=["pends again", "is not kept"])
def test_the_end_of_an_alert_that_disappeared_is_sent(dispatching, then):
    dispatching.round(1, A)
    assert dispatching.round(1.3, resolved(A, 1.3)) == []
    left = [] if then is None else [replace(A, episode="e9", state=then, fired_at=None, receivers=())]
    assert dispatching.round(1.5, *left) == []
    assert dispatching.round(2, *left) == [("resolved", [("negative-rate", "resolved")])]
    assert dispatching.flushes[-1].alerts[0].resolved_at == at(2)
    assert dispatching.groups == {}


def test_the_end_is_sent_to_the_old_receivers_when_they_change(dispatching):
    dispatching.round(1, A)
    for_others = replace(A, episode="e9", fired_at=at(1.4), receivers=("pager",))
    assert dispatching.round(3, for_others) == [
        ("firing", [("negative-rate", "firing")]),
        ("resolved", [("negative-rate", "resolved")]),
    ]
    assert [flush.group.receiver for flush in dispatching.flushes] == ["memory", "pager", "memory"]


def test_it_is_repeated_until_somebody_acknowledges(dispatching):
    dispatching.round(1, A)
    assert dispatching.round(240.9, A) == []
    assert dispatching.round(241, A) == [("repeated", [("negative-rate", "firing")])]
    assert dispatching.flushes[-1].pages
    mine = replace(A, acknowledged_by="ada", acknowledged_at=at(242))
    assert dispatching.round(242, mine) == [("acknowledged", [("negative-rate", "firing")])]
    assert (dispatching.flushes[-1].by, dispatching.flushes[-1].pages) == ("ada", False)
    assert dispatching.round(999, mine) == []


def test_an_alert_that_joins_an_acknowledged_group_is_sent_and_repeated(dispatching):
    mine = replace(A, acknowledged_by="ada", acknowledged_at=at(2))
    dispatching.round(1, A)
    dispatching.round(2, mine)
    assert dispatching.round(6, mine, B)[0][0] == "changed"
    assert dispatching.flushes[-1].pages  # nobody knows of it
    assert dispatching.round(245, mine, B) == []
    assert dispatching.round(246, mine, B)[0][0] == "repeated"


def test_who_joins_calls_people_again_only_where_it_is_worse_or_nobody_listens(dispatching):
    dispatching.round(1, A)
    assert dispatching.round(3, A, replace(B, severity=A.severity))[0][0] == "changed"
    assert not dispatching.flushes[-1].pages
    worse = replace(B, fingerprint="w" * 32, episode="w1", severity="critical")
    dispatching.round(5, replace(A, severity="warning"), replace(B, severity="warning"), worse)
    assert dispatching.flushes[-1].pages


def test_a_clock_that_was_set_back_holds_nothing_up(dispatching):
    dispatching.round(60 * 24, A)
    assert dispatching.round(2, A, B)[0][0] == "changed"
    early = replace(ELSEWHERE, fired_at=at(60 * 24))
    assert ("firing", [(early.rule, "firing")]) in dispatching.round(3, A, B, early)


def test_a_replica_whose_clock_is_seconds_behind_does_not_page_again(dispatching):
    """Replicas take turns; one of them has sent what the other one finds."""
    dispatching.round(1, A)
    assert dispatching.round(0.9, A) == []
    assert dispatching.round(0.95, A, replace(B, fired_at=at(0))) == []
    assert dispatching.round(2, A, replace(B, fired_at=at(0)))[0][0] == "changed"


def test_what_is_behind_is_not_sent_again(dispatching):
    dispatching.round(1, A)
    (group,) = dispatching.groups.values()
    flushes = plan(
        [A],
        [group],
        at(9),
        grouping=Grouping(),
        resend={group.receiver: timedelta(minutes=1)},
        backlog={(group.receiver, group.key)},
    )
    assert flushes == []


def test_an_acknowledgement_is_sent_at_once_and_alone(dispatching):
    dispatching.round(1, A, replace(B, fired_at=at(0)))
    mine = replace(A, acknowledged_by="ada", acknowledged_at=at(1.1))
    joined = replace(ELSEWHERE, labels={"app": "shop"}, rule="third", fired_at=at(1))
    assert dispatching.round(1.2, mine, resolved(B, 1.2), joined) == [("acknowledged", [("negative-rate", "firing")])]
    assert dispatching.round(2.2, mine, resolved(B, 1.2), joined) == [
        ("changed", [("negative-rate", "firing"), ("third", "firing"), ("refusal-rate", "resolved")])
    ]


def test_an_acknowledgement_before_the_first_notification_is_not_sent(dispatching):
    mine = replace(A, acknowledged_by="ada", acknowledged_at=at(0))
    assert dispatching.round(1, mine)[0][0] == "firing"
    assert dispatching.round(3, mine) == []


def test_a_silence_suppresses_an_alert_that_was_never_sent(dispatching):
    silence = a_silence(end=60)
    assert dispatching.round(5, A, silences=[silence]) == []
    assert dispatching.round(60, A, silences=[silence]) == [("firing", [("negative-rate", "firing")])]


def test_an_alert_silenced_from_start_to_end_is_never_sent(dispatching):
    assert dispatching.round(5, A, silences=[a_silence()]) == []
    assert dispatching.round(70, resolved(A, 50)) == []


def test_a_silence_is_sent_with_its_author_and_its_end_repeats(dispatching):
    dispatching.round(1, A)
    silence = a_silence(start=2, end=300)
    assert dispatching.round(2, A, silences=[silence]) == [("silenced", [("negative-rate", "firing")])]
    assert dispatching.flushes[-1].by == "ada"
    assert dispatching.flushes[-1].alerts[0].silenced_until == at(300)
    assert dispatching.round(299, A, silences=[silence]) == []
    assert dispatching.round(300, A, silences=[silence]) == [("repeated", [("negative-rate", "firing")])]
    assert dispatching.flushes[-1].pages
    assert dispatching.flushes[-1].alerts[0].silenced_until is None
    assert dispatching.round(301, A) == []


def test_the_end_of_a_silenced_alert_is_sent_when_it_is_over(dispatching):
    dispatching.round(1, A)
    quiet = [a_silence(start=2, end=300)]
    dispatching.round(2, A, silences=quiet)
    assert dispatching.round(5, replace(A, state=State.NO_DATA), silences=quiet) == []
    assert dispatching.round(9, resolved(A, 9), silences=quiet) == [("resolved", [("negative-rate", "resolved")])]
    assert dispatching.flushes[-1].alerts[0].silenced_until is None


def test_a_silence_of_one_does_not_quiet_the_others(dispatching):
    dispatching.round(6, A, B)
    quiet = [a_silence('rule="refusal-rate"', start=7, end=900)]
    dispatching.round(7, A, B, silences=quiet)
    assert dispatching.round(246, A, B, silences=quiet)[0][0] == "repeated"


INGESTION = an_alert(fingerprint="d" * 32, episode="e4", rule="lag", labels={"about": "ingestion"})


def inhibition(source: str, target: str, *equal: str) -> Inhibition:
    return Inhibition(source=(parse_matcher(source),), target=(parse_matcher(target),), equal=equal)


def test_an_inhibited_alert_is_sent_once_nothing_inhibits_it(dispatching):
    dispatching.options["inhibitions"] = [inhibition('rule="lag"', 'rule="negative-rate"')]
    assert dispatching.round(1, A, INGESTION) == [("firing", [("lag", "firing")])]
    after = dispatching.round(2, A, replace(INGESTION, state=State.NO_DATA))
    assert ("firing", [("negative-rate", "firing")]) in after


def test_an_alert_sent_before_it_was_inhibited_is_not_repeated_and_its_end_is_sent(dispatching):
    dispatching.options["inhibitions"] = [inhibition('rule="lag"', 'rule="negative-rate"')]
    dispatching.round(1, A)
    burning = replace(INGESTION, fired_at=at(2), acknowledged_by="ada")
    dispatching.round(3, A, burning)
    assert dispatching.round(500, A, burning) == []
    assert dispatching.round(501, resolved(A, 501), burning) == [("resolved", [("negative-rate", "resolved")])]


def test_alerts_of_both_sides_do_not_silence_one_another(dispatching):
    other = replace(INGESTION, fingerprint="9" * 32, rule="dead-letters")
    dispatching.options["inhibitions"] = [inhibition('about="ingestion"', 'severity="critical"')]
    assert dispatching.round(1, INGESTION, other, A) == [("firing", [("lag", "firing"), ("dead-letters", "firing")])]


def test_a_receiver_that_forgets_is_notified_at_once_and_again(dispatching):
    dispatching.options["resend"] = {"memory": timedelta(minutes=1)}
    assert dispatching.round(0, A)[0][0] == "firing"
    assert dispatching.round(0.5, A) == []
    assert dispatching.round(1, A)[0][0] == "repeated"
    assert not dispatching.flushes[-1].pages
    assert dispatching.round(1.2, resolved(A, 1.2)) == [("resolved", [("negative-rate", "resolved")])]


def test_a_group_stays_whatever_the_grouping_and_the_labels_become(dispatching):
    dispatching.round(1, A)
    tuned = replace(A, labels={"app": "shop", "team": "x"}, severity="info")
    other_grouping = replace(GROUPING, by=("team", "severity"))
    assert dispatching.round(5, tuned, grouping=other_grouping) == []
    assert dispatching.round(6, resolved(tuned, 6), grouping=other_grouping)[0][0] == "resolved"
    assert dispatching.groups == {}


def test_without_labels_to_group_by_all_are_one_group():
    dispatching = Dispatching(grouping=replace(GROUPING, by=()))
    assert len(dispatching.round(9, A, B, ELSEWHERE)) == 1
    assert dispatching.flushes[0].group.labels == {}


@pytest.mark.parametrize("state", [State.NO_DATA, State.ERROR])
def test_no_data_and_errors_are_sent_as_such(dispatching, state):
    assert dispatching.round(1, replace(A, state=state)) == [("firing", [("negative-rate", state.value)])]
    assert dispatching.round(3, A) == [("changed", [("negative-rate", "firing")])]


def test_infinite_bounds_are_sent_as_none(dispatching):
    dispatching.round(1, replace(A, lower=float("-inf"), upper=float("inf")))
    (alert,) = dispatching.flushes[0].alerts
    assert (alert.lower, alert.upper) == (None, None)
