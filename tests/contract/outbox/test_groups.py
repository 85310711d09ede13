"""What every `Outbox` promises of groups and silences."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.alert.notification import Description
from monitor.core.errors import Retriable
from monitor.store.alert.responses import PostgresResponses
from tests.factories.alert.alerts import a_silence
from tests.factories.alert.notifications import a_course, a_notified_alert, an_example, at
from tests.factories.alert.outbox import TOLD, a_group, all_due, due, tell, tell_all


@pytest.fixture
def silence(backend, outbox, request):
    """Keeps a silence."""

    def in_postgres(silence):
        PostgresResponses(request.getfixturevalue("engine")).silence(silence, now=silence.starts_at)

    return outbox.silenced.append if backend == "memory" else in_postgres


def test_a_group_is_stored_as_of_its_last_notification(outbox):
    group = a_group(description=Description(changes=("a",), examples=(an_example(),), course=a_course()))
    tell(outbox, group)
    assert outbox.groups() == [group]
    escalated = a_notified_alert(notified_at=at(1), escalated_after=timedelta(minutes=15))
    after = replace(group, number=2, told_at=at(2.5), said={"f" * 32: TOLD, "b" * 32: escalated}, description=None)
    tell(outbox, after)
    assert outbox.groups() == [after]
    tell(outbox, replace(after, number=3), over=True)
    assert outbox.groups() == []


def test_groups_are_identified_by_receiver_and_key(outbox):
    groups = [a_group(), a_group(receiver="pager", episode="e2"), a_group(key="g2", episode="e3")]
    for group in groups:
        tell(outbox, group)
    assert sorted(outbox.groups(), key=lambda g: g.episode) == groups


def test_a_group_that_is_over_may_begin_anew(outbox):
    tell_all(outbox)
    again = a_group(episode="e9")
    tell(outbox, again)
    assert outbox.groups() == [again]
    assert len(list(all_due(outbox, at(60)))) == 1  # the new one waits behind the old


@pytest.mark.parametrize(
    ("stands", "told", "over"),
    [
        (None, a_group(number=2), False),  # another ended it
        (None, a_group(number=2), True),
        (a_group(), a_group(), False),  # another began it
        (a_group(), a_group(episode="e9"), False),
        (a_group(number=2), a_group(number=2), False),  # another went on
        (a_group(number=2), a_group(number=2), True),
        (a_group(), a_group(episode="e9", number=2), False),  # another ended it and began anew
    ],
)
def test_an_update_of_a_group_that_another_replica_changed_is_refused(outbox, stands, told, over):
    for number in range(1, (stands.number if stands else 0) + 1):
        tell(outbox, replace(stands, number=number))
    groups, waiting = outbox.groups(), due(outbox)
    with pytest.raises(Retriable, match="another replica"):
        tell(outbox, told, over=over)
    assert (outbox.groups(), due(outbox)) == (groups, waiting)


def test_silences_are_there_until_they_end(outbox, silence):
    holds = a_silence('app="a \\"b\\" \\\\"', 'topic!~"x.*|y"', id="s1", end=5, comment="while we look")
    later = a_silence(id="s2", start=10, end=20)
    silence(holds)
    silence(later)
    assert outbox.silences(at(0)) == [holds, later]
    assert outbox.silences(at(5)) == [later]
    assert outbox.silences(at(20)) == []
