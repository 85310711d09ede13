"""Alerts, one alert and silences as people see and use them, over a real PostgreSQL."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from html import unescape

import pytest

from monitor.alert.evaluation.memory import Round, RuleMemory
from monitor.alert.explain.cause import BadKind, Broken, Cause, KindCount, Told
from monitor.alert.explain.explanation import Explanation
from monitor.alert.explain.finding import ExampleAnswer, Value
from monitor.alert.notify.actions import new_silence
from monitor.alert.notify.notified import described
from monitor.alert.receivers.slack.message import root_message
from monitor.alert.receivers.text import render
from monitor.alert.rules.file import parse_rules
from monitor.alert.silence import parse_matcher
from monitor.alert.state import State, Transition
from monitor.cli.alert.tables import alert_lines
from monitor.core.model import Verdict
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.alert.explanations import Explanations
from tests.factories.alert.alerts import an_alert
from tests.factories.alert.notifications import a_notification
from tests.factories.answers import NOON, a_batch, an_assessment, at

RULES = """\
rules:
  # what the shop may say
  - name: negative-rate
    signal: {rate: negative}
    above: 0.3
    severity: critical
"""
HOSTILE = "<script>alert(1)</script> ada@example.org"
DIGEST = parse_rules(RULES, name="rules.yaml", receivers=()).rules[0].digest


@pytest.fixture
def site(make_site, tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES, encoding="utf-8")
    return make_site(guard={"only_tokens": True}, RULES=str(rules))


@pytest.fixture
def save(engine):
    """Stores alerts as an evaluation at noon would."""

    def save(*alerts, **more):
        changes = tuple(Transition(previous=None, alert=its, at=at(0)) for its in alerts)
        PostgresAlertStore(engine).save(
            Round(rule="negative-rate", rule_digest=DIGEST, at=at(0), memory=RuleMemory(), transitions=changes, **more)
        )

    return save


FIRING = an_alert(rule_digest=DIGEST, fingerprint="f" * 32, labels={"app": "shop"})
OVER = an_alert(
    rule_digest=DIGEST,
    fingerprint="a" * 32,
    episode="e2",
    state=State.RESOLVED,
    resolved_at=at(-60),
    active_since=at(-90),
    labels={"app": "help"},
)
OLD = an_alert(
    rule_digest=DIGEST,
    fingerprint="b" * 32,
    episode="e3",
    state=State.RESOLVED,
    resolved_at=at(-60 * 24 * 8),
    labels={"app": "forgotten"},
)


def test_nothing_yet_says_how_to_begin(site):
    text = site.by_token("viewer").get("/alerts").text
    assert "No rule was evaluated yet" in text
    assert "No alert is firing, pending or in error." in text
    assert "never evaluated" in text


def test_what_fires_stands_above_what_was_and_what_is_long_over_is_left_out(site, save):
    save(FIRING, OVER, OLD)
    text = site.by_token("viewer").get("/alerts").text
    assert (
        text.index("negative-rate, shop") < text.index("Resolved in the last week") < text.index("negative-rate, help")
    )
    assert "forgotten" not in text
    assert "40.0 %" in text
    assert "fires above 30.0 %" in text
    assert "1 active ·" in text
    assert "✓ evaluated" in text


def test_an_episode_that_is_over_is_listed_while_its_alert_fires_again(site, engine, save):
    store, fired = PostgresAlertStore(engine), replace(FIRING, episode="first", fired_at=at(-90), active_since=at(-95))
    over = replace(fired, state=State.RESOLVED, resolved_at=at(-30))
    for previous, alert, minute in ((None, fired, -90), (fired, over, -30)):
        change = Transition(previous=previous, alert=alert, at=at(minute))
        store.save(
            Round(rule="negative-rate", rule_digest=DIGEST, at=at(minute), memory=RuleMemory(), transitions=(change,))
        )
    text = site.by_token("viewer").get("/alerts").text
    assert text.count("negative-rate, shop") == 1  # not twice: the alert is the episode
    save(FIRING)
    text = site.by_token("viewer").get("/alerts").text
    resolved = re.search(r"Resolved in the last week.*?</table>", text, re.DOTALL).group()
    assert "negative-rate, shop" in resolved
    assert "1h" in re.search(r'data-label="Lasted">(.*?)<', resolved).group(1)
    assert "nobody" in resolved


def test_a_rule_in_error_and_a_rules_file_that_is_wrong_are_said(site, save, tmp_path):
    save(error="no such <b>table</b>")
    client = site.by_token("viewer")
    text = client.get("/alerts").text
    assert "! error" in text
    assert "no such &lt;b&gt;table&lt;/b&gt;" in text
    (tmp_path / "rules.yaml").write_text("rules: [{name: x}]", encoding="utf-8")
    assert "The rules file cannot be used" in client.get("/alerts").text


def test_the_alert_says_what_since_when_and_how_sure(site, save, writer):
    bad = [
        an_assessment(id=f"q-{n}", app="shop", occurred_at=at(-3), verdict=Verdict.SELF_GENERATED) for n in range(40)
    ]
    writer.write(a_batch(*bad))
    save(FIRING)
    answer = site.by_token("viewer").get(f"/alerts/{FIRING.fingerprint}")
    text = answer.text
    assert answer.status_code == 200
    assert "<h1>Firing: negative-rate, shop</h1>" in text
    assert "Negative answers: 40.0 %, fires above 30.0 %." in text
    assert "<dt>With 95 % confidence</dt><dd>28.0 % to 54.0 %</dd>" in text
    assert "<svg" in text
    assert "from 100.0 % to 100.0 %" in text
    assert "# what the shop may say" not in text  # it stands before the rule
    assert "- name: negative-rate" in text
    assert "/interactions?app=shop&amp;verdict=negative&amp;since=2025-11-21T11%3A53Z" in text
    assert "inactive → firing" in text
    assert "Acknowledge</button>" not in text  # a viewer may not


def test_one_alert_has_one_start_time(site, save, writer):
    """It is when it fired, two minutes after it began to breach: that is another fact, named as such."""
    writer.write(a_batch(an_assessment(id="q-1", app="shop", occurred_at=at(-3), verdict=Verdict.REFUSAL)))
    save(FIRING)
    client, address = site.by_token("viewer"), f"/alerts/{FIRING.fingerprint}"
    fired, breached = (f"{at:%Y-%m-%d %H:%M}" for at in (FIRING.fired_at, FIRING.active_since))
    assert FIRING.fired_at - FIRING.active_since == timedelta(minutes=2)
    head = client.get(address).text.partition("<h2>History</h2>")[0]
    assert head.count(fired) >= 3  # beneath the heading, in the words of the chart, among the figures
    assert head.count(breached) == 1
    assert f"<dt>Breaching since</dt><dd>{breached} UTC</dd>" in head
    listed = client.get("/alerts").text
    assert fired in listed
    assert breached not in listed
    assert "firing since <time" in client.get("/").text
    told = client.get(f"/api/v1{address}").json()
    assert datetime.fromisoformat(told["active_since"]) == FIRING.active_since
    assert datetime.fromisoformat(told["fired_at"]) == FIRING.fired_at
    notification = a_notification(alerts=(described(FIRING),))
    message = render(notification)
    assert (message.count(f"{fired} UTC"), message.count(f"{breached} UTC")) == (2, 1)
    posted = str(root_message(notification).blocks)
    assert f"{fired} UTC" in posted
    assert breached not in posted
    assert next(alert_lines(FIRING)).startswith(f"negative-rate, shop: firing since {fired} UTC")


def test_the_runbook_of_a_shipped_rule_stands_on_the_page(site, save):
    """Nothing has to be configured: the documentation is part of the package."""
    save(
        replace(FIRING, annotations={"runbook": "docs/on-call/runbooks.md#negative-rate"}),
        replace(OVER, annotations={"runbook": "https://wiki.example/rag"}),
    )
    client = site.by_token("viewer")
    text = client.get(f"/alerts/{FIRING.fingerprint}").text
    section = text.partition("<h2>What to do</h2>")[2].partition("</details>")[0]
    assert "<summary>Runbook</summary>" in section
    assert "<strong>Usually fixes it</strong>: roll back" in section
    assert "<a " not in section  # its links are to pages that may not be served
    text = client.get(f"/alerts/{OVER.fingerprint}").text
    assert '<a href="https://wiki.example/rag" rel="noreferrer">Runbook</a>' in text
    assert "<summary>Runbook</summary>" not in text


def test_an_alert_without_traffic_says_so(site, save):
    save(replace(FIRING, samples=0, quiet_since=at(-1)))
    client = site.by_token("viewer")
    text = client.get(f"/alerts/{FIRING.fingerprint}").text
    assert "No answers since 2025-11-21 11:59 UTC; before that, negative answers: 40.0 %" in text
    assert "nothing since" in client.get("/alerts").text
    assert client.get(f"/api/v1/alerts/{FIRING.fingerprint}").json()["quiet_since"] == "2025-11-21T11:59:00Z"


def test_the_course_is_drawn_as_the_alert_was_counted_whatever_is_configured_now(site, save, writer, tmp_path):
    elsewhere = [
        an_assessment(id=f"e-{n}", app="shop", environment="staging", occurred_at=at(-3), verdict=Verdict.GROUNDED)
        for n in range(40)
    ]
    bad = [an_assessment(id=f"q-{n}", app="shop", occurred_at=at(-3), verdict=Verdict.REFUSAL) for n in range(40)]
    writer.write(a_batch(*bad, *elsewhere))
    (tmp_path / "rules.yaml").write_text(RULES.replace("negative-rate", "another"), encoding="utf-8")
    production = bad[0].interaction.environment or ""
    save(
        replace(FIRING, rule="of-the-demo", rule_digest="0" * 16, selector={"environment": (production,)}, by=("app",))
    )
    text = site.by_token("viewer").get(f"/alerts/{FIRING.fingerprint}").text
    assert "<svg" in text
    assert "from 100.0 % to 100.0 %" in text  # without the staging environment
    assert "is not configured any more" in text


@pytest.mark.parametrize("signal", ["rate of negative", "rate of nothing known"])
def test_an_alert_of_an_earlier_or_later_release_says_why_there_is_no_chart(site, save, signal):
    stored = {"selector": {}, "by": ("app",)} if "known" in signal else {}
    save(replace(FIRING, rule="of-the-demo", rule_digest="0" * 16, signal=signal, **stored))
    answer = site.by_token("viewer").get(f"/alerts/{FIRING.fingerprint}")
    assert answer.status_code == 200
    assert "There is no chart" in answer.text


def test_an_alert_on_a_probe_leads_to_the_chart_of_its_runs(site, save):
    labels = {"app": "shop", "probe": "support", "environment": "production"}
    save(
        replace(
            FIRING,
            rule="probe-declined",
            signal="probe of correctness",
            method="decline",
            labels=labels,
            selector={},
            by=("app", "environment", "probe"),
            detail="run 7 judged 30 of 30 questions",
        )
    )
    client = site.by_token("viewer")
    text = client.get(f"/alerts/{FIRING.fingerprint}").text
    assert "There is no chart" not in text
    (path,) = re.findall(r'<a href="([^"]+)">the chart of its runs</a>', text)
    assert path == "/probes?probe=support&amp;app=shop"
    assert client.get(unescape(path)).status_code == 200
    assert 'href="/probes/7"' in text


def test_what_changed_and_telling_answers_are_masked_and_never_html(site, save, engine):
    save(FIRING)
    its = ExampleAnswer(
        id="a/b",
        app="shop",
        question=HOSTILE,
        answer=HOSTILE,
        verdict="refusal",
        reasons=("refusal_wording",),
        probability=0.9,
    )
    explanation = Explanation(
        signal="negative", answers=9, matching=3, before_answers=90, before_matching=3, looked_at=1, telling=(its,)
    )
    Explanations(engine).save(described(FIRING, None), explanation, NOON)
    text = site.by_token("operator").get(f"/alerts/{FIRING.fingerprint}").text
    assert '<a href="/interactions/shop/a%2Fb">&lt;script&gt;alert(1)&lt;/script&gt; [e-mail]</a>' in text
    assert "<script>alert" not in text
    assert "ada@example.org" not in text
    assert "<dt>Answers compared</dt><dd>9, with 90 of the week before</dd>" in text


def test_the_page_and_the_api_lead_with_the_cause(site, save, engine):
    save(FIRING)
    cause = Cause(
        suspects=(Broken.RETRIEVER,),
        looked_at=7,
        where=Value(dimension="topic", value="<b>ada@example.org</b>"),
        answers=50,
        bad=40,
        before_answers=900,
        before_bad=45,
        kinds=(KindCount(kind=BadKind.OFF_QUESTION, now=36, before=9),),
        poor=Told.YES,
        unlike=Told.NO,
    )
    figures = {"answers": 90, "matching": 42, "before_answers": 900, "before_matching": 45, "looked_at": 7}
    Explanations(engine).save(described(FIRING), Explanation(signal="negative", **figures, cause=cause), NOON)
    client = site.by_token("viewer")
    text = client.get(f"/alerts/{FIRING.fingerprint}").text
    conclusion = (
        "Retriever, topic &lt;b&gt;[e-mail]&lt;/b&gt;: documents are off the question in 90 % of the bad answers"
    )
    assert text.index(conclusion) < text.index("fires above")
    assert text.index("How sure: ") < text.index("Next: ") < text.index("Signal over time")
    told = client.get(f"/api/v1/alerts/{FIRING.fingerprint}").json()["cause"]
    assert (told["named"], told["suspects"]) == ("retriever", ["retriever"])
    assert told["where"] == {"dimension": "topic", "value": "<b>[e-mail]</b>"}
    assert len(told["conclusion"]) == 3


def test_an_address_without_a_page_leads_back_to_the_pages(site):
    client, _ = site.signed_in("viewer")
    answer = client.get("/no-such-page")
    assert answer.status_code == 404
    assert "There is no page at this address." in answer.text
    assert '<a class="button" href="/alerts">' in answer.text


def test_an_address_of_an_episode_leads_to_its_alert(site, save):
    save(FIRING)
    client = site.by_token("viewer")
    assert client.get("/alerts/episodes/e1").headers["location"] == f"/alerts/{FIRING.fingerprint}"
    for unknown in ("/alerts/episodes/none", "/alerts/none", "/alerts/x%2Fy"):
        assert client.get(unknown).status_code == 404


def test_the_first_who_acknowledges_is_named_and_the_trail_has_it(site, save, rows):
    save(FIRING)
    (ada, hers), (grace, his) = site.signed_in("operator"), site.signed_in("admin")
    path = f"/alerts/{FIRING.fingerprint}"
    answer = ada.post(f"{path}/acknowledge", data={"csrf": hers, "comment": "<i>on it</i>"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{path}?notice=acknowledged")
    text = ada.get(answer.headers["location"]).text
    assert "Acknowledged: the notification is not repeated any more." in text
    assert "(&lt;i&gt;on it&lt;/i&gt;)" in text
    assert "Acknowledge</button>" not in text
    again = grace.post(f"{path}/acknowledge", data={"csrf": his})
    assert again.headers["location"].endswith("notice=already")
    assert rows("SELECT subject, body ->> 'episode' FROM audit_queue WHERE kind = 'acknowledge'") == [("f" * 32, "e1")]


def test_what_is_over_cannot_be_acknowledged(site, save):
    save(OVER)
    client, csrf = site.signed_in("operator")
    assert "Acknowledge</button>" not in client.get(f"/alerts/{OVER.fingerprint}").text
    answer = client.post(f"/alerts/{OVER.fingerprint}/acknowledge", data={"csrf": csrf})
    assert answer.headers["location"].endswith("notice=ended")


@pytest.mark.parametrize(
    ("form", "length"),
    [
        ({"length": "1h"}, timedelta(hours=1)),
        ({"length": "1d", "own": "5m"}, timedelta(days=1)),
        ({"length": "", "own": " 45m "}, timedelta(minutes=45)),
    ],
)
def test_silenced_for_as_long_as_was_chosen_and_ended_again(site, save, rows, form, length):
    save(FIRING)
    client, csrf = site.signed_in("operator")
    path = f"/alerts/{FIRING.fingerprint}"
    answer = client.post(f"{path}/silence", data={"csrf": csrf, **form})
    assert answer.headers["location"] == f"{path}?notice=silenced"
    ((silence, matchers, ends),) = rows("SELECT id, matchers, ends_at FROM silence")
    assert matchers == ['rule="negative-rate"', 'app="shop"']
    assert ends == NOON + length
    assert "Silenced until" in client.get(path).text
    assert "silenced until" in client.get("/alerts").text
    ended = client.post(f"/alerts/silences/{silence}/end", data={"csrf": csrf, "back": FIRING.fingerprint})
    assert ended.headers["location"] == f"{path}?notice=unsilenced"
    assert "Silenced until" not in client.get(path).text
    twice = client.post(f"/alerts/silences/{silence}/end", data={"csrf": csrf, "back": "//evil.example"})
    assert twice.headers["location"] == "/alerts?notice=over"


@pytest.mark.parametrize("form", [{}, {"length": "soon"}, {"own": "1000d"}, {"length": "0s"}])
def test_a_length_that_is_none_is_refused(site, save, rows, form):
    save(FIRING)
    client, csrf = site.signed_in("operator")
    answer = client.post(f"/alerts/{FIRING.fingerprint}/silence", data={"csrf": csrf, **form})
    assert answer.status_code == 400
    assert "Not silenced" in answer.text
    assert rows("SELECT id FROM silence") == []


def test_a_silence_is_shown_for_what_it_does_before_it_is_made(site, save, rows):
    save(FIRING, an_alert(rule_digest=DIGEST, fingerprint="c" * 32, labels={"app": "help"}, severity="warning"))
    client, csrf = site.signed_in("operator")
    asked = {"matchers": 'app=~"sh.*"\n\nseverity!="info"', "length": "4h", "comment": "known"}
    text = client.get("/alerts/silence", params=asked).text
    assert "It matches 1 of the 2 active alerts" in text
    assert "negative-rate, shop" in text
    assert "negative-rate, help" not in text
    assert rows("SELECT id FROM silence") == []
    assert (
        client.post("/alerts/silences", data={"csrf": csrf, **asked}).headers["location"] == "/alerts?notice=silenced"
    )
    assert rows("SELECT matchers, comment FROM silence") == [(['app=~"sh.*"', 'severity!="info"'], "known")]


@pytest.mark.parametrize(
    ("matchers", "said"),
    [
        ("  ", "Write at least one matcher"),
        ("negative-rate", "is not a matcher: write it as rule=&#34;negative-rate&#34;, "),
        ("app=~(", "is not a regular expression"),
        ('app=""', "this would silence every alert"),
    ],
)
def test_a_silence_that_cannot_be_says_why(site, rows, matchers, said):
    client, csrf = site.signed_in("operator")
    assert said in client.get("/alerts/silence", params={"matchers": matchers, "length": "1h"}).text
    assert client.post("/alerts/silences", data={"csrf": csrf, "matchers": matchers, "length": "1h"}).status_code == 400
    assert rows("SELECT id FROM silence") == []


def test_an_alert_of_which_little_is_known_has_a_page_too(site, save):
    bare = an_alert(
        rule="gone",
        signal="lag",
        unit="seconds",
        method="threshold",
        labels={},
        annotations={},
        value=None,
        samples=0,
        lower=float("-inf"),
        upper=float("inf"),
        bound=300,
        window=timedelta(),
        state=State.ERROR,
        detail="no <table>",
    )
    save(bare)
    client = site.by_token("operator")
    assert "gone" in client.get("/alerts").text
    text = client.get(f"/alerts/{bare.fingerprint}").text
    assert "The rule cannot be evaluated, so nobody is watching." in text
    assert "No &lt;table&gt;" in text
    assert "There is no chart" in text
    assert "is not configured any more" in text


def test_said_is_no_way_to_say_anything(site, save):
    save(FIRING)
    client = site.by_token("viewer")
    for path in ("/alerts", f"/alerts/{FIRING.fingerprint}"):
        assert "pwned" not in client.get(path, params={"notice": "pwned"}).text


def test_rules_that_were_evaluated_in_another_form_say_so(site, engine):
    PostgresAlertStore(engine).save(
        Round(rule="negative-rate", rule_digest="another", at=at(0), memory=RuleMemory(), transitions=())
    )
    text = site.by_token("viewer").get("/alerts").text
    assert "not evaluated yet" in text
    assert "last evaluated" not in text
    assert "never evaluated</span> in this form; evaluated in another form at <time" in text


@pytest.mark.parametrize(("minutes", "lost", "alarm"), [(1, False, False), (3, False, True), (1, True, True)])
def test_a_receiver_is_an_alarm_only_when_something_is_late_or_lost(site, monkeypatch, minutes, lost, alarm):
    row = {"receiver": "slack", "waiting": 1, "lost": int(lost), "since": at(-minutes), "last_error": None}
    monkeypatch.setattr("monitor.store.alert.history.AlertHistory.unsent", lambda _: [row])
    assert ("slack does not accept notifications" in site.by_token("viewer").get("/alerts").text) is alarm


def test_a_receiver_that_takes_notifications_again_is_not_said_to_refuse_them(site, monkeypatch):
    row = {"receiver": "slack", "waiting": 0, "lost": 2, "since": at(-600), "last_error": "gone"}
    monkeypatch.setattr("monitor.store.alert.history.AlertHistory.unsent", lambda _: [row])
    text = site.by_token("viewer").get("/alerts").text
    assert "2 notifications to slack were lost, the oldest of" in text
    assert "does not accept" not in text


MANY = [
    an_alert(
        rule_digest=DIGEST, fingerprint=f"{n:032x}", episode=f"e{n}", labels={"app": f"app-{n}"}, fired_at=at(-1 - n)
    )
    for n in range(203)
]


def test_a_silence_is_tried_on_all_alerts_that_fire(site, save):
    save(*MANY)
    client = site.by_token("operator")
    last = client.get("/alerts/silence", params={"matchers": "app=app-202", "length": "4h"}).text
    assert "It matches 1 of the 203 active alerts:" in last
    every = client.get("/alerts/silence", params={"matchers": "app=~app-.*", "length": "4h"}).text
    assert "It matches 203 of the 203 active alerts; 200 are listed:" in every
    assert every.count("negative-rate, app-") == 200


def test_the_overview_and_the_api_say_that_more_alerts_fire_than_they_show(site, save):
    save(*MANY)
    client = site.by_token("viewer")
    assert '<a href="/alerts">183 more alerts are active</a>' in client.get("/").text
    assert [client.get("/api/v1/alerts", params=query).json()["more"] for query in ({}, {"state": "resolved"})] == [
        True,
        False,
    ]


def test_who_did_something_is_named_by_the_address_too(site, save):
    """With OIDC it is everybody's name: masked, it would name nobody."""
    save(FIRING)
    application, by = site.application, "oidc:ada@example.org"
    application.alerting.responses.acknowledge([FIRING], by=by, now=NOON, comment="")
    silence = new_silence([parse_matcher("app=shop")], timedelta(hours=1), by=by, now=NOON, comment="")
    application.alerting.responses.silence(silence, now=NOON)
    client = site.by_token("viewer")
    page = client.get(f"/alerts/{FIRING.fingerprint}").text
    assert f"Acknowledged by {by}" in page
    assert f"acknowledged by {by}" in page
    assert re.search(f"Silenced until <time.*</time> by {by}", page)
    listed = client.get("/alerts").text
    assert f"by {by}<br>silenced until" in listed
    assert f'data-label="By">{by}</td>' in listed
    assert f"acknowledged by {by}" in client.get("/").text


@pytest.mark.parametrize(
    ("signal", "path", "words"),
    [
        (
            "dead_letters",
            "/dead-letters?topic=a%26b&amp;state=all&amp;since=2025-11-21T11%3A53",
            "The dead letters that it is about",
        ),
        ("lag", "/#sources", "The sources, with lag and ledger"),
        ("ledger_imbalance", "/#sources", "The sources, with lag and ledger"),
    ],
)
def test_an_alert_about_messages_leads_to_them_and_not_to_a_list_of_answers(site, save, signal, path, words):
    save(replace(FIRING, signal=signal, labels={"source": "a&b"}))
    client = site.by_token("viewer")
    text = client.get(f"/alerts/{FIRING.fingerprint}").text
    assert f'<a class="button" href="{path}">{words}</a>' in text
    assert "/interactions?" not in text
    listed = client.get(unescape(re.search(r'class="button" href="([^"]*)"', text)[1]))
    assert (listed.status_code, 'role="alert"' in listed.text) == (200, False)


def test_a_figure_that_is_measured_once_has_no_interval_in_the_api(site, save):
    save(replace(FIRING, signal="lag", unit="seconds", value=900.0, lower=float("-inf"), upper=float("inf")))
    client = site.by_token("viewer")
    (listed,), shown = (
        client.get("/api/v1/alerts").json()["items"],
        client.get(f"/api/v1/alerts/{FIRING.fingerprint}").json(),
    )
    for its in (listed, shown):
        assert (its["value"], its["lower"], its["upper"]) == (900.0, None, None)
    described = client.get("/api/v1/openapi.json").json()["components"]["schemas"]["Alert"]["properties"]
    assert all({"type": "null"} in described[bound]["anyOf"] for bound in ("lower", "upper"))
