"""The package of docs/develop/extend.md, really installed, in use; and packages that cannot be used."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from monitor.alert.receivers import configured
from monitor.app.doctor import parts
from monitor.assess.judge.judge import Judge
from monitor.assess.judge.metric import Case
from monitor.assess.judge.registry import metrics
from monitor.core.errors import WrongSettings
from monitor.core.installed import plugins
from monitor.core.settings.load import load_settings
from monitor.core.settings.sections import IngestSettings, JudgeSettings
from monitor.ingest.decode import Decoder
from tests.factories.alert.notifications import a_notification
from tests.factories.answers import a_message
from tests.servers.webhook import http_server

PAGE = (Path(__file__).parents[3] / "docs" / "develop" / "extend.md").read_text(encoding="utf-8")
EVENT = {"acme": 1, "id": "a-1", "ask": "How long?", "said": "30 days.", "pages": ["30 days."]}


@pytest.fixture(autouse=True)
def _looked_through_anew():
    plugins._points.cache_clear()
    yield
    plugins._points.cache_clear()
    for name in ("acme_monitor", "other"):
        sys.modules.pop(name, None)


@pytest.fixture
def acme(tmp_path, monkeypatch):
    """The package as the page has it, built and installed into a folder."""
    package, folder = tmp_path / "acme-monitor", tmp_path / "site"
    package.mkdir()
    for name, kind in (("pyproject.toml", "toml"), ("acme_monitor.py", "python")):
        (package / name).write_text(re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[1])
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--quiet", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder), str(package)]
    subprocess.run(command, check=True)
    monkeypatch.syspath_prepend(folder)


@pytest.mark.usefixtures("acme")
def test_a_package_adds_a_dialect_a_receiver_and_a_metric(monkeypatch):
    for dialect in ("auto", "acme"):
        settings = IngestSettings(dialect=dialect)
        read = Decoder(dialect=settings.dialect, app="bot").decode(a_message(json.dumps(EVENT).encode()))
        assert (read.id, read.question, read.answer, read.app) == ("a-1", "How long?", "30 days.", "bot")
    (letter,) = Decoder().decode_batch([a_message(b'{"acme": 1, "ask": 5}')]).dead_letters
    assert letter.path == "ask"

    assert "pager" not in configured(load_settings())
    with http_server() as server:
        monkeypatch.setenv("ACME_PAGER_URL", server.url)
        configured(load_settings())["pager"].send(a_notification())
    assert server.requests[0].json["text"]

    assert JudgeSettings(metrics=("brevity",)).metrics == ("brevity",)
    case = Case(question="?", answer="word " * 100, documents=())
    assert metrics()["brevity"](case, None).score == 0.5
    model = type("Model", (), {"model": "none"})()
    (judgement,) = Judge(model, None, metrics=("brevity",), mode="separate").judge(case)
    assert (judgement.metric, judgement.outcome.score) == ("brevity", 0.5)

    found = parts.check_plugins(None)
    assert found in PAGE
    assert "dialect acme of acme-monitor 1.0" in found


@pytest.mark.parametrize(
    ("entries", "code", "problem"),
    [
        ("monitor.dialects|native = other:D", "D = 1", "the name 'native' is monitor's own"),
        ("monitor.dialects|auto = other:D", "D = 1", "the name 'auto' is monitor's own"),
        ("monitor.dialects|mine = other:D", "D = 1", "it must be a monitor.ingest.dialects.dialect.Dialect"),
        ("monitor.dialects|mine = other:D", "import nowhere_at_all", "cannot be loaded: ModuleNotFoundError"),
        ("monitor.dialects|mine = other:D", "raise SystemError('boom')", "cannot be loaded: SystemError: boom"),
        ("monitor.dialects|mine = other:missing", "", "cannot be loaded: AttributeError"),
    ],
)
def test_a_package_that_cannot_be_used_is_named(tmp_path, monkeypatch, entries, code, problem):
    announce(tmp_path, "other-package", *entries.split("|"))
    (tmp_path / "other.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(WrongSettings) as raised:
        Decoder()
    assert str(raised.value).startswith(f"other-package 2.0, entry point '{entries.split('|')[1].split()[0]}'")
    assert problem in str(raised.value)


def test_a_name_that_two_packages_give_is_refused(tmp_path, monkeypatch):
    announce(tmp_path, "one-package", "monitor.metrics", "mine = other:metric")
    announce(tmp_path, "two-package", "monitor.metrics", "mine = other:metric")
    (tmp_path / "other.py").write_text("def metric(case, asker): ...")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(WrongSettings, match=r"two-package 2\.0, .* the name 'mine' is taken by one-package 2\.0"):
        metrics()


def test_a_setting_that_names_nothing_lists_what_there_is():
    with pytest.raises(ValidationError, match="must be one of auto, native, cloudevents"):
        IngestSettings(dialect="nativ")
    with pytest.raises(ValidationError, match="must be one of faithfulness"):
        JudgeSettings(metrics=("faith",))


def announce(folder, package, group, entry):
    info = folder / f"{package.replace('-', '_')}-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
