from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from monitor.alert.notify.dispatch import AlertGroup, Flush, plan
from monitor.alert.rule import Grouping
from monitor.alert.silence import Inhibition, parse_matcher
from monitor.alert.state import Alert, State
from tests.factories.alert import a_silence, an_alert, statuses
from tests.factories.notifications import at

GROUPING = Grouping(by=("app",), wait=timedelta(seconds=30), interval=timedelta(minutes=1), repeat=timedelta(hours=4))
A = an_alert()
B = an_alert(fingerprint="b" * 32, episode="e2", rule="refusal-rate", severity="warning", fired_at=at(5))
ELSEWHERE = an_alert(fingerprint="c" * 32, episode="e3", labels={"app": "bank"})


def resolved(alert: Alert, minute: float) -> Alert:
    return replace(alert, state=State.RESOLVED, resolved_at=at(minute), value=0.1)


class Dispatching:
    """Plans rounds one after the other, and remembers the groups as an outbox does."""

    def __init__(self, **options: Any) -> None:
        self.groups: dict[tuple[str, str], AlertGroup] = {}
        self.options = {"grouping": GROUPING, **options}
        self.flushes: list[Flush] = []

    def round(self, minute: float, *alerts: Alert, **options: Any) -> list[tuple[str, list[tuple[str, str]]]]:
        made = plan(alerts, self.groups.values(), at(minute), **self.options | options)
        for flush in made:
            key = flush.group.receiver, flush.group.key
            if flush.over:
                del self.groups[key]
            else:
                self.groups[key] = flush.group
        self.flushes += made
        return [(flush.news, statuses(flush.alerts)) for flush in made]


@pytest.fixture
def telling() -> Dispatching:
    return Dispatching()


def test_inactive_alerts_are_not_sent():
    for state in (State.PENDING, State.INACTIVE, State.RESOLVED):
        assert Dispatching().round(9, replace(A, state=state)) == []


def test_a_group_waits_for_others_from_its_first_alert_on(telling):
    assert telling.round(0.4, A) == []
    assert telling.round(0.5, A) == [("firing", [("negative-rate", "firing")])]
    assert telling.round(0.6, A) == []
    (flush,) = telling.flushes
    assert (flush.group.labels, flush.group.number, flush.pages) == ({"app": "shop"}, 1, True)


def test_alerts_with_the_same_labels_are_sent_together_the_worst_first(telling):
    late = replace(B, severity="critical", fired_at=at(1))
    assert telling.round(6, B, late, ELSEWHERE, replace(A, severity="info")) == [
        ("firing", [("refusal-rate", "firing"), ("refusal-rate", "firing"), ("negative-rate", "firing")]),
        ("firing", [("negative-rate", "firing")]),
    ]
    assert [told.severity for told in telling.flushes[0].alerts] == ["critical", "warning", "info"]


def test_each_receiver_has_its_own_groups(telling):
    both = replace(A, receivers=("slack", "pager"))
    telling.round(1, both)
    assert [flush.group.receiver for flush in telling.flushes] == ["slack", "pager"]
    assert len({flush.group.episode for flush in telling.flushes}) == 2


def test_an_alert_that_joins_is_sent_after_the_interval(telling):
    telling.round(5.5, A)
    assert telling.round(6, A, B) == []
    assert telling.round(6.5, A, B) == [("changed", [("negative-rate", "firing"), ("refusal-rate", "firing")])]
    assert telling.flushes[-1].group.number == 2


def test_an_alert_that_leaves_is_sent_once(telling):
    telling.round(6, A, B)
    over = resolved(A, 7)
    assert telling.round(7, over, B) == [("changed", [("refusal-rate", "firing"), ("negative-rate", "resolved")])]
    assert telling.round(9, over, B) == []


def test_once_all_are_over_the_group_is(telling):
    telling.round(6, A, B)
    assert telling.round(7, resolved(A, 7), resolved(B, 7)) == [
        ("resolved", [("negative-rate", "resolved"), ("refusal-rate", "resolved")])
    ]
    assert telling.flushes[-1].over
    assert telling.groups == {}
    assert telling.round(9, resolved(A, 7), resolved(B, 7)) == []


def test_the_next_time_is_another_episode(telling):
    telling.round(1, A)
    telling.round(3, resolved(A, 3))
    telling.round(5, replace(A, episode="e9", fired_at=at(4)))
    first, _, second = telling.flushes
    assert first.group.key == second.group.key
    assert first.group.episode != second.group.episode
    assert second.group.number == 1


def test_an_alert_silenced_during_another_episode_gets_its_own_episode(telling):
    """Both fired in the same round, so what tells the episodes apart is not when their first alert fired."""
    beside = replace(B, fired_at=A.fired_at)
    silence = a_silence('rule="refusal-rate"', end=5)
    telling.round(1, A, beside, silences=[silence])
    telling.round(3, resolved(A, 3), beside, silences=[silence])
    assert telling.round(6, resolved(A, 3), beside) == [("firing", [("refusal-rate", "firing")])]
    assert len({flush.group.episode for flush in telling.flushes}) == 2


def test_one_that_fires_again_within_the_interval_begins_nothing_new(telling):
    telling.round(1, A)
    again = replace(A, episode="e9", fired_at=at(1.6))
    assert telling.round(1.3, resolved(A, 1.3)) == []
    assert telling.round(1.6, again) == []
    assert telling.round(2, again) == []
    assert len({flush.group.episode for flush in telling.flushes}) == 1


@pytest.mark.parametrize("then", [State.PENDING, None], ids=["pends again", "is not kept"])
def test_the_end_of_an_alert_that_disappeared_is_sent(telling, then):
    telling.round(1, A)
    assert telling.round(1.3, resolved(A, 1.3)) == []
    left = [] if then is None else [replace(A, episode="e9", state=then, fired_at=None, receivers=())]
    assert telling.round(1.5, *left) == []
    assert telling.round(2, *left) == [("resolved", [("negative-rate", "resolved")])]
    assert telling.flushes[-1].alerts[0].resolved_at == at(2)
    assert telling.groups == {}


def test_the_end_is_sent_to_the_old_receivers_when_they_change(telling):
    telling.round(1, A)
    for_others = replace(A, episode="e9", fired_at=at(1.4), receivers=("pager",))
    assert telling.round(3, for_others) == [
        ("firing", [("negative-rate", "firing")]),
        ("resolved", [("negative-rate", "resolved")]),
    ]
    assert [flush.group.receiver for flush in telling.flushes] == ["memory", "pager", "memory"]


def test_it_is_repeated_until_somebody_acknowledges(telling):
    telling.round(1, A)
    assert telling.round(240.9, A) == []
    assert telling.round(241, A) == [("repeated", [("negative-rate", "firing")])]
    assert telling.flushes[-1].pages
    mine = replace(A, acknowledged_by="ada", acknowledged_at=at(242))
    assert telling.round(242, mine) == [("acknowledged", [("negative-rate", "firing")])]
    assert (telling.flushes[-1].by, telling.flushes[-1].pages) == ("ada", False)
    assert telling.round(999, mine) == []


def test_an_alert_that_joins_an_acknowledged_group_is_sent_and_repeated(telling):
    mine = replace(A, acknowledged_by="ada", acknowledged_at=at(2))
    telling.round(1, A)
    telling.round(2, mine)
    assert telling.round(6, mine, B)[0][0] == "changed"
    assert telling.flushes[-1].pages  # nobody knows of it
    assert telling.round(245, mine, B) == []
    assert telling.round(246, mine, B)[0][0] == "repeated"


def test_who_joins_calls_people_again_only_where_it_is_worse_or_nobody_listens(telling):
    telling.round(1, A)
    assert telling.round(3, A, replace(B, severity=A.severity))[0][0] == "changed"
    assert not telling.flushes[-1].pages
    worse = replace(B, fingerprint="w" * 32, episode="w1", severity="critical")
    telling.round(5, replace(A, severity="warning"), replace(B, severity="warning"), worse)
    assert telling.flushes[-1].pages


def test_a_clock_that_was_set_back_holds_nothing_up(telling):
    telling.round(60 * 24, A)
    assert telling.round(2, A, B)[0][0] == "changed"
    early = replace(ELSEWHERE, fired_at=at(60 * 24))
    assert ("firing", [(early.rule, "firing")]) in telling.round(3, A, B, early)


def test_what_is_behind_is_not_sent_again(telling):
    telling.round(1, A)
    (group,) = telling.groups.values()
    flushes = plan(
        [A],
        [group],
        at(9),
        grouping=Grouping(),
        resend={group.receiver: timedelta(minutes=1)},
        backlog={(group.receiver, group.key)},
    )
    assert flushes == []


def test_an_acknowledgement_is_sent_at_once_and_alone(telling):
    telling.round(1, A, replace(B, fired_at=at(0)))
    mine = replace(A, acknowledged_by="ada", acknowledged_at=at(1.1))
    joined = replace(ELSEWHERE, labels={"app": "shop"}, rule="third", fired_at=at(1))
    assert telling.round(1.2, mine, resolved(B, 1.2), joined) == [("acknowledged", [("negative-rate", "firing")])]
    assert telling.round(2.2, mine, resolved(B, 1.2), joined) == [
        ("changed", [("negative-rate", "firing"), ("third", "firing"), ("refusal-rate", "resolved")])
    ]


def test_an_acknowledgement_before_the_first_notification_is_not_sent(telling):
    mine = replace(A, acknowledged_by="ada", acknowledged_at=at(0))
    assert telling.round(1, mine)[0][0] == "firing"
    assert telling.round(3, mine) == []


def test_a_silence_suppresses_an_alert_that_was_never_sent(telling):
    silence = a_silence(end=60)
    assert telling.round(5, A, silences=[silence]) == []
    assert telling.round(60, A, silences=[silence]) == [("firing", [("negative-rate", "firing")])]


def test_an_alert_silenced_from_start_to_end_is_never_sent(telling):
    assert telling.round(5, A, silences=[a_silence()]) == []
    assert telling.round(70, resolved(A, 50)) == []


def test_a_silence_is_sent_with_its_author_and_its_end_repeats(telling):
    telling.round(1, A)
    silence = a_silence(start=2, end=300)
    assert telling.round(2, A, silences=[silence]) == [("silenced", [("negative-rate", "firing")])]
    assert telling.flushes[-1].by == "ada"
    assert telling.flushes[-1].alerts[0].silenced_until == at(300)
    assert telling.round(299, A, silences=[silence]) == []
    assert telling.round(300, A, silences=[silence]) == [("repeated", [("negative-rate", "firing")])]
    assert telling.flushes[-1].pages
    assert telling.flushes[-1].alerts[0].silenced_until is None
    assert telling.round(301, A) == []


def test_the_end_of_a_silenced_alert_is_sent_when_it_is_over(telling):
    telling.round(1, A)
    quiet = [a_silence(start=2, end=300)]
    telling.round(2, A, silences=quiet)
    assert telling.round(5, replace(A, state=State.NO_DATA), silences=quiet) == []
    assert telling.round(9, resolved(A, 9), silences=quiet) == [("resolved", [("negative-rate", "resolved")])]
    assert telling.flushes[-1].alerts[0].silenced_until is None


def test_a_silence_of_one_does_not_quiet_the_others(telling):
    telling.round(6, A, B)
    quiet = [a_silence('rule="refusal-rate"', start=7, end=900)]
    telling.round(7, A, B, silences=quiet)
    assert telling.round(246, A, B, silences=quiet)[0][0] == "repeated"


INGESTION = an_alert(fingerprint="d" * 32, episode="e4", rule="lag", labels={"about": "ingestion"})


def inhibition(source: str, target: str, *equal: str) -> Inhibition:
    return Inhibition(source=(parse_matcher(source),), target=(parse_matcher(target),), equal=equal)


def test_an_inhibited_alert_is_sent_once_nothing_inhibits_it(telling):
    telling.options["inhibitions"] = [inhibition('rule="lag"', 'rule="negative-rate"')]
    assert telling.round(1, A, INGESTION) == [("firing", [("lag", "firing")])]
    after = telling.round(2, A, replace(INGESTION, state=State.NO_DATA))
    assert ("firing", [("negative-rate", "firing")]) in after


def test_an_alert_sent_before_it_was_inhibited_is_not_repeated_and_its_end_is_sent(telling):
    telling.options["inhibitions"] = [inhibition('rule="lag"', 'rule="negative-rate"')]
    telling.round(1, A)
    burning = replace(INGESTION, fired_at=at(2), acknowledged_by="ada")
    telling.round(3, A, burning)
    assert telling.round(500, A, burning) == []
    assert telling.round(501, resolved(A, 501), burning) == [("resolved", [("negative-rate", "resolved")])]


def test_alerts_of_both_sides_do_not_silence_one_another(telling):
    other = replace(INGESTION, fingerprint="9" * 32, rule="dead-letters")
    telling.options["inhibitions"] = [inhibition('about="ingestion"', 'severity="critical"')]
    assert telling.round(1, INGESTION, other, A) == [("firing", [("lag", "firing"), ("dead-letters", "firing")])]


def test_a_receiver_that_forgets_is_notified_at_once_and_again(telling):
    telling.options["resend"] = {"memory": timedelta(minutes=1)}
    assert telling.round(0, A)[0][0] == "firing"
    assert telling.round(0.5, A) == []
    assert telling.round(1, A)[0][0] == "repeated"
    assert not telling.flushes[-1].pages
    assert telling.round(1.2, resolved(A, 1.2)) == [("resolved", [("negative-rate", "resolved")])]


def test_a_group_stays_whatever_the_grouping_and_the_labels_become(telling):
    telling.round(1, A)
    tuned = replace(A, labels={"app": "shop", "team": "x"}, severity="info")
    other_grouping = replace(GROUPING, by=("team", "severity"))
    assert telling.round(5, tuned, grouping=other_grouping) == []
    assert telling.round(6, resolved(tuned, 6), grouping=other_grouping)[0][0] == "resolved"
    assert telling.groups == {}


def test_without_labels_to_group_by_all_are_one_group():
    telling = Dispatching(grouping=replace(GROUPING, by=()))
    assert len(telling.round(9, A, B, ELSEWHERE)) == 1
    assert telling.flushes[0].group.labels == {}


@pytest.mark.parametrize("state", [State.NO_DATA, State.ERROR])
def test_no_data_and_errors_are_sent_as_such(telling, state):
    assert telling.round(1, replace(A, state=state)) == [("firing", [("negative-rate", state.value)])]
    assert telling.round(3, A) == [("changed", [("negative-rate", "firing")])]


def test_infinite_bounds_are_sent_as_none(telling):
    telling.round(1, replace(A, lower=float("-inf"), upper=float("inf")))
    (told,) = telling.flushes[0].alerts
    assert (told.lower, told.upper) == (None, None)
