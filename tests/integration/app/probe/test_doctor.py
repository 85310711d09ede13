"""What the doctor says of probes: what they ask, and the newest run of each scheduled one."""

from __future__ import annotations

from datetime import timedelta
from threading import Event

import pytest

from monitor.app.doctor.examine import examine
from monitor.app.doctor.probes import check_probes
from monitor.app.doctor.services import check_language_models
from monitor.app.doctor.words import Warned
from monitor.app.probe.run import run_probe
from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from monitor.probe.golden import GoldenItem
from tests.factories.answers import at
from tests.servers.llm import CHAT_MODEL, KEY, llm_server
from tests.servers.llm.conversing import conversing

BY_HAND = "probes:\n  - {name: faq, app: shop, golden: refunds, target: {command: [./bot]}}\n"
SCHEDULED = BY_HAND.replace("golden: refunds,", "golden: refunds, every: 1h,")
ITEMS = [GoldenItem(id=f"q{n}", question=f"How long does refund {n} take?", reference="14 days.") for n in range(3)]


@pytest.fixture
def open_with(database, tmp_path, monkeypatch):
    """An installation whose chatbot answers every question; `llm` are its settings of the language model."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    answers(tmp_path, "cat > /dev/null; echo 14 days.")

    def opened(text, **llm):
        (tmp_path / "probes.yaml").write_text(text)
        settings = load_settings(
            database_url=database, embedding={"provider": "hash"}, llm=llm, probes=tmp_path / "probes.yaml"
        )
        return Application(settings, now=lambda: at(0))

    return opened


@pytest.fixture
def judge():
    with llm_server(answer=conversing) as server:
        yield {"base_url": server.base_url, "api_key": KEY, "model": CHAT_MODEL}


def answers(folder, script):
    (folder / "bot").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "bot").chmod(0o755)


def saved(application):
    application.probing.golden.save("refunds", ITEMS, by="ada", now=at(0) - timedelta(days=1))


def ran(application, **more):
    return run_probe(application, application.probing.probe("faq"), stop=Event(), **more).run.number


def test_a_scheduled_probe_whose_newest_run_judged_too_little_is_a_warning_that_names_the_run(
    open_with, judge, tmp_path
):
    with open_with(SCHEDULED, **judge) as application:
        saved(application)
        assert ran(application) == 1
        assert check_probes(application) == "1 probe: faq"
        answers(tmp_path, "exit 1")
        assert ran(application) == 2
        found = check_probes(application)
        assert isinstance(found, Warned)
        assert found.detail.startswith("run 2 of faq: 0 of 3 questions judged")
        assert found.mended_by == "`monitor probe show 2`"
        (line,) = (finding for finding in examine(application) if finding.check == "probes")
        assert (line.good, line.mended_by) == (True, "`monitor probe show 2`")
        answers(tmp_path, "cat > /dev/null; echo 14 days.")
        assert ran(application, candidate=True) == 3
        assert isinstance(check_probes(application), Warned)  # a candidate's run says nothing of what is deployed
        assert ran(application) == 4
        assert check_probes(application) == "1 probe: faq"


def test_a_probe_that_runs_by_hand_is_not_warned_of(open_with, judge, tmp_path):
    answers(tmp_path, "exit 1")
    with open_with(BY_HAND, **judge) as application:
        saved(application)
        assert ran(application) == 1
        assert check_probes(application) == "1 probe: faq"


def test_the_model_that_judges_probes_is_asked(open_with, judge):
    with open_with(BY_HAND, **judge) as application:
        assert f"judge of probes: {CHAT_MODEL} answers" in check_language_models(application)
    with open_with(BY_HAND) as application:
        saved(application)
        assert check_probes(application) == "1 probe: faq"
        with pytest.raises(WrongSettings, match="the probe needs a model: set MONITOR_LLM__MODEL"):
            check_language_models(application)


def test_a_golden_set_that_is_missing_is_told_with_the_command_that_makes_it(open_with):
    with (
        open_with(BY_HAND) as application,
        pytest.raises(WrongSettings, match=r"make it with monitor golden import FILE --set refunds$"),
    ):
        check_probes(application)
