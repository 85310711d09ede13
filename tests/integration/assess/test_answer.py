"""One answer by `assess_answer`, against what the service stores and writes for it."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from threading import Event, Thread

import pytest

from monitor.app.replay import replay
from monitor.app.wiring.application import Application
from monitor.assess import answer as answers
from monitor.assess import assess_answer
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings

EVENTS = [
    {"question": "How long can I return a lamp?", "answer": "You can return it within 30 days.",
     "retrieved_documents": ["Lamps may be returned within 30 days.", {"id": "kb-2", "text": "Shipping is free."}]},
    {"question": "Who founded it?", "answer": "Ada Lovelace founded it in 1843, on Mars.\x00",
     "retrieved_documents": ["Opened 1990."]},
    {"question": "Is it open?", "answer": "I'm sorry, I can't find that in the documents.", "retrieved_documents": []},
    {"question": "Is it free?", "answer": "Shipping is free.", "retrieved_documents": ["Shipping is free."],
     "supporting_documents": [{"text": "Shipping is free.", "document_id": None}]},
]  # fmt: skip


@pytest.fixture
def state(encoder_cache, tmp_path, monkeypatch):
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "cache").symlink_to(encoder_cache)
    monkeypatch.setenv("MONITOR_STATE_DIR", str(folder))
    answers._pipeline.cache_clear()
    answers.embedded_model.cache_clear()
    return folder


def test_it_gives_what_the_service_gives(state, database, rows, tmp_path):
    events = [{**event, "id": f"q-{n}", "app": "default"} for n, event in enumerate(EVENTS)]
    given, written = tmp_path / "events.jsonl", tmp_path / "assessed.jsonl"
    given.write_text("".join(json.dumps(event) + "\n" for event in events))
    with Application(load_settings(database_url=database, state_dir=state)) as application:
        replay(application, [given], output=written, app=None, dialect=None, progress=lambda *_: None, stop=Event())
    service = [json.loads(line) for line in written.read_text().splitlines()]
    found = [[], []]
    threads = [Thread(target=lambda mine=mine: mine.extend(map(assessed, EVENTS))) for mine in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = rows("SELECT verdict, p_grounded, reasons FROM assessment ORDER BY id")
    assert len(service) == len(stored) == len(EVENTS)
    for theirs, (verdict, grounded, reasons), *ours in zip(service, stored, *found, strict=True):
        for mine in ours:
            assert rounded(mine.to_json()) == rounded(theirs)
            assert (mine.verdict, [*mine.reasons]) == (verdict, reasons)
            assert mine.probabilities.grounded == pytest.approx(grounded, abs=1e-5)
    assert {one.verdict for one in found[0]} == {"grounded", "refusal", "self_generated"}
    assert answers.embedded_model.cache_info().misses == 1


def assessed(event):
    return assess_answer(**event)


def rounded(value):
    """Without names and the last digits, which depend on the answers that are assessed along with it."""
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items() if name not in {"id", "app", "occurred_at"}}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return round(value, 4) if isinstance(value, float) else value


@pytest.mark.usefixtures("state")
def test_a_profile_that_cannot_be_used_is_named():
    with pytest.raises(WrongSettings, match="nowhere"):
        assess_answer(question="?", retrieved_documents=[], answer="!", profile="nowhere.toml")


@pytest.mark.usefixtures("state")
def test_the_example_of_the_page_runs(tmp_path, capsys):
    page = (Path(__file__).parents[3] / "docs" / "start" / "client.md").read_text(encoding="utf-8")
    example = tmp_path / "example.py"
    example.write_text(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[-1])
    runpy.run_path(str(example))
    assert capsys.readouterr().out.startswith("grounded 0.")
