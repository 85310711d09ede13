from threading import Event

import pytest

from monitor.core.errors import Retriable
from monitor.web.health import Readiness


def test_it_is_ready_when_the_database_answers():
    Readiness(lambda: None).check()


def test_a_database_out_of_reach_is_reported_without_its_own_words():
    def away():
        raise Retriable("connection to 10.0.0.7 failed")

    with pytest.raises(Retriable, match=r"^the database does not answer$"):
        Readiness(away).check()


def test_a_hanging_database_delays_nobody_and_is_asked_once():
    answers, asked = Event(), []

    def hangs():
        asked.append(1)
        answers.wait()

    readiness = Readiness(hangs, patience=0.0)
    for _ in range(3):
        with pytest.raises(Retriable):
            readiness.check()
    assert asked == [1]
    answers.set()
    Readiness(lambda: None).check()
