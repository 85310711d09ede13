"""The code of docs/start/client.md does what the page says."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

from monitor.client import observe
from monitor.core.trace import Collected
from monitor.ingest.decode import Decoder
from tests.factories.answers import a_message

PAGE = (Path(__file__).parents[3] / "docs" / "start" / "client.md").read_text(encoding="utf-8")
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ASKED = "How long can I return a lamp?"


def test_the_code_on_the_page_reports_what_the_monitor_reads(tmp_path, monkeypatch, capsys):
    path = tmp_path / "answers.jsonl"
    monkeypatch.setenv("MONITOR_CLIENT_URL", path.as_uri())
    monkeypatch.setenv("MONITOR_CLIENT_APP", "support-bot")
    observe._from_environment.cache_clear()
    (tmp_path / "chatbot.py").write_text("\n".join(CODE[:-1]))
    names = runpy.run_path(str(tmp_path / "chatbot.py"))
    assert names["reporter"].close()
    assert observe._from_environment().close()
    observe._from_environment.cache_clear()

    decoder = Decoder()
    read = [decoder.decode(a_message(line.encode())) for line in path.read_text().splitlines()]
    (word,) = [one for one in read if isinstance(one, Collected)]
    assert (word.app, word.feedback[0].id, word.feedback[0].comment) == (
        "support-bot",
        names["answer_id"],
        "I asked about opened boxes.",
    )
    answers = [one for one in read if one is not word]
    assert len(answers) == 4
    assert {(one.app, one.question) for one in answers} == {("support-bot", ASKED)}
    assert {one.answer for one in answers} == {"You may return it within 30 days."}
    assert all(one.retrieved_documents for one in answers)
    assert [d.text for one in answers for d in one.supporting_documents or ()] == [
        "A lamp may be returned within 30 days."
    ]
    assert capsys.readouterr().out.endswith("You may return it within 30 days.\n\n\n[]\n")


def test_every_event_that_the_page_of_events_shows_alone_is_feedback():
    page = (Path(__file__).parents[3] / "docs" / "start" / "events.md").read_text(encoding="utf-8")
    (event,) = [
        json.loads(block)
        for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)
        if '"thumb": "down", "comment"' in block
    ]
    assert Decoder().decode(a_message(json.dumps(event).encode())).feedback[0].comment == "Wrong model."
