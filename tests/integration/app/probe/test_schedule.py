"""Probes that run by themselves: a Python chatbot, a scripted judge, PostgreSQL, and a clock that the test moves."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime, timedelta
from importlib import import_module
from threading import Event

import pytest
from pydantic import SecretStr

from monitor.app.probe.run import run_probe
from monitor.app.probe.schedule import DueProbes, scheduled_probes
from monitor.app.run import serve
from monitor.app.wiring.application import Application
from monitor.core.errors import Fatal, WrongSettings
from monitor.core.settings.load import load_settings
from monitor.ingest.mapping import EventMap
from monitor.probe.golden import GoldenItem
from monitor.probe.result import RunState
from tests.rig.waiting import until
from tests.servers.chatbot import chatbot
from tests.servers.llm import CHAT_MODEL, KEY, llm_server
from tests.servers.llm.conversing import conversing

RIGHT = "A refund takes 14 days."
ITEMS = [GoldenItem(id=f"q{n}", question=f"How long does refund {n} take?", reference=RIGHT) for n in range(3)]
PROBES = """\
probes:
  - {name: hourly, app: shop, golden: refunds, every: 1h, target: {python: "refund_bot:answer"}}
  - {name: by hand, app: shop, golden: refunds, target: {python: "refund_bot:answer"}}
"""
BOT = """
from threading import Event
gate, asked = Event(), []
gate.set()

def answer(question, history, conversation):
    asked.append(conversation)
    gate.wait()
    return {"answer": "A refund takes 14 days.", "documents": ["Refunds: 14 days."], "version": "v3"}
"""


class Clock:
    def __init__(self):
        self.now = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def bot(tmp_path, monkeypatch):
    (tmp_path / "refund_bot.py").write_text(BOT)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "refund_bot", raising=False)
    bot = import_module("refund_bot")
    yield bot
    bot.gate.set()


@pytest.fixture
def application(bot, database, tmp_path, monkeypatch):  # noqa: ARG001  the bot can be imported
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "probes.yaml").write_text(PROBES)
    with llm_server(answer=conversing) as server:
        settings = load_settings(
            database_url=database,
            embedding={"provider": "hash"},
            llm={"base_url": server.base_url, "api_key": KEY, "model": CHAT_MODEL},
            probes=tmp_path / "probes.yaml",
        )
        with Application(settings, now=Clock()) as application:
            application.probing.golden.save("refunds", ITEMS, by="ada", now=application.now())
            yield application


@pytest.fixture
def due(application):
    due = DueProbes(application)
    yield due
    due.stop()


def runs(application):
    return application.probing.runs.runs()


def test_only_what_is_due_runs_and_once(application, due):
    due.look()
    until("it is done", lambda: [run.state for run in runs(application)] == [RunState.DONE])
    (run,) = runs(application)
    assert (run.probe, run.chatbot, run.target) == ("hourly", "v3", "python refund_bot:answer")
    assert [one.correctness for one in application.probing.runs.results(run.number)] == [5.0, 5.0, 5.0]
    due.look()
    assert len(runs(application)) == 1
    until("its turn is over", lambda: not due._running)
    application.now.now += timedelta(hours=1)
    due.look()
    until("it is done again", lambda: [run.state for run in runs(application)] == [RunState.DONE] * 2)


def test_one_that_runs_is_not_begun_again_however_long_it_takes(application, due, bot):
    bot.gate.clear()
    due.look()
    until("it asks", lambda: len(bot.asked) == 3)
    application.now.now += timedelta(hours=5)
    due.look()
    with pytest.raises(WrongSettings, match="is running already"):
        run_probe(application, application.probing.probe("hourly"), stop=Event())
    bot.gate.set()
    until("it is done", lambda: [run.state for run in runs(application)] == [RunState.DONE])
    assert len(bot.asked) == 3


def test_what_asks_when_it_ends_is_kept_and_the_run_is_stopped(application, due, bot):
    application.probing.golden.save("refunds", [*ITEMS, *more()], by="ada", now=application.now())
    bot.gate.clear()
    due.look()
    until("four at a time are asked", lambda: len(bot.asked) == 4)
    due._stop.set()
    bot.gate.set()
    due.stop()
    (run,) = runs(application)
    assert (run.state, run.error) == (RunState.STOPPED, "4 of 20 questions were asked: it was told to stop")
    assert len(application.probing.runs.results(run.number)) == 4


def test_a_probe_that_cannot_run_is_told_and_others_go_on(application, due, caplog, tmp_path):
    broken = "  - {name: broken, app: shop, golden: none, every: 1h, target: {command: [bot]}}\n"
    (tmp_path / "probes.yaml").write_text(PROBES + broken)
    with caplog.at_level(logging.WARNING):
        due.look()
        until("the other one is done", lambda: [run.state for run in runs(application)] == [RunState.DONE])
        until("it is told", lambda: "the probe broken did not run: there is no golden set 'none'" in caplog.text)


def test_a_run_in_which_nothing_is_judged_is_told_with_the_next_step(due, bot, caplog, monkeypatch):
    monkeypatch.setattr(bot, "answer", lambda *_: None)
    with caplog.at_level(logging.INFO):
        due.look()
        until("it is told", lambda: "no answer could be judged: monitor probe show 1 tells why" in caplog.text)


def test_a_run_that_the_judge_refuses_has_failed(application):
    settings = application.settings
    refused = settings.model_copy(update={"llm": settings.llm.model_copy(update={"api_key": SecretStr("revoked")})})
    with Application(refused, now=application.now) as other:
        ended = run_probe(other, other.probing.probe("hourly"), stop=Event())
    assert (ended.run.state, isinstance(ended.error, Fatal)) == (RunState.FAILED, True)
    assert ended.run.error == f"0 of 3 questions were asked: {ended.error}"


@pytest.mark.parametrize("meant", [{"app": "shop"}, {"dialect": "events"}])
def test_options_of_a_source_without_one_are_refused_although_a_probe_is_scheduled(application, meant):
    with pytest.raises(WrongSettings, match="nothing to read"):
        serve(application, [], **{"app": None, "dialect": None, **meant}, stop=Event())


def test_a_mapping_without_files_is_refused_with_the_setting_for_topics(application):
    with pytest.raises(WrongSettings, match=r"--map is for files; .*MONITOR_KAFKA__BY_TOPIC"):
        serve(application, [], app=None, dialect=None, event_map=EventMap({"question": "q"}), stop=Event())


def test_a_run_that_somebody_breaks_off_was_stopped_and_did_not_fail(application):
    def broken_off(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_probe(application, application.probing.probe("hourly"), stop=Event(), report=broken_off)
    assert [run.state for run in runs(application)] == [RunState.STOPPED]


def test_a_path_that_finds_nothing_in_any_answer_is_told(due, caplog, tmp_path):
    with chatbot() as running:
        http = f"{{url: '{running.url}', body: '{{question}}', answer: $.answer, version: $.build}}"
        (tmp_path / "probes.yaml").write_text(
            f"probes: [{{name: web, app: shop, golden: refunds, every: 1h, target: {{http: {http}}}}}]"
        )
        due.look()
        until("it is told", lambda: "probe web: run 1: version: nothing stood at $.build in any answer" in caplog.text)


def test_while_the_file_is_wrong_its_last_good_probes_go_on_and_it_is_told_once(application, due, caplog, tmp_path):
    (tmp_path / "probes.yaml").write_text("probes: 3\n")
    for done in (1, 2):
        due.look()
        until("it is done", lambda n=done: [run.state for run in runs(application)] == [RunState.DONE] * n)
        until("its turn is over", lambda: not due._running)
        application.now.now += timedelta(hours=1)
    (told,) = (record.getMessage() for record in caplog.records if "the previous ones stay in force" in record.message)
    assert f"{tmp_path / 'probes.yaml'}:1:9: " in told
    (tmp_path / "probes.yaml").write_text(PROBES.replace("every: 1h, ", ""))
    due.look()
    assert due._running == {}


def test_a_wrong_file_or_no_judge_is_refused_at_the_start(application, tmp_path):
    (tmp_path / "probes.yaml").write_text("probes: 3\n")
    with pytest.raises(WrongSettings, match=r"probes\.yaml:1:9: "), scheduled_probes(application):
        pytest.fail("it began")


def test_without_a_judge_nothing_is_scheduled(tmp_path):
    (tmp_path / "probes.yaml").write_text(PROBES)
    settings = load_settings(probes=tmp_path / "probes.yaml", embedding={"provider": "hash"})
    with (
        Application(settings) as other,
        pytest.raises(WrongSettings),
        scheduled_probes(other),
    ):
        pytest.fail("it began")
    with Application(load_settings(embedding={"provider": "hash"})) as unset, scheduled_probes(unset):
        assert unset.probing.probes() == {}


def more():
    return [GoldenItem(id=f"m{n}", question=f"How long does refund m{n} take?", reference=RIGHT) for n in range(17)]
