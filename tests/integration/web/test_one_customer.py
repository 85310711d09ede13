"""One customer's answers in pages and API: who may look by a value that is personal data, and how one gets there."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from monitor.privacy.tag_digest import tag_digest
from tests.factories.answers import NOON, a_batch, an_assessment, at
from tests.rig.store.keys import SIGNER

PHONE = "+49 30 12345678"


@pytest.fixture(autouse=True)
def stored(writer):
    digest = frozenset({tag_digest(SIGNER.tag_key, "user", PHONE)})
    old = NOON - timedelta(days=90)
    writer.write(
        a_batch(
            an_assessment(
                id="q-1", occurred_at=at(-1), conversation_id="c 1&2", trace_id="t-1", tags={"customer": "4711"}
            ),
            an_assessment(id="q-2", conversation_id="c 1&2", occurred_at=old),
            an_assessment(id="q-3", occurred_at=at(-2), tags={"user": "[phone]"}, tag_digests=digest),
            an_assessment(id="q-4", occurred_at=at(-3), tags={"user": PHONE}, conversation_id="jane@shop.example"),
        )
    )


def _listed(client, **query):
    answer = client.get("/api/v1/interactions", params=query)
    assert answer.status_code == 200, answer.text
    return [item["id"] for item in answer.json()["items"]]


def test_from_an_answer_to_its_conversation_of_all_times(site):
    client = site.by_token("viewer")
    page = client.get("/interactions/support-bot/q-1").text
    links = [link.replace("&amp;", "&") for link in re.findall(r'<a href="(/interactions\?[^"]+)">its answers', page)]
    found = [re.findall(r'href="/interactions/support-bot/(q-\d)"', client.get(link).text) for link in links]
    assert sorted(found) == [["q-1"], ["q-1"], ["q-1", "q-2"]]  # of the tag, the trace and the conversation


def test_a_masked_conversation_has_no_link_that_would_show_it(site):
    page = site.by_token("viewer").get("/interactions/support-bot/q-4").text
    assert "jane@shop.example" not in page
    assert "jane%40shop" not in page


def test_a_redacted_tag_is_found_by_its_value_for_those_who_may_see_it(site):
    assert _listed(site.by_token("auditor"), tag=f"user={PHONE}") == ["q-3", "q-4"]
    refused = site.by_token("viewer").get("/api/v1/interactions", params={"tag": f"user={PHONE}"})
    assert (refused.status_code, "cannot search for it" in refused.text) == (403, True)
    assert site.by_token("viewer").get("/interactions", params={"tag": f"user={PHONE}"}).status_code == 403
    assert _listed(site.by_token("viewer"), tag="customer=4711", app="support-bot") == ["q-1"]


def test_a_value_that_nothing_has_is_no_error_and_a_tag_needs_both_parts(site):
    client = site.by_token("viewer")
    assert _listed(client, trace="t-9") == []
    assert client.get("/api/v1/interactions", params={"tag": "user"}).status_code == 422
    assert "Tag: “user” is not a valid value. This filter is ignored" in client.get("/interactions?tag=user").text


def test_with_a_span_only_answers_of_that_time_are_listed_and_the_page_leads_to_the_others(site):
    client = site.by_token("viewer")
    moved = client.get("/interactions", params={"conversation": "c 1&2", "span": "24h"}).text
    assert re.findall(r'href="/interactions/support-bot/(q-\d)"', moved) == ["q-1"]
    none = client.get("/interactions", params={"conversation": "c 1&2", "until": "2025-01-01T00:00", "span": "1h"}).text
    assert "No answers match these filters" in none


def test_a_list_by_a_redacted_tag_counts_what_it_lists(site, writer, monkeypatch):
    monkeypatch.setattr("monitor.store.interaction.listing.list.COUNTING", 60_000)  # however busy the machine is
    digest = frozenset({tag_digest(SIGNER.tag_key, "user", PHONE)})
    writer.write(
        a_batch(
            *(
                an_assessment(id=f"r-{n}", occurred_at=at(-10 - n), tags={"user": "[phone]"}, tag_digests=digest)
                for n in range(51)
            )
        )
    )
    text = site.by_token("operator").get("/interactions", params={"tag": f"user={PHONE}"}).text
    assert "<caption>53 answers of all times, newest first; 50 on this page" in text
