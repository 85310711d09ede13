"""Labels, alerts, dead letters, rates, reports and proofs in the JSON API."""

from __future__ import annotations

import base64
import json
from datetime import timedelta

import pytest
from sqlalchemy import text

from monitor.app.report import reporting
from monitor.audit.merkle import leaf_hash, verify_inclusion
from monitor.audit.note import opened
from monitor.core.message import Offset, Position
from monitor.core.model import Verdict
from monitor.report.weekly.week import week_named
from monitor.store.report.reports import Reports
from tests.factories.answers import NOON, a_batch, a_dead_letter, an_assessment, at
from tests.rig.web.api import MASKED, SECRET, got, problem

ALERT = """
    INSERT INTO alert (fingerprint, episode, rule, rule_digest, signal, labels, severity, threshold, "window",
                       annotations, receivers, state, active_since, samples, lower, upper)
    VALUES (%s, %s, 'negative-rate', 'd', 'negative', '{"app": "shop"}', 'critical', 0.3, '5 min', '{}',
            '{slack}', %s, %s, 1, 0, 1)
"""
PRINT = "a" * 32


def test_a_label_is_kept_once_by_whom_the_token_names(operator, viewer, writer, rows):
    writer.write(a_batch(an_assessment()))
    body = {"app": "support-bot", "id": "q-1", "label": "refusal", "note": SECRET}
    assert operator.post("/api/v1/labels", json=body).json() == {"stored": True}
    assert operator.post("/api/v1/labels", json=body).json() == {"stored": False}
    (said,) = got(viewer, "interactions/support-bot/q-1")["labels"]
    assert (said["label"], said["note"]) == ("refusal", MASKED)
    assert said["by"].startswith("token:operator")
    assert rows("SELECT count(*) FROM audit_queue WHERE kind = 'label'") == [(1,)]


def test_what_is_not_stored_or_not_assessed_cannot_be_labelled(operator, writer):
    body = {"app": "support-bot", "id": "none", "label": "refusal"}
    problem(operator.post("/api/v1/labels", json=body), 404)
    writer.write(a_batch(pending=(an_assessment(id="none").interaction,)))
    problem(operator.post("/api/v1/labels", json=body), 409)


def test_alerts_are_listed_shown_and_acknowledged(operator, viewer, rows):
    rows(ALERT, PRINT, "e-1", "firing", NOON)
    rows(ALERT, "b" * 32, "e-2", "pending", NOON)
    assert [its["state"] for its in got(viewer, "alerts")["items"]] == ["firing", "pending"]
    assert got(viewer, "alerts", state="resolved")["items"] == []
    assert got(viewer, f"alerts/{PRINT}")["acknowledged_by"] is None
    path = f"/api/v1/alerts/{PRINT}/acknowledge"
    done = operator.post(path, json={"comment": "at it"}).json()
    assert done["acknowledged"] is True
    assert done["acknowledged_by"].startswith("token:operator")
    assert operator.post(path, json={}).json()["acknowledged"] is False
    shown = got(viewer, f"alerts/{PRINT}")
    assert [(its["action"], its["comment"]) for its in shown["actions"]] == [("acknowledge", "at it")]
    problem(operator.post(f"/api/v1/alerts/{'b' * 32}/acknowledge", json={}), 409)
    problem(operator.post(f"/api/v1/alerts/{'c' * 32}/acknowledge", json={}), 404)
    problem(viewer.get("/api/v1/alerts/none"), 422)


def test_a_silence_is_made_seen_and_ended(operator, viewer, rows):
    rows(ALERT, PRINT, "e-1", "firing", NOON)
    body = {"matchers": [{"label": "app", "operator": "=", "value": 'sh"op'}], "seconds": 3600, "comment": "tests"}
    made = operator.post("/api/v1/silences", json=body)
    assert made.status_code == 201
    assert made.json()["matchers"] == ['app="sh\\"op"']
    assert made.json()["ends_at"] == "2025-11-21T13:00:00Z"
    assert got(viewer, "silences")["items"] == [made.json()]
    path = f"/api/v1/silences/{made.json()['id']}"
    assert operator.delete(path).status_code == 204
    problem(operator.delete(path), 404)
    assert got(viewer, "silences")["items"] == []
    assert len(got(viewer, "silences", ended="true")["items"]) == 1


def test_alerts_and_silences_are_masked_as_on_the_pages(operator, viewer, rows):
    rows(ALERT, PRINT, "e-1", "firing", NOON)
    rows(
        "UPDATE alert SET labels = jsonb_build_object('topic', %s::text), detail = %s, note = %s,"
        " annotations = jsonb_build_object('summary', %s::text)",
        *(SECRET for _ in range(4)),
    )
    operator.post(f"/api/v1/alerts/{PRINT}/acknowledge", json={"comment": SECRET})
    body = {"matchers": [{"label": "topic", "operator": "=", "value": SECRET}], "seconds": 60, "comment": SECRET}
    made = operator.post("/api/v1/silences", json=body).json()
    (listed,), shown = got(operator, "alerts")["items"], got(viewer, f"alerts/{PRINT}")
    for its in (listed, shown):
        assert (its["labels"], its["annotations"]) == ({"topic": MASKED}, {"summary": MASKED})
        assert (its["detail"], its["note"]) == (MASKED, MASKED)
    assert [its["comment"] for its in shown["actions"]] == [MASKED]
    (held,) = got(viewer, "silences")["items"]
    assert held == made
    assert (held["comment"], held["matchers"]) == (MASKED, [f'topic="{MASKED}"'])
    assert rows("SELECT comment FROM silence") == [(SECRET,)]


@pytest.mark.parametrize(
    ("matcher", "status"),
    [
        ({"label": "app", "operator": "=", "value": ""}, 409),
        ({"label": "app", "operator": "=~", "value": ".*"}, 409),
        ({"label": "app", "operator": "=~", "value": "("}, 409),
        ({"label": "a b", "operator": "=", "value": "x"}, 422),
        ({"label": "app", "operator": "==", "value": "x"}, 422),
    ],
)
def test_a_silence_of_everything_or_by_no_pattern_is_refused(operator, matcher, status):
    problem(operator.post("/api/v1/silences", json={"matchers": [matcher], "seconds": 60}), status)


def test_dead_letters_are_listed_shown_masked_and_in_clear_for_who_may(viewer, auditor, writer, looks):
    value = json.dumps({"question": SECRET}).encode() + b"\xff"
    letters = [a_dead_letter(offset=n, problem=f"got {SECRET}") for n in range(55)]
    writer.write(a_batch(dead_letters=(*letters, a_dead_letter(value, offset=99))))
    page = got(viewer, "dead-letters")
    assert len(page["items"]) == 50
    rest = got(viewer, "dead-letters", before=page["next"])
    assert (len(rest["items"]), rest["next"]) == (6, None)
    assert rest["items"][0]["problem"] == f"got {MASKED}"
    newest = page["items"][0]["id"]
    shown = got(viewer, f"dead-letters/{newest}")
    assert MASKED in shown["value"]
    assert shown["value_base64"] is None
    problem(viewer.get(f"/api/v1/dead-letters/{newest}?clear=true"), 403)
    shown = got(auditor, f"dead-letters/{newest}", clear="true")
    assert base64.b64decode(shown["value_base64"]) == value
    assert [(app, subject) for app, subject, _ in looks()] == [("", f"dead letter {newest}")]
    problem(viewer.get("/api/v1/dead-letters/999999"), 404)
    assert got(viewer, "dead-letters", problem="no such words")["items"] == []
    assert got(viewer, "dead-letters", problem="ada@ex") == {"items": [], "next": None}  # nobody guesses it so
    assert len(got(viewer, "dead-letters", problem="write to [e-mail]")["items"]) == 0
    assert len(got(viewer, "dead-letters", problem="write to")["items"]) == 50


def test_a_dead_letter_is_read_once_more(operator, viewer, writer, site):
    writer.write(a_batch(dead_letters=(a_dead_letter(),)))
    (letter,) = got(viewer, "dead-letters")["items"]
    path = f"/api/v1/dead-letters/{letter['id']}/retry"
    answer = operator.post(path)
    assert (answer.status_code, answer.json()) == (202, {"begun": True})
    site.app.state.jobs.wait("dead letters")
    assert "still dead" in site.app.state.jobs.latest("dead letters").status
    problem(operator.post("/api/v1/dead-letters/999999/retry"), 404)


def test_rates_are_those_of_the_rollups_with_their_intervals(viewer, writer):
    verdicts = [Verdict.GROUNDED] * 6 + [Verdict.REFUSAL] * 2
    writer.write(
        a_batch(*(an_assessment(id=f"q-{n}", occurred_at=at(-n - 1), verdict=v) for n, v in enumerate(verdicts)))
    )
    found = got(viewer, "overview", span="24h")
    assert found["now"]["answers"] == 8
    refusal = found["now"]["refusal"]
    assert (refusal["answers"], refusal["share"]) == (2, 0.25)
    assert refusal["lower"] < 0.25 < refusal["upper"]
    assert found["before"]["refusal"] == {"answers": 0, "share": None, "lower": None, "upper": None}
    (group,) = found["groups"]
    assert (group["app"], group["environment"]) == ("support-bot", "production")
    assert got(viewer, "overview", app="none")["now"]["answers"] == 0


def test_the_ledger_is_the_command_s(viewer, writer):
    offsets = (Offset(topic="rag", partition=0, expected=None, next=1, begin=0, received=1),)
    position = Position(topic="rag", partition=0, offset=0)
    writer.write(a_batch(an_assessment(position=position), offsets=offsets))
    found = got(viewer, "ledger")
    assert found["balanced"] is True
    assert (found["rows"][0]["topic"], found["total"]["received"]) == ("rag", 1)
    assert got(viewer, "ledger", topic="none")["rows"] == []


def test_profiles_are_listed_and_shown_with_their_definition(viewer, site):
    site.application.prepare()
    (one,) = got(viewer, "profiles")["items"]
    shown = got(viewer, f"profiles/{one['hash']}")
    assert shown["definition"]["name"] == one["name"]
    problem(viewer.get("/api/v1/profiles/none"), 404)


def test_reports_that_are_not_there_say_so(viewer):
    assert got(viewer, "reports") == {"items": [], "next": None}
    problem(viewer.get("/api/v1/reports/weekly/shop/2025-W47"), 404)
    problem(viewer.get("/api/v1/reports/weekly/shop/2025-W60"), 404)
    problem(viewer.get("/api/v1/reports/weekly/shop/last"), 422)


def test_a_report_comes_as_json_page_or_markdown(viewer, site, writer):
    week = week_named("2025-W46")
    writer.write(a_batch(*(an_assessment(id=f"q-{n}", occurred_at=week.start + timedelta(hours=n)) for n in range(30))))
    reporting(site.application).written("support-bot", week)
    (listed,) = got(viewer, "reports")["items"]
    assert (listed["app"], listed["week"]) == ("support-bot", "2025-W46")
    path = "/api/v1/reports/weekly/support-bot/2025-W46"
    stored = Reports(site.application.engine).get("support-bot", week.start)
    assert viewer.get(path).json() == json.loads(json.dumps(stored.content))
    page = viewer.get(f"{path}?format=html")
    assert page.headers["content-type"].startswith("text/html")
    assert "sandbox" in page.headers["content-security-policy"]
    assert viewer.get(f"{path}?format=md").headers["content-type"].startswith("text/markdown")


def test_an_auditor_gets_the_checkpoint_and_the_proof_of_an_interaction(auditor, viewer, site, writer, looks):
    problem(auditor.get("/api/v1/audit/checkpoint"), 404)
    writer.write(a_batch(an_assessment(answer=SECRET)))
    assert got(auditor, "audit")["waiting"] > 0
    site.application.auditing.sealer().seal_and_sign(NOON)
    assert got(auditor, "audit")["signed"] == got(auditor, "audit")["size"] > 0
    answer = auditor.get("/api/v1/audit/checkpoint")
    assert answer.headers["content-type"].startswith("text/plain")
    checkpoint = opened(answer.text, site.application.auditing.key.verifier_key)
    proof = got(auditor, "audit/proofs/support-bot/q-1")
    assert proof["checkpoint"] == answer.text
    assert {json.loads(leaf["body"])["kind"] for leaf in proof["leaves"]} == {"interaction", "assessment"}
    for leaf in proof["leaves"]:
        steps = [base64.b64decode(step) for step in leaf["proof"]]
        hash_ = leaf_hash(leaf["body"].encode())
        assert verify_inclusion(leaf["index"], checkpoint.size, hash_, checkpoint.root, steps)
        assert leaf["disclosed"] is None
    assert "ada@example.org" not in json.dumps(proof)
    disclosed = got(auditor, "audit/proofs/support-bot/q-1", disclose="true")
    assert disclosed["leaves"][0]["disclosed"]["answer"]["value"] == SECRET
    assert len(looks()) == 1
    assert {leaf["stored"] for leaf in proof["leaves"]} == {"same"}
    with site.application.engine.begin() as connection:
        connection.execute(text("UPDATE interaction SET answer = 'Tampered.'"))
    told = {leaf["stored"]: leaf["differs"] for leaf in got(auditor, "audit/proofs/support-bot/q-1")["leaves"]}
    assert told == {"same": [], "differs": ["answer: the stored value is not the sealed one"]}
    problem(auditor.get("/api/v1/audit/proofs/support-bot/none"), 404)
    problem(viewer.get("/api/v1/audit"), 403)
