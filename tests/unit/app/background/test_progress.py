from __future__ import annotations

from threading import Event

from monitor.app.background.progress import recorded_progress
from monitor.core.errors import Retriable
from monitor.core.message import Progress
from tests.factories.answers import NOON, clock
from tests.rig.waiting import PATIENCE

HERE = (Progress(topic="rag", partition=0, through=NOON, behind=0),)


class Reader:
    def progress(self):
        return HERE


class Notes:
    """Keeps what it is told; `enough` is set after so many times."""

    def __init__(self, *failures: Exception, enough: int = 1) -> None:
        self.told, self.failures, self.left, self.enough = [], list(failures), enough, Event()

    def __call__(self, progress, now):
        self.left -= 1
        if not self.left:
            self.enough.set()
        if self.failures:
            raise self.failures.pop(0)
        self.told.append((progress, now))


def test_progress_is_noted_at_the_end_at_the_latest():
    notes = Notes()
    with recorded_progress(Reader(), notes, clock, every=3600):
        assert notes.told == []
    assert notes.told == [(HERE, NOON)]


def test_it_is_noted_again_and_again_whatever_fails(caplog):
    notes = Notes(Retriable("database: gone"), enough=3)
    with recorded_progress(Reader(), notes, clock, every=0.001):
        assert notes.enough.wait(PATIENCE)
    assert notes.told[0] == (HERE, NOON)
    assert "recording the progress of the source: database: gone; trying again" in caplog.text
