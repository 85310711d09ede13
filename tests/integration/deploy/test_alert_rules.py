"""The alerts about monitor itself, by promtool: each fires on its fault, and not where all is well."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers.prometheus import ROOT, alerts_about_monitor, program

FOLDER = ROOT / "deploy" / "prometheus"
RULES = alerts_about_monitor()
EXAMPLE = "https://git.example/monitor/blob/main"  # where the links lead until a reader has set them
PAGE = (ROOT / "docs" / "operate" / "metrics.md").read_text(encoding="utf-8")
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


WELL = {"monitor_up": lasting(1), "monitor_figures_age_seconds": lasting(2)}
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


def promtool(folder: Path, *tests: dict[str, object], every: str = "1m") -> None:
    """Plays series to the rules, which are evaluated `every` so often; fails with what promtool says."""
    known = {"rule_files": [str(FOLDER / "rules.yaml")], "evaluation_interval": every, "tests": tests}
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


@dataclass(frozen=True, kw_only=True)
class Story:
    """Series by name, and each alert that ever fires, with its labels and the minutes from and to which it does."""

    series: dict[str, str]
    fires: dict[str, tuple[int, int]]
    every: int = 1  # minutes between samples
    evaluated: int = 1  # minutes between evaluations
    until: int = 3 * HOUR  # minutes


def figures(**labels: str) -> dict[str, str]:
    """An installation whose figures are read, and whose rules are evaluated."""
    named = ", ".join(f'{name}="{value}"' for name, value in labels.items())
    return {
        f"monitor_up{{{named}}}": lasting(1),
        f"monitor_figures_age_seconds{{{named}}}": lasting(2),
        f'monitor_rule_evaluated_timestamp_seconds{{{named + ", " * bool(named)}rule="a"}}': growing(0, 60),
    }


def old_numbers(values: str) -> dict[str, str]:
    """What was lost and given up long ago, all with the same values."""
    return {
        'monitor_notifications_given_up{receiver="slack"}': values,
        'monitor_pending{kind="judge", state="given_up"}': values,
        'monitor_dead_letters{source="rag"}': values,
        'monitor_offsets_skipped_total{source="rag", reason="expired"}': values,
    }


OUTAGE = {  # from minute 60 to 90
    "monitor_up": "1x59 stale _x29 1x90",
    "monitor_figures_age_seconds": "2x59 stale _x29 2x90",
    'monitor_rule_evaluated_timestamp_seconds{rule="a"}': "0+60x59 stale _x29 5400+60x90",
}
UNSEEN = {"MonitorUnseen": (65, 89)}
STORIES = {
    "a gap in the data is no rise": Story(series={**OUTAGE, **old_numbers("3x59 stale _x29 3x90")}, fires=UNSEEN),
    "a short gap is none either": Story(series={**figures(), **old_numbers("3x59 _x7 3x120")}, fires={}),
    "numbers that fall are no rise": Story(series={**figures(), **old_numbers("9x59 4x120")}, fires={}),
    "what is old is not new to a new Prometheus": Story(series={**figures(), **old_numbers(lasting(3))}, fires={}),
    "a new Prometheus sees what rises in its first hour": Story(
        series={**figures(), **old_numbers("3x9 4x180")},
        fires={
            'MonitorNotificationsGivenUp{receiver="slack"}': (11, 69),
            'MonitorPendingGivenUp{kind="judge"}': (11, 69),
            'MonitorMessagesLost{source="rag", reason="expired"}': (11, 69),
            'MonitorDeadLetters{source="rag"}': (15, 24),
        },
    ),
    "a loss is counted when reading goes on after an outage": Story(
        series={**OUTAGE, 'monitor_offsets_skipped_total{source="rag", reason="expired"}': "0x59 stale _x29 5000x90"},
        fires={**UNSEEN, 'MonitorMessagesLost{source="rag", reason="expired"}': (91, 149)},
    ),
    "an outage of ten days": Story(
        series={
            "monitor_up": "1x23 stale _x2879 1x48",
            "monitor_figures_age_seconds": "2x23 stale _x2879 2x48",
            'monitor_rule_evaluated_timestamp_seconds{rule="a"}': "0+300x23 stale _x2879 871200+300x48",
            'monitor_offsets_skipped_total{source="rag", reason="expired"}': "0x23 stale _x2879 5000x48",
        },
        fires={
            "MonitorUnseen": (135, 14_505),
            'MonitorMessagesLost{source="rag", reason="expired"}': (14_535, 14_565),
        },
        every=5,
        evaluated=15,
        until=14_640,
    ),
    "a restart gives the figures another instance": Story(
        series={
            **figures(),
            'monitor_offsets_skipped_total{instance="one", source="rag", reason="expired"}': "0x59",
            'monitor_offsets_skipped_total{instance="two", source="rag", reason="expired"}': "_x70 5000x110",
            'monitor_notifications_given_up{instance="one", receiver="slack"}': "5x59",  # purged while it was down
            'monitor_notifications_given_up{instance="two", receiver="slack"}': "_x70 0x9 1x100",
        },
        fires={
            'MonitorMessagesLost{source="rag", reason="expired"}': (71, 129),
            'MonitorNotificationsGivenUp{receiver="slack"}': (131, 139),
        },
    ),
    "a series begins at its number": Story(
        series={
            **figures(),
            'monitor_dead_letters{source="new"}': "_x90 400x90",
            'monitor_offsets_skipped_total{source="new", reason="unreadable"}': "_x90 20x90",
        },
        fires={
            'MonitorDeadLetters{source="new"}': (95, 104),
            'MonitorMessagesLost{source="new", reason="unreadable"}': (91, 149),
        },
    ),
    "two installations: the database of one is away": Story(
        series={
            **figures(installation="staging"),
            'monitor_up{installation="production"}': "1x59 0x120",
            'monitor_figures_age_seconds{installation="production"}': "2x59 stale",
            'monitor_rule_evaluated_timestamp_seconds{installation="production", rule="a"}': "0+60x59 stale",
        },
        fires={'MonitorDatabaseAway{installation="production"}': (62, 180)},
    ),
    "two installations: one evaluates nothing": Story(
        series={
            **figures(installation="staging"),
            **figures(installation="production"),
            'monitor_rule_evaluated_timestamp_seconds{installation="production", rule="a"}': "0+60x59 3540x120",
        },
        fires={'MonitorNothingEvaluates{installation="production"}': (65, 180)},
    ),
    "two installations: one is out of sight": Story(
        series={
            **figures(installation="staging"),
            'monitor_up{installation="production"}': "1x59 stale",
            'monitor_figures_age_seconds{installation="production"}': "2x59 stale",
            'monitor_rule_evaluated_timestamp_seconds{installation="production", rule="a"}': "0+60x59 stale",
            'monitor_build_info{installation="never seen"}': "1x180",
        },
        fires={
            'MonitorUnseen{installation="production"}': (65, 180),
            'MonitorUnseen{installation="never seen"}': (5, 180),
        },
    ),
    "two installations: one loses what the other has lost long ago": Story(
        series={
            **figures(installation="staging"),
            **figures(installation="production"),
            'monitor_notifications_given_up{installation="staging", receiver="slack"}': lasting(7),
            'monitor_notifications_given_up{installation="production", receiver="slack"}': "0x99 1x80",
        },
        fires={'MonitorNotificationsGivenUp{installation="production", receiver="slack"}': (101, 159)},
    ),
    "a single daily run fails": Story(
        series={
            **figures(),
            f'{STAGE}_count{{stage="probe", outcome="done"}}': lasting(5),
            f'{STAGE}_count{{stage="probe", outcome="failed"}}': "0x60 1x120",
            f'{STAGE}_count{{stage="report", outcome="failed"}}': "_x60 1x120",
        },
        fires={},
    ),
    "many attempts fail at once, and no more": Story(
        series={**figures(), f'{STAGE}_count{{stage="chat", outcome="failed"}}': "0x60 40x120"}, fires={}
    ),
    "rules were never evaluated": Story(
        series={"monitor_up": lasting(1), "monitor_figures_age_seconds": lasting(2)},
        fires={"MonitorNothingEvaluates": (3, 180)},
    ),
    "rules are evaluated every five minutes": Story(
        series={
            **WELL,
            'monitor_rule_evaluated_timestamp_seconds{rule="a"}': " ".join(f"{60 * n}x4" for n in range(0, 181, 5)),
        },
        fires={},
    ),
    "the figures of a slow database come and go": Story(
        series={
            "monitor_up": lasting(1),
            "monitor_figures_age_seconds": " ".join(["30 90 stale stale stale"] * 36),
            'monitor_rule_evaluated_timestamp_seconds{rule="a"}': " ".join(
                f"{300 * n} {300 * n} stale stale stale" for n in range(36)
            ),
            'monitor_notifications_given_up{receiver="slack"}': " ".join(["3 3 stale stale stale"] * 36),
        },
        fires={},
    ),
    "a receiver was taken out of the settings": Story(  # its notifications are given up a day after they were made
        series={**figures(), 'monitor_notifications_waiting{receiver="teams"}': "0x9 3x60 0x110"},
        fires={'MonitorNotificationsLate{receiver="teams"}': (20, 70)},
    ),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=list(STORIES))
def test_in_each_story_those_alerts_fire_and_no_others(story, tmp_path):
    """From the first minute to the last, without a break."""
    of = "alertname, installation, source, reason, kind, receiver, stage"
    minutes = f'timestamp(ALERTS{{alertstate="firing"}})[{story.until + story.evaluated}m:{story.evaluated}m]'
    rounds = {alert: (last - first) // story.evaluated + 1 for alert, (first, last) in story.fires.items()}
    expected: dict[str, dict[str, float]] = {
        f"min by ({of}) (min_over_time({minutes})) / 60": {alert: first for alert, (first, _) in story.fires.items()},
        f"max by ({of}) (max_over_time({minutes})) / 60": {alert: last for alert, (_, last) in story.fires.items()},
        f"max by ({of}) (count_over_time({minutes}))": rounds,
    }
    checks = [
        {
            "expr": query,
            "eval_time": f"{story.until}m",
            "exp_samples": [{"labels": _labels(alert), "value": value} for alert, value in values.items()],
        }
        for query, values in expected.items()
    ]
    test = {"interval": f"{story.every}m", "input_series": series(story.series), "promql_expr_test": checks}
    promtool(tmp_path, test, every=f"{story.evaluated}m")


def _labels(alert: str) -> str:
    name, _, others = alert.removesuffix("}").partition("{")
    return "{" + ", ".join(filter(None, [f'alertname="{name}"', others])) + "}"


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
