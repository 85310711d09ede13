"""What nobody expected is logged by its type and place: its text may quote what a chatbot said."""

from __future__ import annotations

import json
import logging
import threading

import pytest

from monitor import __main__ as program
from monitor.app.log_format import JsonFormatter, TextFormatter
from monitor.app.logs import log_defects_of_threads, say

TEXT = "what a chatbot said"


@pytest.fixture(autouse=True)
def hook(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)  # so that it is put back


def fail():
    raise ValueError(TEXT)


def only_line(caplog):
    (record,) = [each for each in caplog.records if each.levelno == logging.CRITICAL]
    line = TextFormatter().format(record)
    assert TEXT not in line
    assert "Traceback" in line
    assert "builtins.ValueError" in line
    return line


def test_a_defect_ends_the_program_with_one(monkeypatch, caplog, capsys):
    monkeypatch.setattr("monitor.cli.app.app", fail)
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == program.FAILED
    assert "a defect ends the program" in only_line(caplog)
    assert TEXT not in capsys.readouterr().err


def test_so_does_one_that_ends_a_thread(caplog, capsys):
    log_defects_of_threads()
    thread = threading.Thread(target=fail, name="sealing")
    thread.start()
    thread.join()
    assert "a defect ends the thread sealing" in only_line(caplog)
    assert TEXT not in capsys.readouterr().err


@pytest.mark.parametrize(("form", "told"), [("text", "monitor: stopping"), ("json", "stopping")])
def test_the_program_is_named_once(form, told, capsys, monkeypatch):
    """In a line for people before the message, in JSON as the logger."""
    monkeypatch.setattr("monitor.app.logs._json", lambda: JsonFormatter(None) if form == "json" else None)
    say("stopping", level=logging.ERROR)
    said = capsys.readouterr().err.strip()
    if form == "json":
        line = json.loads(said)
        assert (line["logger"], line["level"]) == ("monitor", "error")
        said = line["message"]
    assert said == told
