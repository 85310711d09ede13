"""The references of a running process: taken over from the database, and kept while it is out of reach."""

from __future__ import annotations

from contextlib import suppress
from threading import Event, Thread

import pytest

from monitor.app.wiring.reference import RELOAD, WatchedReferences
from monitor.core.errors import Retriable
from monitor.store.reference.references import ReferenceStore
from tests.rig.store.references import froze, scored, usual, write


class Line:
    """The way to the database: can be cut, and tells when somebody has asked."""

    def __init__(self, engine):
        self.store = ReferenceStore(engine)
        self.cut = False
        self.asked = Event()

    def __call__(self):
        try:
            if self.cut:
                raise Retriable("database: out of reach")
            return self.store
        finally:
            self.asked.set()


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_frozen_reference_is_noticed_and_stays_in_force_while_the_database_is_away(writer, engine):
    write(writer, *usual(500))
    line, clock = Line(engine), Clock()
    references = WatchedReferences(line, clock=clock)
    answer = scored(0.99)

    def rank():
        return references.rank([answer])[0].rank

    assert rank() is None
    froze(engine)
    clock.now += RELOAD - 1
    assert rank() is None
    references.look()
    assert rank() == pytest.approx(6 / 501)
    line.cut = True
    line.asked.clear()
    clock.now += RELOAD
    assert rank() == pytest.approx(6 / 501)
    assert line.asked.wait(30)
    assert rank() == pytest.approx(6 / 501)


def test_the_first_look_waits_for_the_database(engine):
    line = Line(engine)
    line.cut = True
    references = WatchedReferences(line, clock=Clock())
    with pytest.raises(Retriable):
        references.rank([scored(0.5)])
    line.cut = False
    assert references.rank([scored(0.5)]) == [scored(0.5)]


def test_a_changed_reference_is_not_used_and_said_once(writer, engine, rows, caplog):
    write(writer, *usual(500))
    (one,) = froze(engine).frozen
    rows("UPDATE reference SET scores[1] = 0.25")
    references = WatchedReferences(Line(engine), clock=Clock())
    for _ in range(2):
        with suppress(Retriable):
            references.look()
    assert references.rank([scored(0.99)])[0].rank is None
    assert [record.message.count(one.hash) for record in caplog.records if record.levelname == "ERROR"] == [1]


def test_closing_waits_for_the_look_under_way_and_begins_none(engine):
    line, clock = Line(engine), Clock()
    references = WatchedReferences(line, clock=clock)
    assert references.rank([scored(0.5)]) == [scored(0.5)]
    references._looking.acquire()  # as a look that is under way
    closing = Thread(target=references.close)
    closing.start()
    closing.join(0.1)
    assert closing.is_alive()
    references._looking.release()
    closing.join(10)
    assert not closing.is_alive()
    line.asked.clear()
    clock.now += RELOAD
    assert references.rank([scored(0.5)]) == [scored(0.5)]
    references.look()
    assert not line.asked.is_set()
