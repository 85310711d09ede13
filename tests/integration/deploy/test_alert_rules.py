"""The alerts about monitor itself, by promtool: each fires on its fault, and not where all is well."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

import pytest

from tests.rig.deploy.promtool import FOLDER, HOUR, STAGE, WELL, growing, lasting, promtool, series
from tests.servers.prometheus import ROOT, alerts_about_monitor, program

RULES = alerts_about_monitor()
EXAMPLE = "https://git.example/monitor/blob/main"  # where the links lead until a reader has set them
PAGE = (ROOT / "docs" / "operate" / "metrics.md").read_text(encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class Case:
    """Series by name, as promtool writes them, and when the alert fires."""

    fault: dict[str, str]
    healthy: dict[str, str]
    at: int  # minutes
    labels: str = ""


def stage(name: str, seconds: float, *, outcome: str = "done") -> dict[str, str]:
    """A stage that always takes so long."""
    labels = f'stage="{name}", outcome="{outcome}"'
    buckets = {
        f'{STAGE}_bucket{{{labels}, le="{le}"}}': growing(0, 10) if seconds <= float(le) else lasting(0)
        for le in ("0.1", "1", "5", "30", "60", "300", "+Inf")
    }
    return {**buckets, f"{STAGE}_count{{{labels}}}": growing(0, 10)}


def rounds(seconds: float) -> dict[str, str]:
    return {
        f'monitor_evaluation_duration_seconds_bucket{{outcome="done", le="{le}"}}': growing(0, 4)
        if seconds <= float(le)
        else lasting(0)
        for le in ("1", "60", "120", "+Inf")
    }


CASES = {
    "MonitorDown": Case(
        fault={'up{job="monitor", instance="a"}': "1x5 0x60"},
        healthy={'up{job="other"}': lasting(0), 'up{job="rag/monitor-consumer"}': lasting(1)},
        at=10,
    ),
    "MonitorUnseen": Case(fault={"up": lasting(1)}, healthy=WELL, at=10),
    "MonitorDatabaseAway": Case(fault={"monitor_up": "1x5 0x60"}, healthy={"monitor_up": "1x5 0 1x60"}, at=10),
    "MonitorFiguresMissing": Case(
        fault={"monitor_up": lasting(1), "monitor_figures_age_seconds": "2x5"},
        healthy={"monitor_up": "1x5 0x60", "monitor_figures_age_seconds": "2x5"},  # another alert's
        at=30,
    ),
    "MonitorDatabaseSlow": Case(fault=stage("store", 20), healthy=stage("store", 1), at=30),
    "MonitorNothingEvaluates": Case(
        fault={'monitor_rule_evaluated_timestamp_seconds{rule="a"}': lasting(60)},
        # a rule that was removed is not evaluated any more; others are
        healthy={
            'monitor_rule_evaluated_timestamp_seconds{rule="a"}': growing(0, 60),
            'monitor_rule_evaluated_timestamp_seconds{rule="gone"}': lasting(0),
        },
        at=10,
    ),
    "MonitorEvaluationSlow": Case(fault=rounds(100), healthy=rounds(1), at=60),
    "MonitorLagGrows": Case(
        fault={'monitor_lag_seconds{source="rag"}': growing(0, 60)},
        healthy={'monitor_lag_seconds{source="rag"}': growing(7_200, -30)},  # far behind, and catching up
        at=30,
        labels='source="rag"',
    ),
    "MonitorLedgerUnbalanced": Case(
        fault={'monitor_ledger_unbalanced_partitions{source="rag"}': "0x5 1x60"},
        healthy={'monitor_ledger_unbalanced_partitions{source="rag"}': lasting(0)},
        at=10,
        labels='source="rag"',
    ),
    "MonitorPendingGrows": Case(
        fault={'monitor_pending{kind="judge", state="waiting"}': growing(0, 10)},
        healthy={'monitor_pending{kind="judge", state="waiting"}': growing(9_000, -10)},
        at=2 * HOUR,
        labels='kind="judge"',
    ),
    "MonitorNotificationsLate": Case(
        fault={'monitor_notifications_waiting{receiver="slack"}': "0x5 2x60"},
        healthy={'monitor_notifications_waiting{receiver="slack"}': "0x5 2x5 0x60"},
        at=20,
        labels='receiver="slack"',
    ),
    "MonitorAuditNotSealed": Case(
        fault={"monitor_audit_waiting_seconds": growing(0, 60)},
        healthy={"monitor_audit_waiting_seconds": lasting(20)},
        at=30,
    ),
    "MonitorAuditRefused": Case(
        fault={'monitor_audit_refused{witness="w"}': lasting(1)},
        healthy={'monitor_audit_refused{witness="w"}': lasting(0)},
        at=10,
        labels='witness="w"',
    ),
    "MonitorRetentionRefused": Case(
        fault={
            'monitor_retention_refused{instance="a"}': lasting(1),
            'monitor_retention_refused{instance="b"}': "0x60",
        },
        healthy={"monitor_retention_refused": lasting(0)},
        at=10,
    ),
    "MonitorTracesOverdue": Case(
        fault={"monitor_traces_overdue_seconds": growing(0, 60)},
        healthy={"monitor_traces_overdue_seconds": lasting(8)},
        at=20,
    ),
    "MonitorStageSlow": Case(
        fault=stage("assess", 100),
        healthy={**stage("assess", 20), **stage("report", 200)},  # a report may take its time
        at=60,
        labels='stage="assess"',
    ),
    "MonitorStageFails": Case(
        fault=stage("chat", 1, outcome="failed"),
        healthy={**stage("chat", 1), f'{STAGE}_count{{stage="chat", outcome="failed"}}': growing(0, 1)},
        at=40,
        labels='stage="chat"',
    ),
    "MonitorMessagesLost": Case(
        fault={'monitor_offsets_skipped_total{source="rag", reason="expired"}': "0x10 7x60"},
        healthy={'monitor_offsets_skipped_total{source="rag", reason="tombstone"}': growing(0, 5)},
        at=20,
        labels='source="rag", reason="expired"',
    ),
    "MonitorDeadLetters": Case(
        fault={'monitor_dead_letters{source="rag"}': growing(0, 1)},
        healthy={'monitor_dead_letters{source="rag"}': lasting(12)},
        at=20,
        labels='source="rag"',
    ),
    "MonitorPendingGivenUp": Case(
        # the first ones that ever were
        fault={**WELL, 'monitor_pending{kind="judge", state="given_up"}': "_x20 3x60"},
        healthy={'monitor_pending{kind="judge", state="given_up"}': lasting(3)},
        at=70,
        labels='kind="judge"',
    ),
    "MonitorNotificationsGivenUp": Case(
        fault={**WELL, 'monitor_notifications_given_up{receiver="slack"}': "_x20 1x60"},
        healthy={'monitor_notifications_given_up{receiver="slack"}': lasting(1)},  # told long ago
        at=70,
        labels='receiver="slack"',
    ),
}


def test_each_alert_has_its_case():
    assert [rule["alert"] for rule in RULES] == list(CASES)


@pytest.mark.parametrize("alert", CASES)
def test_each_alert_fires_on_its_fault_and_only_then(alert, tmp_path):
    case = CASES[alert]
    firing = f'count by (alertname, source, reason, kind, receiver, witness, stage) (ALERTS{{alertname="{alert}", '
    firing += 'alertstate="firing"})'
    labels = ", ".join(filter(None, [f'alertname="{alert}"', case.labels]))
    promtool(
        tmp_path,
        *(
            {
                "interval": "1m",
                "input_series": series(given),
                "promql_expr_test": [{"expr": firing, "eval_time": f"{case.at}m", "exp_samples": expected}],
            }
            for given, expected in ((case.fault, [{"labels": f"{{{labels}}}", "value": 1}]), (case.healthy, []))
        ),
    )


AWAY = "The database has not answered for two minutes; nothing is stored or evaluated meanwhile."
SAID = {"": AWAY, "production": f"production: {AWAY}"}


@pytest.mark.parametrize("installation", SAID)
def test_an_alert_says_what_is_wrong_and_where_and_links_its_runbook(installation, tmp_path):
    labels = {"installation": installation} if installation else {}
    expected = {
        "exp_labels": {"severity": "critical", **labels},
        "exp_annotations": {
            "summary": SAID[installation],
            "runbook_url": f"{EXAMPLE}/docs/on-call/watching-monitor.md#monitordatabaseaway",
        },
    }
    test = {"eval_time": "10m", "alertname": "MonitorDatabaseAway", "exp_alerts": [expected]}
    away = {f'monitor_up{{installation="{installation}"}}': "1x5 0x60"}
    promtool(tmp_path, {"interval": "1m", "input_series": series(away), "alert_rule_test": [test]})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_each_alert_waits_a_moment_and_says_how_bad_it_is(rule):
    assert rule["for"]
    assert rule["labels"] in ({"severity": "critical"}, {"severity": "warning"})
    assert set(rule["annotations"]) == {"summary", "runbook_url"}
    anchor = f"/docs/on-call/watching-monitor.md#{rule['alert'].lower()}"
    assert rule["annotations"]["runbook_url"] == EXAMPLE + anchor


def test_the_command_of_the_page_sets_the_links(tmp_path):
    """Put into a copy, with the address of the reader."""
    (command,) = re.findall(r"^(sed .*rules\.yaml)$", PAGE, re.MULTILINE)
    (new,) = re.findall(r"\|(https://[^|]*)\|' rules", command)
    shutil.copy(FOLDER / "rules.yaml", tmp_path)
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    before, after = (folder.joinpath("rules.yaml").read_text() for folder in (FOLDER, tmp_path))
    assert after == before.replace(EXAMPLE, new)
    assert after.count(f'runbook_url: "{new}/docs/on-call/') == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_each_alert_tells_installations_apart(rule):
    """`up` of a target has all its labels; whatever is aggregated keeps the installation."""
    by = re.findall(r"\b(?:by|on) \(([^)]*)\)", rule["expr"])
    assert all("installation" in labels or labels == "" for labels in by)
    assert not re.search(r"\b(?:max|min|sum|count|group)\(", rule["expr"])
    if rule["alert"] != "MonitorDown":
        assert rule["annotations"]["summary"].startswith("{{ with $labels.installation }}{{ . }}: {{ end }}")


@pytest.mark.parametrize("number", range(4))
def test_promtool_accepts_what_the_page_shows(number, tmp_path):
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 4
    (tmp_path / "shown.yaml").write_text(blocks[number])
    shutil.copy(FOLDER / "rules.yaml", tmp_path)  # the last names it
    done = subprocess.run(
        [program("promtool"), "check", "config", str(tmp_path / "shown.yaml")], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [("config", "prometheus.yaml"), ("rules", "rules.yaml")], ids=lambda one: one[1])
def test_promtool_accepts_the_files(command):
    kind, name = command
    done = subprocess.run(
        [program("promtool"), "check", kind, str(FOLDER / name)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout
