from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.core.errors import Retriable
from monitor.core.model import Unscored
from monitor.probe.mark import BEFORE, MOST_REMEMBERED, WITHIN, Marked, ProbedTurns, conversation_name, mark_of
from tests.factories.answers import an_interaction

RUN = Marked(an_interaction().app, an_interaction().occurred_at)
OURS, FORGED = "0123456789abcdef" * 2, "f" * 32


class Runs:
    """The marks of runs; keeps what it is asked for."""

    def __init__(self, *marks):
        self.marks = dict.fromkeys(marks, RUN)
        self.asked = []

    def __call__(self, marks):
        self.asked.append(set(marks))
        return {mark: run for mark, run in self.marks.items() if mark in marks}


def said(conversation, **over):
    return an_interaction(conversation_id=conversation, **over)


@pytest.mark.parametrize(
    ("conversation", "tags", "mark"),
    [
        (conversation_name(OURS, 3), {}, OURS),
        (conversation_name(OURS, "retriever"), {}, OURS),
        (f"monitor-probe-{OURS}", {}, OURS),
        (None, {"probe": f"monitor-probe-{OURS}-3"}, OURS),
        ("c-1", {"probe": f"monitor-probe-{OURS}-3"}, OURS),
        (f"monitor-probe-{OURS}0-3", {}, None),
        (f"monitor-probe-{OURS[1:]}", {}, None),
        (f"monitor-probe-{OURS.upper()}", {}, None),
        (f"x monitor-probe-{OURS}", {}, None),
        ("c-1", {"other": f"monitor-probe-{OURS}-3", "probe": "yes"}, None),
        (None, {}, None),
    ],
)
def test_where_a_mark_stands(conversation, tags, mark):
    assert mark_of(said(conversation, tags=tags)) == mark


def test_only_turns_with_the_mark_of_a_run_are_told_apart():
    live, forged = said("c-1"), said(conversation_name(FORGED, 0))
    probed = said(conversation_name(OURS, 0))
    told = ProbedTurns(Runs(OURS)).told([live, probed, forged])
    assert [it.unscored for it in told] == [None, Unscored.PROBE, None]
    assert (told[0], told[2], told[1].id) == (live, forged, probed.id)


def test_a_probed_turn_that_lacks_something_is_no_defect():
    (told,) = ProbedTurns(Runs(OURS)).told([said(conversation_name(OURS, 0), unscored=Unscored.NO_RETRIEVAL)])
    assert told.unscored is Unscored.PROBE
    assert [reason for reason in Unscored if not reason.lacking] == [Unscored.PROBE]


def test_runs_are_looked_up_once_a_batch_and_never_twice_for_a_mark():
    runs = Runs(OURS)
    turns = ProbedTurns(runs)
    turns.told([said("c-1"), said(None)])
    assert runs.asked == []
    batch = [said(conversation_name(mark, place)) for mark in (OURS, FORGED) for place in range(3)]
    assert turns.told(batch) == turns.told(batch)
    assert runs.asked == [{OURS, FORGED}]


def test_what_is_remembered_is_bounded():
    runs = Runs(OURS)
    turns = ProbedTurns(runs)
    many = [said(conversation_name(f"{number:032x}", 0)) for number in range(MOST_REMEMBERED)]
    turns.told([said(conversation_name(OURS, 0))])
    turns.told(many)
    assert [it.unscored for it in turns.told([said(conversation_name(OURS, 0))])] == [Unscored.PROBE]
    assert [len(asked) for asked in runs.asked] == [1, MOST_REMEMBERED, 1]


def test_a_failed_look_up_is_raised_and_not_remembered():
    runs, down = Runs(OURS), [True]

    def known(marks):
        if down:
            raise Retriable("the database is out of reach")
        return runs(marks)

    turns = ProbedTurns(known)
    with pytest.raises(Retriable):
        turns.told([said(conversation_name(OURS, 0))])
    down.clear()
    assert turns.told([said(conversation_name(OURS, 0))])[0].unscored is Unscored.PROBE


@pytest.mark.parametrize(
    ("over", "is_probed"),
    [
        ({}, True),
        ({"app": "another"}, False),
        ({"occurred_at": RUN.began_at + WITHIN}, True),
        ({"occurred_at": RUN.began_at + WITHIN + timedelta(seconds=1)}, False),
        ({"occurred_at": RUN.began_at - BEFORE}, True),
        ({"occurred_at": RUN.began_at - BEFORE - timedelta(seconds=1)}, False),
    ],
)
def test_a_mark_hides_nothing_of_another_app_or_time(over, is_probed):
    (told,) = ProbedTurns(Runs(OURS)).told([said(conversation_name(OURS, 0), **over)])
    assert (told.unscored is Unscored.PROBE) == is_probed
