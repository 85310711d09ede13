"""What a long run logs of its batches."""

from __future__ import annotations

import logging
import shlex

import pytest

from monitor.app.run_log import RunLog
from monitor.core.batch import Tally
from monitor.core.message import DeadLetter, Position
from tests.factories.answers import a_batch, a_message, an_assessment, clock


def test_the_first_answer_of_each_app_is_named_with_the_command_that_shows_it(caplog):
    log = RunLog(clock)
    with caplog.at_level(logging.INFO, logger="monitor.app.run_log"):
        for number in range(2):
            shop, bank = (an_assessment(id=f"a-{number}", app=app) for app in ("shop", "bank"))
            log.written(a_batch(shop, bank), Tally(received=2, assessed=2))
    assert caplog.messages == [
        "the first answer of shop: monitor explain shop/a-0",
        "the first answer of bank: monitor explain bank/a-0",
    ]


def test_the_command_can_be_pasted_whatever_the_names_hold(caplog):
    with caplog.at_level(logging.INFO, logger="monitor.app.run_log"):
        RunLog(clock).written(a_batch(an_assessment(id="$(a) 1", app="my shop")), Tally(received=1, assessed=1))
    assert shlex.split(caplog.messages[0].partition(": ")[2]) == ["monitor", "explain", "my shop/$(a) 1"]


def test_one_that_is_stored_already_is_no_first_answer(caplog):
    log = RunLog(clock)
    with caplog.at_level(logging.INFO, logger="monitor.app.run_log"):
        log.written(a_batch(an_assessment(id="a-0", app="shop")), Tally(received=1, duplicate=1))
        assert caplog.messages == []
        log.written(a_batch(an_assessment(id="a-1", app="shop")), Tally(received=1, assessed=1))
    assert caplog.messages == ["the first answer of shop: monitor explain shop/a-1"]


@pytest.mark.parametrize(
    ("topic", "partition", "place"),
    [
        ("/logs/a#1.jsonl#10486206-52a0118e7e3c83f3", 0, "/logs/a#1.jsonl, byte 39"),
        ("a#1.jsonl", 0, "a#1.jsonl:39"),
        ("rag.answers", 2, "rag.answers/2:39"),
    ],
    ids=["followed", "read once", "Kafka"],
)
def test_a_rejected_message_is_named_with_its_place(caplog, topic, partition, place):
    message = a_message(position=Position(topic=topic, partition=partition, offset=39))
    letter = DeadLetter(message=message, path="answer", problem="is missing")
    RunLog(clock).written(a_batch(dead_letters=(letter,)), Tally(received=1, dead=1))
    assert caplog.messages == [f"rejected {place}: answer: is missing"]
