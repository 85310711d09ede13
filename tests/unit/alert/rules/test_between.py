"""Escalations, time intervals, runbooks and owners of a rules file."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.rule import Step
from monitor.alert.rules.file import load_rules, parse_rules
from monitor.core.errors import WrongSettings

RECEIVERS = ("slack", "pagerduty", "email")
RULE = """\
rules:
  - name: a
    signal: lag
    above: 300
    receivers: [slack]
    escalation:
      - {after: 15m, receivers: [pagerduty]}
      - {after: 1h, receivers: [email]}
    owner: team-search
    runbook: docs/on-call/runbooks.md#reading-behind
"""


def parse(text: str, **options: str):
    return parse_rules(text, name="rules.yaml", receivers=RECEIVERS, **options)


def test_steps_owner_and_runbook_are_read():
    (rule,) = parse(RULE).rules
    assert rule.escalation == (
        Step(after=timedelta(minutes=15), receivers=("pagerduty",)),
        Step(after=timedelta(hours=1), receivers=("email",)),
    )
    assert rule.described == {"owner": "team-search", "runbook": "docs/on-call/runbooks.md#reading-behind"}


@pytest.mark.parametrize("base", ["https://git.example/monitor/blob/main", "https://git.example/monitor/blob/main/"])
def test_a_page_of_the_documentation_becomes_a_link_where_it_can_be_read(base):
    (rule,) = parse(RULE, docs_url=base).rules
    assert rule.runbook == "https://git.example/monitor/blob/main/docs/on-call/runbooks.md#reading-behind"
    of_its_own = RULE.replace("docs/on-call/runbooks.md#reading-behind", "https://wiki.example/lag")
    assert parse(of_its_own, docs_url=base).rules[0].runbook == "https://wiki.example/lag"


def test_a_page_is_found_on_a_site_made_of_the_documentation():
    (rule,) = parse(RULE, docs_url="https://docs.example/monitor/{page}.html").rules
    assert rule.runbook == "https://docs.example/monitor/on-call/runbooks.html#reading-behind"


def test_owner_and_runbook_do_not_change_what_is_measured():
    (rule,) = parse(RULE).rules
    (other,) = parse(RULE.replace("team-search", "others").replace("15m", "5m")).rules
    assert rule.digest == other.digest


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        (
            "after: 1h",
            "after: 10m",
            "escalation[1].after: must be longer than that of the step before, 15m",
        ),
        ("after: 15m", "after: 30s", "must be 1m or longer: somebody needs the time to acknowledge"),
        ("after: 1h", "after: 8d", "escalation[1].after: must be 7d or shorter"),
        ("[email]", "[slack]", "'slack' is notified from the beginning already"),
        ("[email]", "[pagerduty]", "'pagerduty' is notified after 15m already"),
        ("[email]", "[pigeon]", "receiver 'pigeon' is not configured; configured: email, pagerduty, slack"),
        ("    receivers: [slack]\n", "", "the rule notifies every receiver from the beginning"),
        ("owner:", "mute_time_intervals: [nights]\n    owner:", "no time interval is named 'nights'"),
        ("owner:", "annotations: {owner: x}\n    owner:", "is among the annotations already: name it once"),
        ("runbook:", "annotations: {runbook: x}\n    runbook:", "is among the annotations already: name it once"),
        ("docs/on-call", "javascript:alert(1)//x", "must be an http or https URL, or a page of the documentation"),
        ("docs/on-call", "../../secrets", "must be an http or https URL, or a page of the documentation"),
        ("team-search", '"a\\nb"', "must be one line"),
    ],
)
def test_what_would_not_work_is_refused(right, wrong, problem):
    with pytest.raises(WrongSettings) as caught:
        parse(RULE.replace(right, wrong, 1))
    assert problem in str(caught.value)


def test_names_of_time_intervals_are_unique():
    twice = "time_intervals:\n" + "  - {name: n, time_intervals: [{}]}\n" * 2
    with pytest.raises(WrongSettings, match="another time interval is already named 'n'"):
        parse(twice + RULE)


def test_every_shipped_rule_has_an_owner_and_a_runbook():
    rules = load_rules(None, receivers=("console",)).rules
    assert all(rule.owner and rule.runbook == f"docs/on-call/runbooks.md#{rule.name}" for rule in rules)
