"""The runbooks that the shipped rules name exist, and answer what a person who was woken asks."""

from __future__ import annotations

import re

import pytest

from monitor.alert.rules.file import load_rules
from tests.unit.docs.test_links import ROOT, anchors

RULES = load_rules(None, receivers=()).rules
QUESTIONS = ("**Means**", "**Look first**", "**Usually fixes it**", "**Escalate**")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_runbook_of_each_shipped_rule_resolves(rule):
    assert rule.runbook is not None
    page, _, fragment = rule.runbook.partition("#")
    text = (ROOT / page).read_text(encoding="utf-8")
    assert fragment in anchors(ROOT / page)
    section = re.split(r"^## ", text, flags=re.MULTILINE)
    (its,) = [part for part in section if part.startswith(f"{rule.name}\n")]
    assert all(its.count(question) == 1 for question in QUESTIONS)
