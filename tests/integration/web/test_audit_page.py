"""The audit page over a real PostgreSQL: how far sealing is, who did what, proofs, verification, export."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from monitor.audit import export
from monitor.audit.recovery import Head, Recovery
from monitor.store.audit.list import PAGE
from monitor.store.audit.recovery import SealedRecovery
from monitor.store.audit_queue import Act, Kind, record_act
from monitor.store.database import TakesTooLong
from monitor.web.audit.jobs import export_zip
from monitor.web.audit.page import EARLIEST, JOB, in_words
from tests.factories.answers import NOON, a_batch, an_assessment, at
from tests.rig.waiting import until


@pytest.fixture
def sealed(site, writer, engine):
    """Six answers of two apps and what two people did, sealed and signed."""
    answers = [
        an_assessment(id=f"q/{n}", app="shop" if n % 2 else "help", occurred_at=at(n), answer="<b>ada@example.org</b>")
        for n in range(6)
    ]
    writer.write(a_batch(*answers))
    for by in ("token:ada", "token:<i>grace</i>"):
        act = Act(kind=Kind.LOOK, by=by, at=NOON, app="shop", subject="q/1", body={"fields": ["question", "answer"]})
        record_act(engine, act)
    site.application.auditing.sealer().seal_and_sign(NOON)
    return site


def waited(site):
    jobs = site.app.state.jobs
    jobs.wait(JOB)
    return jobs.latest(JOB)


@pytest.mark.parametrize("table", ["audit_leaf", "interaction"])
def test_a_verification_ends_when_the_dashboard_does(sealed, database, rows, table):
    """Whatever statement it is at: here one that waits for a lock which is never given."""
    auditor, csrf = sealed.signed_in("auditor")
    with psycopg.connect(database) as holder:
        holder.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        auditor.post("/audit/verify", data={"csrf": csrf})
        until("it waits", lambda: rows("SELECT count(*) FROM pg_locks WHERE NOT granted") != [(0,)])
        sealed.app.state.jobs.stop()
        job = sealed.app.state.jobs.latest(JOB)
    assert (job.running, job.failed) == (False, False)
    assert "stopped" in job.status
    assert sealed.app.state.verification.result is None
    assert auditor.get("/audit").status_code == 200  # its other connections live


def test_nothing_yet(site):
    viewer = site.by_token("viewer")
    site.application.auditing.key_file.unlink()
    text = viewer.get("/audit").text
    assert "No checkpoint is signed yet." in text
    assert "the audit key is not on this machine" in text
    assert "Nothing is sealed yet" in text
    assert "are being sealed" not in text
    assert not (site.application.settings.state_dir / "audit" / "key").exists()  # looking makes no key


def test_how_far_it_is_and_who_did_what(sealed):
    text = sealed.by_token("viewer").get("/audit").text
    size = sealed.application.engine.connect().exec_driver_sql("SELECT count(*) FROM audit_leaf").scalar()
    assert f'<span class="figure">{size}</span> leaves' in text
    assert sealed.application.auditing.key.verifier_key in text.replace("&#43;", "+")
    assert "token:ada" in text
    assert "token:&lt;i&gt;grace&lt;/i&gt;" in text
    assert "fields: question, answer" in text
    assert 'href="/interactions/shop/q%2F1"' in text
    assert "Verify now" not in text
    assert 'scope="row">interaction</th><td class="number">6<' in text


def test_what_waits_is_said_and_shown_first(sealed, engine, moving):
    record_act(engine, Act(kind=Kind.LABEL, by="grace", at=NOON, app="shop", subject="q/3", body={"label": "refusal"}))
    moving.pass_by(timedelta(minutes=10))
    text = sealed.by_token("viewer").get("/audit").text
    assert "Rows have waited to be sealed since" in text
    assert text.index("label: refusal") < text.index("token:ada")
    only = sealed.by_token("viewer").get("/audit?kind=label").text
    assert "label: refusal" in only
    assert "token:ada" not in only


def test_people_are_named_by_what_the_provider_says_of_them(sealed, engine):
    """`[e-mail]` would be the name of everybody."""
    record_act(engine, Act(kind=Kind.LOOK, by="oidc:grace@example.org", at=NOON, app="shop", subject="q/1"))
    assert 'class="whole">oidc:grace@example.org</td>' in sealed.by_token("viewer").get("/audit").text


def test_acts_are_in_the_order_of_time_however_late_they_are_sealed(sealed, engine):
    for minute in (-5, -60, -1):  # the second as after an outage of the sealer's key
        record_act(engine, Act(kind=Kind.EXPORT, by=f"at {minute}", at=at(minute), subject="export"))
    sealed.application.auditing.sealer().seal_and_sign(NOON)
    record_act(engine, Act(kind=Kind.EXPORT, by="at -30", at=at(-30), subject="export"))  # this one waits
    text = sealed.by_token("viewer").get("/audit?kind=export").text
    assert re.findall(r'class="whole">(.*?)</td>', text) == ["at -1", "at -5", "at -30", "at -60"]


def test_acts_that_wait_beyond_a_page_are_said(sealed, engine):
    viewer = sealed.by_token("viewer")
    assert "More acts wait" not in viewer.get("/audit").text
    for n in range(PAGE + 1):
        record_act(engine, Act(kind=Kind.EXPORT, by=f"person-{n}", at=NOON, subject="export"))
    assert "More acts wait to be sealed than are listed here." in viewer.get("/audit?kind=export").text


def test_the_page_says_how_far_sealing_is_also_where_acts_take_too_long(sealed, monkeypatch):
    def too_long(*_, **__):
        raise TakesTooLong("this would take too long: name a kind")

    monkeypatch.setattr("monitor.store.audit.list.AuditList.acts", too_long)
    answer = sealed.by_token("viewer").get("/audit")
    assert answer.status_code == 200
    assert "The acts are not listed: this would take too long: name a kind." in answer.text
    assert "waiting to be sealed" in answer.text


def test_pages_of_acts_lose_none(sealed, engine, rows):
    for n in range(70):
        record_act(engine, Act(kind=Kind.EXPORT, by=f"person-{n:02}", at=NOON, subject="export"))
    sealed.application.auditing.sealer().seal_and_sign(NOON)
    client, path, seen = sealed.by_token("viewer"), "/audit?kind=export", []
    while path:
        text = client.get(path).text
        seen += [part.split("<")[0] for part in text.split('data-label="Who" class="whole">')[1:]]
        older = text.split('rel="next" href="')
        path = older[1].split("#")[0].replace("&amp;", "&") if len(older) > 1 else None
    assert seen == [f"person-{n:02}" for n in reversed(range(70))]
    assert rows("SELECT count(*) FROM audit_leaf WHERE kind = 'export'") == [(70,)]


def test_the_leaves_of_an_interaction_are_proved_without_its_texts(sealed):
    client = sealed.by_token("auditor")
    text = client.get("/audit/proof", params={"app": "shop", "id": "q/1"}).text
    assert text.count("✓ proved") == 4  # the answer, its assessment, two looks
    assert "not proved" not in text
    assert "ada@example.org" not in text
    assert "The last checkpoint has no leaf" in client.get("/audit/proof", params={"app": "shop", "id": "q/0"}).text
    assert sealed.by_token("viewer").get("/audit/proof?app=shop&id=q").status_code == 403


def test_a_leaf_that_was_changed_is_not_proved(sealed, rows):
    rows('UPDATE audit_leaf SET body = replace(body, \'"app":"shop"\', \'"app":"shoq"\') WHERE kind = \'interaction\'')
    text = sealed.by_token("auditor").get("/audit/proof", params={"app": "shop", "id": "q/1"}).text
    assert text.count("✗ not proved") == 1


def test_a_row_that_was_changed_is_a_fault_though_its_leaf_is_proved(sealed, rows):
    client, where = sealed.by_token("auditor"), {"app": "shop", "id": "q/1"}
    assert "stored row differs" not in client.get("/audit/proof", params=where).text
    rows("UPDATE interaction SET answer = 'Tampered' WHERE id = 'q/1'")
    text = client.get("/audit/proof", params=where).text
    assert text.count("✓ proved") == 4
    assert text.count("✗ stored row differs") == 1
    assert "answer: the stored value is not the sealed one" in text
    assert "Tampered" not in text


def test_verifying_says_that_it_holds_and_names_what_does_not(sealed, rows):
    client, csrf = sealed.signed_in("auditor")
    assert client.post("/audit/verify", data={"csrf": csrf}).headers["location"] == "/audit?notice=begun"
    job = waited(sealed)
    assert (job.failed, job.status.endswith("checked against 1 checkpoint of the witness: the trail is intact")) == (
        False,
        True,
    )
    text = client.get("/audit").text
    assert "the trail is intact" in text
    assert "had no witness" not in text
    rows("UPDATE interaction SET answer = 'something else' WHERE id = 'q/2'")
    client.post("/audit/verify", data={"csrf": csrf})
    assert waited(sealed).status.endswith("1 finding")
    text = client.get("/audit").text
    assert "The trail is not intact." in text
    assert "q/2" in text
    assert sealed.signed_in("operator")[0].post("/audit/verify").status_code == 403


@pytest.mark.parametrize("left", [None, "", "\n"], ids=["no file", "an empty file", "a file without notes"])
def test_a_trail_is_not_called_intact_where_no_witness_could_say_otherwise(sealed, left):
    """As in a pod of its own, which has not the file that the sealer writes."""
    file = sealed.application.auditing.witness_file
    file.unlink()
    if left is not None:
        file.write_text(left)
    client, csrf = sealed.signed_in("auditor")
    client.post("/audit/verify", data={"csrf": csrf})
    job = waited(sealed)
    assert (job.failed, job.status.endswith("checked without a witness: no change within them")) == (False, True)
    text = client.get("/audit").text
    assert "the trail is intact" not in text
    assert "The verification had no witness." in text
    assert f"<code>{file}</code>" in text
    assert '<p class="notice warn" role="status">\n  Done' in text


def test_a_witness_that_verifying_here_does_not_read_is_called_so(make_site):
    site = make_site(guard={"only_tokens": True}, AUDIT__WITNESS_TOPIC="checkpoints", AUDIT__WITNESS_SLACK="true")
    text = site.by_token("viewer").get("/audit").text
    assert (
        "the Kafka topic checkpoints, Slack. A verification here reads a file alone, and this machine has none" in text
    )


@pytest.mark.parametrize(
    ("disclose", "kinds", "until"),
    [("", ["export"], "2025-11-21T13:00"), ("yes", ["export", "look"], "9999-12-31T23:59")],
)
def test_an_export_is_whole_and_recorded(sealed, rows, disclose, kinds, until):
    client, csrf = sealed.signed_in("auditor")
    form = {"csrf": csrf, "app": "shop", "from": "2025-11-21T12:02", "to": until, "disclose": disclose}
    answer = client.post("/audit/export", data=form)
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == 'attachment; filename="audit-20251121T120000Z.zip"'
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("manifest.json"))
        records = archive.read("records.jsonl").decode()
    assert manifest["asked"]["app"] == "shop" if "asked" in manifest else "shop" in json.dumps(manifest)
    assert "q/3" in records
    assert "q/0" not in records
    assert ("ada@example.org" in records) is bool(disclose)
    found = rows("SELECT kind FROM audit_queue WHERE subject = 'export' ORDER BY seq")
    assert [kind for (kind,) in found] == kinds


def test_an_export_that_is_not_taken_to_its_end_gives_its_connection_back(sealed, monkeypatch):
    monkeypatch.setattr(export, "_CHUNK", 1)
    span = {"start": EARLIEST, "end": at(60)}
    taken = sealed.application.engine.pool.checkedout
    first, others = export_zip(sealed.application, app=None, **span, disclose=False, by="ann")
    assert first
    assert next(others)
    assert taken() == 1
    others.close()
    assert taken() == 0


@pytest.mark.usefixtures("sealed")
def test_an_export_is_refused_with_a_sentence(site):
    client, csrf = site.signed_in("auditor")
    assert client.post("/audit/export", data={"csrf": csrf, "from": "soon"}).status_code == 422
    operator, hers = site.signed_in("operator")
    assert operator.post("/audit/export", data={"csrf": hers}).status_code == 403


def test_a_recovery_from_a_backup_is_shown_with_each_verification(sealed):
    auditor, csrf = sealed.signed_in("auditor")
    auditor.post("/audit/verify", data={"csrf": csrf})
    waited(sealed)
    recovery = Recovery(
        by="<b>ann</b>",
        at="2025-11-21T12:00:00+00:00",
        reason="the disk failed",
        restored=Head(4, "root"),
        signed=4,
        witnesses=(),
        lost=(Head(9, "root"),),
    )
    last = sealed.app.state.verification
    found = replace(last.result.found, recoveries=(SealedRecovery(index=4, recovery=recovery),))
    last.result = replace(last.result, found=found)
    text = auditor.get("/audit").text
    assert "Leaf 4 is a recovery from a backup, by &lt;b&gt;ann&lt;/b&gt; at 2025-11-21T12:00:00+00:00" in text
    assert "the disk failed. Leaves 4 to 8 of the earlier history were lost." in text


def test_nothing_is_exported_before_anything_is_signed(site, tmp_path):
    client, csrf = site.signed_in("auditor")
    key = site.application.auditing.key_file.rename(tmp_path / "key")
    assert "not on this machine" in client.post("/audit/export", data={"csrf": csrf}).text
    key.rename(site.application.auditing.key_file)
    answer = client.post("/audit/export", data={"csrf": csrf})
    assert (answer.status_code, "No checkpoint is signed yet" in answer.text) == (409, True)


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "–"), ([], "–"), ({}, "–"), (True, "yes"), (0.5, "0.5"), (["a", None], "a, –"), ({"a": [1]}, "a: 1")],
)
def test_values_of_leaves_in_words(value, said):
    assert in_words(value) == said
