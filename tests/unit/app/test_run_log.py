"""What a long run logs of its batches."""

from __future__ import annotations

import logging

from monitor.app.run_log import RunLog
from monitor.core.batch import Tally
from tests.factories.answers import a_batch, an_assessment, clock


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


def test_one_that_is_stored_already_is_no_first_answer(caplog):
    log = RunLog(clock)
    with caplog.at_level(logging.INFO, logger="monitor.app.run_log"):
        log.written(a_batch(an_assessment(id="a-0", app="shop")), Tally(received=1, duplicate=1))
        assert caplog.messages == []
        log.written(a_batch(an_assessment(id="a-1", app="shop")), Tally(received=1, assessed=1))
    assert caplog.messages == ["the first answer of shop: monitor explain shop/a-1"]
