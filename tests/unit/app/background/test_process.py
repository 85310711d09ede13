"""What a child process tells of its stages arrives where its metrics are shown."""

from __future__ import annotations

from multiprocessing.context import SpawnProcess

from monitor.app.background import process
from monitor.app.background.process import child_process
from monitor.core.settings.load import load_settings
from monitor.core.stage import stage
from tests.rig.waiting import until


def work(_settings, parent):
    with stage("seal") as sealing:
        sealing.add(leaves=3)
    parent.recv()


def test_the_stages_of_a_child_process_are_told_to_its_parent():
    told = []
    with child_process(work, load_settings(), name="working", grace=30.0, ended=told.append):
        until("the stage is told", lambda: told)
    assert [(one.name, one.failed) for one in told] == [("seal", False)]
    assert told[0].seconds >= 0


def test_a_process_that_cannot_be_started_is_tried_again(monkeypatch, caplog):
    told, start, refusals = [], SpawnProcess.start, [OSError(11, "Resource temporarily unavailable")]

    def refused_once(self):
        if refusals:
            raise refusals.pop()
        start(self)

    monkeypatch.setattr(SpawnProcess, "start", refused_once)
    monkeypatch.setattr(process, "_RESTART_AFTER", 0.01)
    with child_process(work, load_settings(), name="working", grace=30.0, ended=told.append):
        until("the stage is told", lambda: told)
    assert "no process for working can be started: Resource temporarily unavailable; trying again" in caplog.text
