"""Stages tell each observer when work begins and ends, what it is part of, and how it failed."""

from __future__ import annotations

from threading import Thread

import pytest

from monitor.core.pool import Pool
from monitor.core.stage import begin, current, observed_by, stage
from tests.factories.stages import Recorder


def test_an_observer_is_told_of_a_stage_its_attributes_and_its_end() -> None:
    recorder = Recorder()
    with observed_by(recorder), stage("decode", messages=3) as decoding:
        assert not recorder.seen[0].ended
        decoding.add(interactions=2)
    [seen] = recorder.seen
    assert (seen.name, seen.attributes) == ("decode", {"messages": 3, "interactions": 2})
    assert seen.ended
    assert seen.error is None


def test_what_a_stage_raises_is_told_and_passed_on() -> None:
    recorder, error = Recorder(), ValueError("no")
    with observed_by(recorder), pytest.raises(ValueError, match="no"), stage("store"):
        raise error
    assert recorder.seen[0].error is error
    assert current() is None


def test_a_batch_is_handed_from_thread_to_thread() -> None:
    recorder = Recorder()

    def assess() -> None:
        with batch.resumed(), stage("score"):
            pass

    with observed_by(recorder):
        batch = begin("process")
        with batch.resumed(), stage("decode"):
            pass
        thread = Thread(target=assess)
        thread.start()
        thread.join()
        assert [(seen.name, seen.parent, seen.ended) for seen in recorder.seen] == [
            ("process", None, False),
            ("decode", "process", True),
            ("score", "process", True),
        ]
        batch.end()
    assert recorder.seen[0].ended


def test_an_error_in_a_part_of_a_handed_over_stage_ends_it() -> None:
    recorder, error = Recorder(), OSError("no")
    with observed_by(recorder):
        batch = begin("process")
        with pytest.raises(OSError, match="no"), batch.resumed(), stage("score"):
            raise error
    assert [(seen.name, seen.error) for seen in recorder.seen] == [("process", error), ("score", error)]


def test_calls_in_a_pool_are_part_of_the_stage_that_submits_them() -> None:
    recorder, pool = Recorder(), Pool(1, "test")

    def call() -> None:
        with stage("chat"):
            pass

    with observed_by(recorder), stage("complete"):
        pool.submit(call).result()
    pool.submit(call).result()
    pool.close()
    assert [(seen.name, seen.parent) for seen in recorder.seen] == [("complete", None), ("chat", "complete")]


def test_each_observer_sees_its_own_parents_and_lends_its_fields_to_the_log() -> None:
    first, second = Recorder(), Recorder()
    with observed_by(first), stage("process") as batch, observed_by(second), stage("decode"):
        assert batch.log_fields() == {"span_id": "0"}
    assert first.seen[1].parent == "process"
    assert second.seen[0].parent is None


def test_without_an_observer_a_stage_only_keeps_its_attributes_for_the_log() -> None:
    with stage("decode", topic="answers") as decoding, stage("store"):
        innermost = current()
        assert innermost is not None
        assert innermost.parent is decoding
    assert decoding.attributes == {"topic": "answers"}
    assert decoding.log_fields() == {}
