"""The page of the metrics names those that there are, and each alert about monitor itself has its runbook."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from monitor.app.metrics.installation import MetricName
from monitor.app.metrics.process import ProcessMetricName
from monitor.core.stage import StageName
from tests.servers.prometheus import alerts_about_monitor
from tests.unit.docs.test_links import ROOT, anchors
from tests.unit.docs.test_runbooks import QUESTIONS

PAGE = (ROOT / "docs" / "operate" / "metrics.md").read_text(encoding="utf-8")
RUNBOOKS = ROOT / "docs" / "on-call" / "watching-monitor.md"
RULES = alerts_about_monitor()
ROW = re.compile(r"^\| (`.*?) \|", re.MULTILINE)


def named(heading: str, pattern: str) -> set[str]:
    """The names in the first column of the table below a heading."""
    section = re.split(r"^#+ ", PAGE, flags=re.MULTILINE)
    (its,) = [part for part in section if part.startswith(f"{heading}\n")]
    return {name for cell in ROW.findall(its) for name in re.findall(f"`({pattern})`", cell)}


def test_the_page_names_the_metrics_of_each_kind_and_no_others():
    assert named("Of each process", r"monitor_\w+") == set(get_args(ProcessMetricName))
    assert named("Of the installation", r"monitor_\w+") == set(get_args(MetricName))


def test_the_page_names_every_stage():
    own_metrics = {"evaluate", "notify"}
    assert named("Stages", r"\w+") == {"read", *get_args(StageName)} - own_metrics


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_each_alert_about_monitor_has_its_runbook(rule):
    section = re.split(r"^## ", RUNBOOKS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    (its,) = [part for part in section if part.startswith(f"{rule['alert']}\n")]
    assert all(its.count(question) == 1 for question in QUESTIONS)
    assert rule["annotations"]["runbook_url"].rpartition("#")[2] in anchors(RUNBOOKS)


def test_no_runbook_is_left_of_an_alert_that_is_gone():
    assert re.findall(r"^## (\w+)$", RUNBOOKS.read_text(), re.MULTILINE) == [rule["alert"] for rule in RULES]
