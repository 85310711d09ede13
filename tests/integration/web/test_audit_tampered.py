"""The audit pages over a trail that somebody has tampered with, or whose queue cannot be counted in time."""

from __future__ import annotations

import json

import psycopg
import pytest

from monitor.audit.key import Signer
from tests.factories.answers import NOON, a_batch, an_assessment
from tests.integration.web.conftest import csrf_of
from tests.rig.audit.shipped import verified
from tests.rig.store.keys import KEY

PROOF = "?app=support-bot&id=a"


@pytest.fixture
def auditor(site, writer):
    """An auditor of two sealed answers."""
    writer.write(a_batch(an_assessment(id="a"), an_assessment(id="b")))
    site.application.auditing.sealer().seal_and_sign(NOON)
    return site.by_token("auditor")


@pytest.mark.parametrize("body", ["x", "[]", "{}", "null", "[" * 100_000, '{"committed":1,"body":2}'])
def test_a_leaf_that_was_replaced_is_shown_as_not_proved(auditor, rows, body):
    assert "not proved" not in auditor.get(f"/audit/proof{PROOF}").text
    rows("UPDATE audit_leaf SET body = %s WHERE subject = 'a' AND kind = 'interaction'", body)
    answer = auditor.get(f"/audit/proof{PROOF}")
    assert answer.status_code == 200
    assert "✗ not proved" in answer.text
    assert auditor.get(f"/audit/proof.json{PROOF}").json()["proved"] is False


def test_leaves_that_are_missing_are_said_to_be(auditor, rows):
    rows("DELETE FROM audit_leaf WHERE subject = 'b'")
    missing = "of the audit trail are not all stored: run `monitor audit verify`"
    assert missing in auditor.get(f"/audit/proof{PROOF}").text.replace("&#96;", "`")
    for path in (f"/audit/proof.json{PROOF}", "/api/v1/audit/proofs/support-bot/a"):
        answer = auditor.get(path)
        assert answer.status_code in {404, 409}
        assert missing in answer.text


def test_the_page_does_not_wait_for_a_queue_that_cannot_be_counted(auditor, database):
    with psycopg.connect(database) as holder:
        holder.execute("LOCK TABLE audit_queue IN ACCESS EXCLUSIVE MODE")
        page, trail = auditor.get("/audit"), auditor.get("/api/v1/audit")
    assert page.status_code == 200
    assert '<span class="figure">many</span> waiting to be sealed' in page.text
    assert '<span class="figure">4</span> leaves signed' in page.text
    assert trail.status_code == 503
    assert "more rows wait to be sealed than can be counted in a second" in trail.text


def test_after_a_change_of_keys_the_sealing_that_is_asked_for_makes_exports_possible(make_site, writer):
    before = make_site(guard={"only_tokens": True})
    writer.write(a_batch(an_assessment(id="a")))
    secret = before.token("auditor")
    before.application.auditing.sealer().seal_and_sign(NOON)
    site = make_site(guard={"only_tokens": True}, AUDIT__PREVIOUS_KEYS=json.dumps([KEY]))
    new = Signer("monitor", bytes(32))
    site.application.auditing.key_file.write_text(new.private_key)
    auditor = site.anonymous()
    auditor.post("/signin", data={"token": secret})
    csrf = csrf_of(auditor)
    refused = auditor.post("/audit/export", data={"csrf": csrf})
    assert refused.status_code == 409
    assert "ast checkpoint is not signed by the key of this machine: run `monitor audit seal`" in refused.text
    assert site.application.auditing.sealer().seal_and_sign(NOON) == 1
    export = auditor.post("/audit/export", data={"csrf": csrf})
    assert export.status_code == 200
    assert verified(export.content, new.verifier_key)[0] == 0
