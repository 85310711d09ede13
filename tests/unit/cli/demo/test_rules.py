"""The rule that the demo evaluates is the one that its dashboard shows."""

from __future__ import annotations

from monitor.alert.rules.file import parse_rules
from monitor.cli.demo.demo import RULES


def test_the_saved_rule_measures_what_the_played_one_does():
    played = parse_rules(RULES, name="the demo's rules", receivers=("slack preview",))
    saved = parse_rules(RULES, name="version 1", receivers=("console", "slack"))
    assert [rule.digest for rule in saved.rules] == [rule.digest for rule in played.rules]
    assert [rule.name for rule in saved.rules] == ["negative-rate"]
