"""What the JSON API gives and does, as docs/operate/dashboard.md says it."""

from __future__ import annotations

import base64
import csv
import io
import json
from dataclasses import replace
from datetime import timedelta
from urllib.parse import quote

import pytest
from sqlalchemy import text

from monitor.app.report import reporting
from monitor.audit.merkle import leaf_hash, verify_inclusion
from monitor.audit.note import opened
from monitor.core.assessment_json import assessment_json
from monitor.core.evidence import MissingFact
from monitor.core.message import Offset, Position
from monitor.core.model import Document, Origin, Support, SupportingDocument, Verdict
from monitor.report.weekly.week import week_named
from monitor.store.report.reports import Reports
from tests.factories.answers import NOON, SOME_EVIDENCE, a_batch, a_dead_letter, an_assessment, at

SECRET = "Write to ada@example.org, or call +49 30 901820."
MASKED = "Write to [e-mail], or call [phone]."
ALERT = """
    INSERT INTO alert (fingerprint, episode, rule, rule_digest, signal, labels, severity, threshold, "window",
                       annotations, receivers, state, active_since, samples, lower, upper)
    VALUES (%s, %s, 'negative-rate', 'd', 'negative', '{"app": "shop"}', 'critical', 0.3, '5 min', '{}',
            '{slack}', %s, %s, 1, 0, 1)
"""
PRINT = "a" * 32


@pytest.fixture
def viewer(site):
    return site.by_token("viewer")


@pytest.fixture
def operator(site):
    return site.by_token("operator")


@pytest.fixture
def auditor(site):
    return site.by_token("auditor")


@pytest.fixture
def looks(rows):
    """Who has looked at what in clear."""
    return lambda: rows("SELECT app, subject, body ->> 'by' FROM audit_queue WHERE kind = 'look' ORDER BY seq")


def got(client, path, status=200, **parameters):
    answer = client.get(f"/api/v1/{path}", params=parameters)
    assert answer.status_code == status, answer.text
    return answer.json()


def problem(answer, status):
    """Its sentence."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    said = answer.json()
    assert said.keys() == {"type", "title", "status", "detail"}
    assert said["status"] == status
    return said["detail"]


# Interactions


def test_the_list_is_read_a_page_at_a_time_newest_first(viewer, writer):
    writer.write(a_batch(*(an_assessment(id=f"q-{n}", occurred_at=at(-n)) for n in range(5))))
    page = got(viewer, "interactions", limit=2)
    ids = [its["id"] for its in page["items"]]
    while page["next"]:
        page = got(viewer, "interactions", limit=2, cursor=page["next"])
        ids += [its["id"] for its in page["items"]]
    assert ids == [f"q-{n}" for n in range(5)] or ids == [f"q-{n}" for n in range(1, 5)]


def test_filters_are_those_of_the_page(viewer, writer):
    writer.write(
        a_batch(
            an_assessment(id="good", occurred_at=at(-1)),
            an_assessment(id="bad", occurred_at=at(-2), verdict=Verdict.SELF_GENERATED, model="gpt-x"),
            an_assessment(id="no", occurred_at=at(-3), verdict=Verdict.REFUSAL, app="shop"),
            an_assessment(id="old", occurred_at=at(-60 * 24 * 3)),
        )
    )

    def ids(**parameters):
        return {its["id"] for its in got(viewer, "interactions", **parameters)["items"]}

    assert ids() == {"good", "bad", "no"}
    assert ids(since="2025-11-01T00:00:00Z") == {"good", "bad", "no", "old"}
    assert ids(until="2025-11-21T11:57:30+00:00") == {"no"}
    assert ids(app="shop") == {"no"}
    assert ids(model="gpt-x") == {"bad"}
    assert ids(verdict=["refusal", "self_generated"]) == {"bad", "no"}
    assert ids(reason="answer_off_support") == {"bad"}
    assert ids(metric="sda:0.4..0.6") == {"good", "bad", "no"}
    assert ids(metric="sda:0.6..") == set()
    assert ids(words="snapshots") == {"good", "bad", "no"}


def test_personal_data_is_masked_in_lists_and_files_for_everybody(site, writer):
    writer.write(a_batch(an_assessment(answer=SECRET, question=SECRET, occurred_at=at(-1))))
    client = site.by_token("admin")
    (row,) = got(client, "interactions")["items"]
    assert (row["question"], row["answer"]) == (MASKED, MASKED)
    for form in ("csv", "jsonl"):
        text = client.get("/api/v1/interactions/export", params={"format": form}).text
        assert MASKED in text
        assert "ada@example.org" not in text


def test_an_address_that_the_list_would_cut_in_two_is_masked_all_the_same(viewer, writer):
    answer = "x" * 495 + " ada@example.org"
    writer.write(a_batch(an_assessment(answer=answer, occurred_at=at(-1))))
    assert got(viewer, "interactions")["items"][0]["answer"] == "x" * 495 + " [e-mail]"


def test_what_is_masked_before_it_does_not_bring_half_an_address_into_the_list(viewer, writer):
    answer = f"{'a' * 50}@{'b' * 45}.example " * 9 + "x" * 41 + " ada.lovelace@example.org"
    writer.write(a_batch(an_assessment(answer=answer, occurred_at=at(-1))))
    assert "ada" not in got(viewer, "interactions")["items"][0]["answer"]


def test_what_only_masked_text_holds_leaves_no_trace_in_the_list(viewer, writer):
    its = [an_assessment(id=f"q-{n}", answer=SECRET, occurred_at=at(-n)) for n in range(1, 4)]
    writer.write(a_batch(*its))
    assert got(viewer, "interactions", words="ada@e", limit=1) == {"items": [], "next": None, "reached": None}
    assert got(viewer, "interactions", words="ada@e") == got(viewer, "interactions", words="no-such-word")


def test_a_part_of_a_masked_text_is_masked_as_the_whole_is(viewer, writer):
    document = "Refunds: call +49 30 901820 today."
    cut = SupportingDocument(text=document[14:21], document_id="d-1", start=14, end=21)
    fact = MissingFact(kind="number", start=27, end=33, text="901820")
    it = an_assessment(
        answer="Ask them at a desk, +49 30 901820.",
        retrieved_documents=(Document(id="d-1", text=document, metadata={"id": "ada@example.org"}),),
        supporting_documents=(cut,),
        support=Support(origin=Origin.LOGGED, documents=(cut,)),
        evidence=replace(SOME_EVIDENCE, missing=(fact,)),
        tags={"id": "ada@example.org", "eve@example.org": "x", "topic": "bob@example.org"},
        occurred_at=at(-1),
    )
    writer.write(a_batch(it))
    shown = got(viewer, "interactions/support-bot/q-1")
    assert shown["assessment"]["missing"][0]["text"] == "[phone]"
    assert shown["assessment"]["support"]["documents"][0]["text"] == "[phone]"
    assert shown["supporting_documents"][0]["text"] == "[phone]"
    assert shown["tags"] == {"id": "[e-mail]", "[e-mail]": "x", "topic": "[e-mail]"}
    assert "@example.org" not in json.dumps(shown)
    assert got(viewer, "interactions")["items"][0]["topic"] == "[e-mail]"


def test_one_has_everything_that_is_known_of_it(viewer, writer):
    its = an_assessment(answer=SECRET, model="gpt-x", tags={"topic": "storage"}, conversation_id="c-1")
    writer.write(a_batch(its))
    found = got(viewer, "interactions/support-bot/q-1")
    assert found["answer"] == MASKED
    assert found["clear"] is False
    assert found["retrieved_documents"][0]["id"] == "d-1"
    one = found["assessment"]
    assert one["verdict"] == "grounded"
    assert one["probabilities"] == {"grounded": 0.75, "refusal": 0.125, "self_generated": 0.125}
    assert one["metrics"] == {"sdq": 0.75, "sdrd": 0.875, "sda": 0.5, "qrd": 0.625, "qa": 0.25}
    assert one["support"]["documents"][0] == {
        "document_id": "d-1", "start": 0, "end": 26, "text": "Deleted snapshots are kept", "match": None,
    }  # fmt: skip
    assert one["alignment"][0]["score"] == 0.875
    assert one["profile"] == {"name": "hash", "hash": "0123456789abcdef"}
    assert found["other_assessments"] == found["judgements"] == found["labels"] == []


def test_the_keys_that_scripts_rely_on_are_there(viewer, writer):
    """As `replay --output` writes them."""
    writer.write(a_batch(an_assessment()))
    found = got(viewer, "interactions/support-bot/q-1")["assessment"]
    written = json.loads(json.dumps(assessment_json(an_assessment())))
    for key, value in written.items():
        assert key in found
        if key not in {"support", "features", "missing", "alignment"}:
            assert found[key] == value, key


def test_in_clear_is_for_who_may_and_is_kept_before(viewer, auditor, writer, looks):
    writer.write(a_batch(an_assessment(answer=SECRET)))
    assert "masked" in problem(viewer.get("/api/v1/interactions/support-bot/q-1?clear=true"), 403)
    assert looks() == []
    found = got(auditor, "interactions/support-bot/q-1", clear="true")
    assert (found["answer"], found["clear"]) == (SECRET, True)
    ((app, subject, by),) = looks()
    assert (app, subject) == ("support-bot", "q-1")
    assert by.startswith("token:auditor")
    got(auditor, "interactions/support-bot/q-1")
    assert len(looks()) == 1


def test_nothing_is_shown_in_clear_where_that_cannot_be_kept(auditor, writer, rows):
    writer.write(a_batch(an_assessment(answer=SECRET)))
    rows("ALTER TABLE audit_queue ADD CONSTRAINT full_up CHECK (kind <> 'look')")
    answer = auditor.get("/api/v1/interactions/support-bot/q-1?clear=true")
    assert answer.status_code == 500
    assert "ada@example.org" not in answer.text


@pytest.mark.parametrize(("app", "id_"), [("a/b", "c"), ("a", "b/c"), ("ä b", "../x"), ("a?b", "c#d"), ("a%2Fb", "%")])
def test_every_name_is_found_as_it_was_written(viewer, writer, app, id_):
    writer.write(a_batch(an_assessment(app=app, id=id_)))
    found = viewer.get(f"/api/v1/interactions/{quote(app, safe='')}/{quote(id_, safe='')}")
    assert found.status_code == 200, found.text
    assert (found.json()["app"], found.json()["id"]) == (app, id_)


def test_bare_slashes_belong_to_the_id(viewer, writer):
    writer.write(a_batch(an_assessment(app="a", id="b/c")))
    assert got(viewer, "interactions/a/b/c")["id"] == "b/c"


def test_what_is_not_there_and_what_is_not_assessed_yet_say_so(viewer, writer):
    assert "no such interaction" in problem(viewer.get("/api/v1/interactions/support-bot/none"), 404)
    writer.write(a_batch(pending=(an_assessment(id="later").interaction,)))
    assert "not assessed yet" in problem(viewer.get("/api/v1/interactions/support-bot/later"), 404)


def test_files_are_complete_and_can_be_read(viewer, writer):
    texts = ["=SUM(1)", 'say "no", then\nleave', "plain"]
    writer.write(a_batch(*(an_assessment(id=f"q-{n}", answer=t, occurred_at=at(-n - 1)) for n, t in enumerate(texts))))
    answer = viewer.get("/api/v1/interactions/export?format=csv")
    assert answer.headers["content-type"].startswith("text/csv")
    table = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["answer"] for row in table] == ["'=SUM(1)", *texts[1:]]
    answer = viewer.get("/api/v1/interactions/export")
    assert answer.headers["content-type"].startswith("application/jsonl")
    assert [json.loads(line)["answer"] for line in answer.text.splitlines()] == texts


# Strictness


@pytest.mark.parametrize(
    "query",
    [
        *(
            "unknown=1",
            "limit=0",
            "limit=201",
            "limit=1.0",
            "limit=%201",
            "limit=1&limit=2",
            "since=2025",
            "app=a&app=b",
        ),
        *("since=2025-11-21", "since=1763726400", "since=2025-11-21T12:00:00", "since=2025-13-01T00:00:00Z"),
        *("verdict=good", "metric=sda", "metric=xyz:0..1", "metric=sda:0..2", "labelled=maybe", f"app={'x' * 1001}"),
    ],
)
def test_a_slip_in_the_address_is_refused_and_not_read_as_something_else(viewer, query):
    problem(viewer.get(f"/api/v1/interactions?{query}"), 422)


@pytest.mark.parametrize("query", ["clear=yes", "clear=1", "clear=TRUE", "clear=", "x=1"])
def test_a_flag_is_true_or_false(viewer, query):
    problem(viewer.get(f"/api/v1/interactions/a/b?{query}"), 422)


@pytest.mark.parametrize("time", ["0000-01-01T00:00:00Z", "9999-12-31T23:59:60-23:59", "0001-01-01T00:00:00+23:59"])
def test_times_at_the_edge_of_all_times_are_times(viewer, time):
    assert got(viewer, "interactions", since=time, until=time)["items"] == []


def test_what_postgres_cannot_hold_finds_nothing(viewer):
    assert got(viewer, "interactions", app="a\x00b")["items"] == []
    problem(viewer.get("/api/v1/interactions/a%00/b"), 404)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"app": "a", "id": "b"},
        {"app": "a", "id": "b", "label": "good"},
        {"app": "a", "id": 7, "label": "refusal"},
        {"app": "a", "id": "b", "label": "refusal", "by": "somebody else"},
        {"app": "", "id": "b", "label": "refusal"},
        [],
        "text",
    ],
)
def test_a_body_has_to_be_of_the_declared_form(operator, body):
    problem(operator.post("/api/v1/labels", json=body), 422)


def test_a_body_that_is_no_json_is_refused(operator):
    problem(operator.post("/api/v1/labels", content=b"{", headers={"content-type": "application/json"}), 422)
    problem(operator.post("/api/v1/labels", data={"app": "a"}), 422)


# Labels


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


# Alerts and silences


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


# Dead letters


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
    assert "still dead" in site.app.state.jobs.of("dead letters").said
    problem(operator.post("/api/v1/dead-letters/999999/retry"), 404)


# The rest


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


def test_the_page_of_the_api_lists_every_operation(site):
    text = site.by_token("viewer").get("/api").text
    document = site.app.openapi()
    for path, methods in document["paths"].items():
        for method, its in methods.items():
            assert f'id="{its["operationId"]}"' in text, (method, path)
    assert 'href="/api/v1/openapi.json"' in text


def test_the_description_is_whole(site):
    document = site.anonymous().get("/api/v1/openapi.json").json()
    names = [its["operationId"] for methods in document["paths"].values() for its in methods.values()]
    assert len(set(names)) == len(names)
    for path, methods in document["paths"].items():
        assert path.startswith("/api/v1/")
        for its in methods.values():
            assert its["summary"]
            assert its["description"]
            assert its["tags"]
            assert its["security"] == [{"HTTPBearer": []}]
            assert {"400", "401", "403", "422", "503"} <= its["responses"].keys()
