"""`monitor alerts silence`: labels that no alert has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app as command_line
from monitor.store.alert.alerts import PostgresAlertStore
from tests.factories.alert.stored_alerts import FIRING, change, save

RULES = """
rules:
  - name: negative
    signal: {rate: negative}
    above: 0.5
    labels: {team: search}
"""


@pytest.fixture
def silence(database, tmp_path, monkeypatch):
    (tmp_path / "rules.yaml").write_text(RULES)
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.setenv("MONITOR_RULES", str(tmp_path / "rules.yaml"))

    def ran(*matchers):
        ended = CliRunner().invoke(command_line, ["alerts", "silence", *matchers, "--by", "ada"])
        assert ended.exit_code == 0, ended.exception
        return ended.stdout, ended.stderr

    return ran


def test_a_label_that_no_alert_has_is_told_with_the_nearest_one(silence):
    said, told = silence("sevrity!=info", "app=shop", "owner=ada", "sevrity!=critical")
    *lines, labels, ends = told.splitlines()
    assert lines == [
        "monitor: no alert has the label 'sevrity', so it counts as empty: did you mean severity?",
        "monitor: no alert has the label 'owner', so it counts as empty",
    ]
    assert labels == "  the labels are app, environment, model, probe, rule, severity, source, team, topic"
    assert ends == f"  monitor alerts unsilence {said.split()[0]} ends this silence"
    ended = CliRunner().invoke(command_line, ends.split()[1:4])
    assert "has ended" in ended.stdout


def test_labels_of_signals_and_rules_and_stored_alerts_are_known(silence, engine, tmp_path):
    save(PostgresAlertStore(engine), change(None, replace(FIRING, labels={"app": "shop", "region": "eu"})))
    assert silence("app=shop", 'topic=~"refund.*"', "source!=a", "probe=b", "rule=c", "severity=d", "team=e")[1] == ""
    said, told = silence("region=eu")
    assert (said.splitlines()[1], told) == ("active alerts that it silences: negative-rate", "")
    (tmp_path / "rules.yaml").write_text("rules: 3\n")
    assert silence("app=shop")[1] == ""
    assert "no alert has the label 'team'" in silence("team=e")[1]
