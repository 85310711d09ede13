"""How long stages take, by a clock that is set by hand."""

from __future__ import annotations

import pytest

from monitor.app.metrics.stage_times import EndedStage, StageTimes
from monitor.app.metrics.timed_source import TimedSource
from monitor.core.errors import Retriable
from monitor.core.retry import Interrupted
from monitor.core.stage import observed_by, stage


class Ticks:
    now = 10.0

    def __call__(self):
        return self.now


@pytest.fixture
def ticks():
    return Ticks()


@pytest.fixture
def ended(ticks):
    told = []
    with observed_by(StageTimes(told.append, clock=ticks)):
        yield told


def test_a_stage_and_its_parts_are_told_when_each_is_over(ticks, ended):
    with stage("assess"):
        ticks.now += 1
        with stage("encode"):
            ticks.now += 2
        ticks.now += 4
    assert ended == [
        EndedStage(name="encode", seconds=2.0, failed=False),
        EndedStage(name="assess", seconds=7.0, failed=False),
    ]


def test_one_that_fails_is_told_as_such(ticks, ended):
    def fail():
        ticks.now += 3
        raise Retriable("gone")

    with pytest.raises(Retriable), stage("store"):
        fail()
    assert ended == [EndedStage(name="store", seconds=3.0, failed=True)]


def test_the_end_of_the_process_fails_nothing(ended):
    with pytest.raises(Interrupted), stage("store"):
        raise Interrupted("stopping")
    assert ended == []


def test_a_notification_names_its_receiver(ended):
    with stage("notify", receiver="slack", rule="negative-rate"):
        pass
    assert [one.receiver for one in ended] == ["slack"]


@pytest.mark.parametrize(("leaves", "told"), [(0, 0), (3, 1)])
def test_a_round_of_sealing_without_anything_to_seal_does_not_count(ended, leaves, told):
    with stage("seal") as sealing:
        sealing.add(leaves=leaves)
    assert len(ended) == told


class Quiet:
    """A source that gives what it is told to."""

    def __init__(self, *polls):
        self._polls = list(polls)

    def poll(self, **_):
        return self._polls.pop(0)

    offsets = hold = progress = stored = fenced = close = poll


def test_only_polls_that_bring_messages_count():
    read = []
    source = TimedSource(Quiet(["message"], [], None), read.append)
    limits = {"max_messages": 1, "max_bytes": 1, "timeout": 0.0}
    assert [source.poll(**limits) for _ in range(3)] == [["message"], [], None]
    assert len(read) == 1
    assert read[0] >= 0
