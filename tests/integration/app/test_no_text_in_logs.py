"""No log line shows a chatbot's text, at any level: not of what is assessed, nor rejected, nor fails."""

from __future__ import annotations

import io
import json
import logging
from threading import Event

import pytest

from monitor.app.log_format import JsonFormatter, TextFormatter
from monitor.app.logs import log_to_stderr
from monitor.app.run_log import RunLog
from monitor.app.wiring.application import Application
from monitor.core.settings.load import Settings
from monitor.ingest.files import FileSource

MARKER = "Marker-of-a-chatbot"
TEXTS = {"question": f"{MARKER}?", "answer": f"{MARKER}.", "retrieved_documents": [f"{MARKER}!"]}
EVENTS = [
    {"id": "1", **TEXTS},
    {"id": "2", **TEXTS, "supporting_documents": [f"{MARKER}!"]},
    {"id": "3", **TEXTS, "answer": [MARKER]},
    {"id": "4", **TEXTS, "question": {"text": MARKER}},
    {"id": "5", "retrieved_documents": [{"text": 7, "title": MARKER}]},
    {MARKER: "6"},
]


@pytest.fixture
def logged(monkeypatch):
    """What is logged from the lowest level on, as text and as JSON; the levels of loggers are put back."""
    root, streams = logging.getLogger(), [io.StringIO(), io.StringIO()]
    levels = {logger: logger.level for logger in [root, *map(logging.getLogger, root.manager.loggerDict)]}
    handlers = [logging.StreamHandler(stream) for stream in streams]
    monkeypatch.setattr(root, "handlers", handlers)
    log_to_stderr(logging.DEBUG)
    root.setLevel(logging.DEBUG)
    for handler, formatter in zip(handlers, (TextFormatter(), JsonFormatter("test")), strict=True):
        handler.setFormatter(formatter)
    yield streams
    for logger, level in levels.items():
        logger.setLevel(level)


@pytest.mark.parametrize("defect", [False, True])
def test_no_line_at_any_level_holds_the_text_of_an_answer(database, tmp_path, logged, monkeypatch, defect):
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in EVENTS) + f'{{"question": "{MARKER}\n')
    settings = Settings(database_url=database, state_dir=tmp_path, embedding={"provider": "hash"})
    with Application(settings) as application:
        application.prepare()
        source = FileSource([file], now=application.now)
        flow = application.flow(source, app=None, dialect=None, stop=Event(), written=RunLog(application.now).written)
        if defect:
            monkeypatch.setattr(application.store, "write", lambda batch: int(batch.assessments[0].interaction.answer))
            with pytest.raises(ValueError, match=MARKER) as raised:
                flow.run()
            logging.getLogger("monitor").error("a defect", exc_info=raised.value)
        else:
            assert flow.run().dead == 5
        source.close()
    text, lines = (stream.getvalue() for stream in logged)
    assert ("a defect" if defect else "rejected") in text
    assert MARKER not in text
    assert MARKER not in lines
    assert [json.loads(line) for line in lines.splitlines()]
