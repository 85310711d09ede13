"""The alerts about monitor itself, by promtool: each fires on its fault, and not where all is well."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.servers.prometheus import program

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "prometheus"
RULES = [rule for group in YAML(typ="safe").load(FOLDER / "rules.yaml")["groups"] for rule in group["rules"]]
DOCS = "https://docs.example"
HOUR = 60  # minutes; a sample a minute
STAGE = "monitor_stage_duration_seconds"


@dataclass(frozen=True, kw_only=True)
class Case:
    """Series by name, as promtool writes them, and when the alert fires."""

    fault: dict[str, str]
    healthy: dict[str, str]
    at: int  # minutes
    labels: str = ""


def lasting(value: float, minutes: int = 3 * HOUR) -> str:
    return f"{value}x{minutes}"


def growing(first: float, by: float, minutes: int = 3 * HOUR) -> str:
    return f"{first}{by:+}x{minutes}"


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


WELL = {"monitor_up": lasting(1)}
CASES = {
    "MonitorDown": Case(
        fault={'up{job="monitor", instance="a"}': "1x5 0x60"},
        healthy={'up{job="other"}': lasting(0), 'up{job="rag/monitor-consumer"}': lasting(1)},
        at=10,
    ),
    "MonitorUnseen": Case(fault={"up": lasting(1)}, healthy=WELL, at=10),
    "MonitorDatabaseAway": Case(fault={"monitor_up": "1x5 0x60"}, healthy={"monitor_up": "1x5 0 1x60"}, at=10),
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
    "MonitorPendingGivenUp": Case(
        fault={'monitor_pending{kind="judge", state="given_up"}': "_x20 3x60"},  # the first ones that ever were
        healthy={'monitor_pending{kind="judge", state="given_up"}': lasting(3)},
        at=70,
        labels='kind="judge"',
    ),
    "MonitorNotificationsLate": Case(
        fault={'monitor_notifications_waiting{receiver="slack"}': "0x5 2x60"},
        healthy={'monitor_notifications_waiting{receiver="slack"}': "0x5 2x5 0x60"},
        at=20,
        labels='receiver="slack"',
    ),
    "MonitorNotificationsGivenUp": Case(
        fault={'monitor_notifications_given_up{receiver="slack"}': "_x20 1x60"},
        healthy={'monitor_notifications_given_up{receiver="slack"}': lasting(1)},  # told long ago
        at=70,
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
}


def promtool(folder: Path, test: dict[str, object]) -> None:
    known = {"rule_files": [str(FOLDER / "rules.yaml")], "evaluation_interval": "1m", "tests": [test]}
    (folder / "test.yaml").write_text(json.dumps(known))
    done = subprocess.run(
        [program("promtool"), "test", "rules", str(folder / "test.yaml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def series(of: dict[str, str]) -> list[dict[str, str]]:
    return [{"series": name, "values": values} for name, values in of.items()]


def test_each_alert_has_its_case():
    assert [rule["alert"] for rule in RULES] == list(CASES)


@pytest.mark.parametrize("alert", CASES)
def test_each_alert_fires_on_its_fault_and_only_then(alert, tmp_path):
    case = CASES[alert]
    firing = f'count by (alertname, source, reason, kind, receiver, witness, stage) (ALERTS{{alertname="{alert}", '
    firing += 'alertstate="firing"})'
    labels = ", ".join(filter(None, [f'alertname="{alert}"', case.labels]))
    for given, expected in ((case.fault, [{"labels": f"{{{labels}}}", "value": 1}]), (case.healthy, [])):
        test = {"expr": firing, "eval_time": f"{case.at}m", "exp_samples": expected}
        promtool(tmp_path, {"interval": "1m", "input_series": series(given), "promql_expr_test": [test]})


def test_an_alert_says_what_is_wrong_and_links_its_runbook(tmp_path):
    expected = {
        "exp_labels": {"severity": "critical", "job": "monitor", "instance": "a"},
        "exp_annotations": {
            "summary": "a of the job monitor has not answered for three minutes.",
            "runbook_url": f"{DOCS}/docs/on-call/watching-monitor.md#monitordown",
        },
    }
    test = {"eval_time": "10m", "alertname": "MonitorDown", "exp_alerts": [expected]}
    promtool(
        tmp_path,
        {
            "interval": "1m",
            "input_series": series(CASES["MonitorDown"].fault),
            "external_labels": {"monitor_docs": DOCS},
            "alert_rule_test": [test],
        },
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_each_alert_waits_a_moment_and_says_how_bad_it_is(rule):
    assert rule["for"]
    assert rule["labels"] in ({"severity": "critical"}, {"severity": "warning"})
    assert set(rule["annotations"]) == {"summary", "runbook_url"}
    anchor = f"/docs/on-call/watching-monitor.md#{rule['alert'].lower()}"
    assert rule["annotations"]["runbook_url"] == "{{ $externalLabels.monitor_docs }}" + anchor


@pytest.mark.parametrize("number", range(3))
def test_promtool_accepts_what_the_page_shows(number, tmp_path):
    page = (ROOT / "docs" / "operate" / "metrics.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 3
    (tmp_path / "shown.yaml").write_text(blocks[number])
    shutil.copy(FOLDER / "rules.yaml", tmp_path)  # the third names it
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
