"""Whom an alert is for, on its page and in the API: owner, runbook, escalation, mute; over a real PostgreSQL."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.evaluation.memory import Round, RuleMemory
from monitor.alert.notify.dispatch import AlertGroup
from monitor.alert.rules.file import parse_rules
from monitor.alert.state import Transition
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.alert.history import AlertHistory
from monitor.store.alert.outbox import PostgresOutbox
from tests.factories.alert.alerts import an_alert
from tests.factories.alert.notifications import a_notification, a_notified_alert
from tests.factories.answers import at

RULES = """\
time_intervals:
  - {name: lunch, time_intervals: [{times: [{start_time: "11:30", end_time: "13:00"}]}]}
rules:
  - name: negative-rate
    signal: {rate: negative}
    above: 0.3
    owner: team-search
    runbook: docs/on-call/runbooks.md#negative-rate
    mute_time_intervals: [lunch]
"""
BASE = "https://git.example/monitor"
RULE = parse_rules(RULES, name="rules.yaml", receivers=(), docs_url=BASE).rules[0]
ALERT = an_alert(rule_digest=RULE.digest, fingerprint="f" * 32, annotations=RULE.described)


@pytest.fixture
def site(make_site, tmp_path, engine):
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES, encoding="utf-8")
    change = Transition(previous=None, alert=ALERT, at=at(0))
    PostgresAlertStore(engine).save(
        Round(rule=RULE.name, rule_digest=RULE.digest, at=at(0), memory=RuleMemory(), transitions=(change,))
    )
    return make_site(guard={"only_tokens": True}, RULES=str(rules), DOCS_URL=BASE)


def test_owner_and_runbook_are_on_the_page_and_in_the_api(site):
    client = site.by_token("viewer")
    text = client.get(f"/alerts/{ALERT.fingerprint}").text
    assert f'href="{BASE}/docs/on-call/runbooks.md#negative-rate"' in text
    assert "owner team-search" in text
    its = client.get(f"/api/v1/alerts/{ALERT.fingerprint}").json()
    assert (its["owner"], its["runbook"]) == ("team-search", f"{BASE}/docs/on-call/runbooks.md#negative-rate")
    assert "owner team-search" in client.get("/alerts").text


def test_a_runbook_that_is_no_url_is_never_a_link(site, engine):
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE alert SET annotations = jsonb_build_object('runbook', 'docs/on-call/runbooks.md#lag')"
        )
    text = site.by_token("viewer").get(f"/alerts/{ALERT.fingerprint}").text
    assert "docs/on-call/runbooks.md#lag" in text
    assert 'href="docs/on-call/runbooks.md' not in text


def test_what_is_muted_is_stored_and_shown_as_muted(site):
    client = site.by_token("viewer")
    assert "Muted until" in client.get(f"/alerts/{ALERT.fingerprint}").text
    assert "(lunch)" in client.get("/alerts").text
    (its,) = client.get("/api/v1/alerts").json()["items"]
    assert (its["state"], its["muted_by"], its["muted_until"]) == ("firing", "lunch", "2025-11-21T13:00:00Z")


def test_an_escalation_is_in_the_history(site, engine):
    group = AlertGroup(key="k", receiver="pagerduty", labels={}, episode="g1", number=1, told_at=at(0), paged_at=at(0))
    told = a_notification(
        receiver="pagerduty",
        group="k",
        episode="g1",
        alerts=(a_notified_alert(fingerprint=ALERT.fingerprint),),
        escalated_after=timedelta(minutes=15),
    )
    PostgresOutbox(engine).enqueue(group, told, over=False)
    (row,) = AlertHistory(engine).notifications([ALERT.fingerprint])
    assert row["escalated_after"] == timedelta(minutes=15)
    text = site.by_token("viewer").get(f"/alerts/{ALERT.fingerprint}").text
    assert "escalated to pagerduty: nobody acknowledged it for 15m" in text
