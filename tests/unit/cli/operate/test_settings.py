"""What `monitor settings` shows of values that are foreign text, or hold credentials, or are long."""

from __future__ import annotations

import re

import pytest

from monitor.cli.operate.doctor import settings

VALUES = {
    "MONITOR_KAFKA__TOPIC_PATTERN": "[/a]b+",
    "MONITOR_LLM__BASE_URL": "https://ada:TOPSECRET1@llm.example.org/v1?key=TOPSECRET2",
    "MONITOR_EMBEDDING__BASE_URL": "https://TOPSECRET3@llm.example.org/v1",
    "MONITOR_PUBLIC_URL": "https://ada:TOP/SECRET@monitor.example.org",
    "MONITOR_LLM__MODEL": "[bold]model[/bold] \x1b[31m",
}


@pytest.fixture(autouse=True)
def _set(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for name, value in VALUES.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("as_json", [False, True])
def test_values_are_shown_as_they_are_and_credentials_are_not(capsys, as_json):
    settings(as_json=as_json)
    shown = capsys.readouterr().out
    assert "[/a]b+" in shown
    assert "[bold]model[/bold]" in shown
    assert "\x1b" not in shown
    assert "llm.example.org/v1" in shown
    assert "TOPSECRET" not in shown
    assert "TOP/SECRET" not in shown


def test_a_long_value_can_be_copied_in_one_piece(capsys, monkeypatch):
    path = "/var/lib/" + "-".join(["monitor"] * 20)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("MONITOR_STATE_DIR", path)
    settings()
    assert re.search(rf"^MONITOR_STATE_DIR +{path}$", capsys.readouterr().out, re.MULTILINE)
