from __future__ import annotations

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from monitor.app.wiring.application import Application
from monitor.cli.opening import only_app, opened
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import Settings


@pytest.fixture
def calls(monkeypatch):
    """What `opened` does with the application, in order."""
    seen = []
    monkeypatch.setattr(Application, "migrate", lambda _: seen.append("migrated"))
    monkeypatch.setattr(Application, "__exit__", lambda *_: seen.append("closed"))
    return seen


def test_the_tables_are_migrated_before_the_command_runs_and_everything_is_closed_after_it(calls, tmp_path):
    settings = Settings(state_dir=tmp_path)
    with opened(settings) as application:
        assert application.settings.state_dir == settings.state_dir
        calls.append("ran")
    assert calls == ["migrated", "ran", "closed"]


def test_a_command_may_leave_the_database_alone(calls, tmp_path):
    with opened(Settings(state_dir=tmp_path), migrated=False):
        calls.append("ran")
    assert calls == ["ran", "closed"]


def test_the_application_is_closed_when_the_command_fails(calls, tmp_path):
    with pytest.raises(RuntimeError, match="failed"), opened(Settings(state_dir=tmp_path)):
        raise RuntimeError("failed")
    assert calls == ["migrated", "closed"]


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        ([], "no answers are stored; `monitor replay FILE` stores some"),
        (["help", "shop"], "several apps have answers: help, shop; name one with --app"),
        ([f"a{n:02}" for n in range(12)], "a09 and 2 more; name one"),
    ],
)
def test_an_app_is_named_where_there_is_not_exactly_one(stored, told):
    several = SimpleNamespace(overview=SimpleNamespace(labels=lambda name: {name: stored}))
    with pytest.raises(WrongSettings, match=re.escape(told)):
        only_app(several, None)
    assert only_app(several, "shop") == "shop"


def test_the_only_app_need_not_be_named():
    assert only_app(SimpleNamespace(overview=SimpleNamespace(labels=lambda name: {name: ["shop"]})), None) == "shop"


def test_without_settings_those_in_force_are_read(calls, monkeypatch, tmp_path):
    monkeypatch.setenv("MONITOR_STATE_DIR", str(tmp_path))
    with opened(migrated=False) as application:
        assert application.settings.state_dir == tmp_path
    assert calls == ["closed"]


def test_help_waits_for_neither_the_wiring_nor_the_database_driver():
    code = """
import sys
from monitor.cli.app import app
try:
    app(["--help"])
except SystemExit:
    pass
sys.exit(",".join({"monitor.app.wiring.application", "onnxruntime", "sqlalchemy", "psycopg"} & set(sys.modules)) or 0)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stderr == ""
